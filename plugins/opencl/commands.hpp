// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on buffers, also for commands on images: a view of a buffer as an image consists of the
// buffer's bytes. Callers have checked everything. Offsets count from the beginning of the mem,
// which may be a view.
#pragma once

#include "memory.hpp"
#include "submission.hpp"

#include <span>
#include <vector>

namespace pi::opencl {

/// PI_ERROR_MEM_COPY_OVERLAP if a region's source and destination share a byte of storage.
void check_overlap(Mem &src, Mem &dst, std::span<const pi_region> regions);

void enqueue_read(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &mem, void *host,
                  sdk::Regions &&regions);
void enqueue_write(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &mem, const void *host,
                   sdk::Regions &&regions);
/// Both are of one context.
void enqueue_copy(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &src, Mem &dst,
                  sdk::Regions &&regions);
/// Rows are multiples of the pattern's size.
void enqueue_fill(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &mem,
                  std::vector<std::byte> pattern, const sdk::Rectangle &bytes);

} // namespace pi::opencl
