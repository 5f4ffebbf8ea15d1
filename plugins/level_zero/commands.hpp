// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills of buffers and of USM.
#pragma once

#include "memory.hpp"
#include "transfer.hpp"

namespace pi::level_zero {

End end_of(Mem &mem);

/// References that keep the ends of a copy alive; NULL for USM.
struct EndMems {
    Mem *src = nullptr, *dst = nullptr;
};

/// PI_ERROR_INVALID_MEM_OBJECT unless the queue belongs to the device of either end, or can use
/// both ends.
void check_copy(const Queue &queue, const Mem &src, const Mem &dst);

/// Enqueues into the queue's list if its place can use both ends, otherwise on a thread.
void enqueue_copy(Queue &queue, const sdk::EnqueueArguments &arguments, const End &src,
                  const End &dst, const EndMems &mems, sdk::Regions &&regions);

/// Fills a range at the address; `mem` owns it; NULL for USM.
void enqueue_fill(Queue &queue, const sdk::EnqueueArguments &arguments, std::byte *address,
                  Mem *mem, std::vector<std::byte> pattern, uint64_t size);

} // namespace pi::level_zero
