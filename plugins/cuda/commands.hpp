// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the commands on buffers and those on images have in common: bytes of regions, which of an image are those of its
// pixels, one after another.
#pragma once

#include "copy.hpp"
#include "memory.hpp"
#include "transfer.hpp"

namespace pi::cuda {

End end_of(Mem &mem);

/// A read or write of the application's memory.
void enqueue_transfer(Queue &queue, const sdk::EnqueueArguments &arguments, Direction direction,
                      Mem &mem, std::byte *host, sdk::Regions &&regions);

/// `size` is a multiple of the pattern's, a power of two up to 128.
void enqueue_fill(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &mem,
                  std::vector<std::byte> pattern, uint64_t offset, uint64_t size);

void enqueue_copy(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &src, Mem &dst,
                  sdk::Regions &&regions);

/// PI_ERROR_MEM_COPY_OVERLAP if a region's ends share a byte. No other object has the bytes of an array's pixels.
void check_overlap(const sdk::Regions &regions, const Mem &src, const Mem &dst);

/// Queues of either end do a copy; others, if they can use both. Else PI_ERROR_INVALID_MEM_OBJECT.
void check_copy(Queue &queue, const Mem &src, const Mem &dst);

} // namespace pi::cuda
