// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Heaps of physically contiguous memory, which Linux provides as dma-bufs.
#pragma once

#include "physical.hpp"

#include <pi/sdk/dma_buf.hpp>

#include <string>

namespace pi::host {

using sdk::DmaBuf;

/// A dma-buf and a mapping of it.
struct DmaMemory {
    DmaBuf buffer;
    MmapRegion mapping;
    std::string refusal; ///< the reason if mapping is empty
};

/// Allocates `size` physically contiguous bytes that do not move, zeroed, from a heap of the
/// kernel's contiguous memory allocator (CMA). The mapping begins at a multiple of `alignment`, a
/// power of two.
DmaMemory allocate_contiguous(uint64_t size, uint64_t alignment,
                              const std::string &folder = sdk::devices_folder);

/// Whether allocate_contiguous can work on this system.
bool has_contiguous_heap(const std::string &folder = sdk::devices_folder);

/// Whether the buffer's pages do not move as long as it lives: only if its exporter is known for
/// that.
bool pages_stay(const DmaBuf &buffer);

} // namespace pi::host
