// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common parts of commands on buffers and images: copies and fills of regions of bytes. An image's
// bytes are its pixels in order.
#pragma once

#include "copy.hpp"
#include "memory.hpp"
#include "transfer.hpp"

namespace pi::cuda {

End end_of(Mem &mem);

/// A read or write between `mem` and the application's memory.
void enqueue_transfer(Queue &queue, const sdk::EnqueueArguments &arguments, Direction direction,
                      Mem &mem, std::byte *host, sdk::Regions &&logical);

/// `size` is a multiple of the pattern's size, which is a power of two up to 128.
void enqueue_fill(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &mem,
                  std::vector<std::byte> pattern, uint64_t offset, uint64_t size);

void enqueue_copy(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &src, Mem &dst,
                  sdk::Regions &&regions);

/// PI_ERROR_MEM_COPY_OVERLAP if a region's source and destination share a byte. An array's pixels
/// belong to one object only.
void check_overlap(const sdk::Regions &regions, const Mem &src, const Mem &dst);

/// PI_ERROR_INVALID_MEM_OBJECT unless the queue belongs to the device of either end, or can use
/// both ends.
void check_copy(Queue &queue, const Mem &src, const Mem &dst);

} // namespace pi::cuda
