// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on buffers for those who have other words for them: a view of a buffer as an image is bytes of the buffer.
// Everything has been checked. Offsets count from the begin of mem, which may be a view.
#pragma once

#include "memory.hpp"
#include "submission.hpp"

#include <span>
#include <vector>

namespace pi::opencl {

/// PI_ERROR_MEM_COPY_OVERLAP if a region's ends share a byte of one storage.
void check_overlap(Mem &src, Mem &dst, std::span<const pi_region> regions);

void enqueue_read(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &mem, void *host,
                  sdk::Regions &&regions);
void enqueue_write(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &mem, const void *host,
                   sdk::Regions &&regions);
/// Of one context.
void enqueue_copy(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &src, Mem &dst,
                  sdk::Regions &&regions);
/// Rows are multiples of the pattern.
void enqueue_fill(Queue &queue, const sdk::EnqueueArguments &arguments, Mem &mem,
                  std::vector<std::byte> pattern, const sdk::Rectangle &bytes);

} // namespace pi::opencl
