// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies as commands, of buffers and of USM.
#pragma once

#include "memory.hpp"
#include "transfer.hpp"

namespace pi::level_zero {

End end_of(Mem &mem);

/// What keeps the ends of a copy alive: mems, or nothing for USM.
struct KeptEnds {
    Mem *src = nullptr, *dst = nullptr;
};

/// Queues of either end do a copy; others, if they can use both. Else PI_ERROR_INVALID_MEM_OBJECT.
void check_copy(const Queue &queue, const Mem &src, const Mem &dst);

/// In the queue's list if its place reaches both ends, else on a thread.
void enqueue_copy(Queue &queue, const sdk::EnqueueArguments &arguments, const End &src,
                  const End &dst, const KeptEnds &kept, sdk::Regions &&regions);

/// Of a range at the address; of a mem, or of USM, whose `kept` is NULL.
void enqueue_fill(Queue &queue, const sdk::EnqueueArguments &arguments, std::byte *address,
                  Mem *kept, std::vector<std::byte> pattern, uint64_t size);

} // namespace pi::level_zero
