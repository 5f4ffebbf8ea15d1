// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that other processes and other plugins can map: PI_EXTERNAL_OPAQUE_FD, PI_EXTERNAL_DMA_BUF_FD.
#pragma once

#include "file.hpp"
#include "physical.hpp"

#include <pi/pi.h>

#include <cstdint>

namespace pi::host {

/// The types that this plugin's buffers can be exported as on this machine, and those that it imports anywhere.
uint32_t export_types();
inline constexpr uint32_t import_types =
    1u << PI_EXTERNAL_HOST_POINTER | 1u << PI_EXTERNAL_OPAQUE_FD | 1u << PI_EXTERNAL_DMA_BUF_FD;

/// A file in memory, sealed against shrinking, and a mapping of it.
struct SharedMemory {
    File file;
    Mapping mapping; ///< empty if the system has no memory, with the reason in errno
};
/// Zeroed whole pages; the mapping begins at a multiple of `alignment`, a power of two.
SharedMemory make_shared(uint64_t size, uint64_t alignment);

/// Bytes of somebody's file.
struct SharedRange {
    Mapping mapping; ///< whole pages around it
    std::byte *begin = nullptr;
};
/// Maps `size` bytes from `offset` of a file that cannot shrink (a memfd with F_SEAL_SHRINK): if it could, an access
/// behind its new end would end the process. The descriptor stays the caller's. Throws what is wrong with it.
SharedRange map_shared(int descriptor, uint64_t offset, uint64_t size);
/// The same for a descriptor of which is known that it has the range, and cannot shrink.
SharedRange map_descriptor(int descriptor, uint64_t offset, uint64_t size);

} // namespace pi::host
