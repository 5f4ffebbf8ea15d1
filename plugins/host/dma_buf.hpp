// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Heaps of physically contiguous memory, which Linux gives as dma-bufs.
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
    std::string refusal; ///< if mapping is empty: why
};

/// `size` bytes of one physical run, from a heap of the kernel's contiguous memory allocator (CMA); they do not move.
/// The mapping begins at a multiple of `alignment`, a power of two. Zeroed.
DmaMemory allocate_contiguous(uint64_t size, uint64_t alignment,
                              const std::string &folder = sdk::devices_folder);

/// Whether allocate_contiguous can work at all.
bool has_contiguous_heap(const std::string &folder = sdk::devices_folder);

/// The buffer's pages stay where they are as long as it lives: its exporter is one that is known for that.
bool pages_stay(const DmaBuf &buffer);

} // namespace pi::host
