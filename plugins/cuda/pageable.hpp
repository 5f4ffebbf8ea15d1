// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that move bytes from and to memory of the host that is not pinned.
#pragma once

#include "queue.hpp"
#include "transfer.hpp"

#include <memory>

namespace pi::cuda {

/// Bytes from the host's end of the regions to their last one.
uint64_t host_extent(Direction direction, const sdk::Regions &regions);

/// A transfer as a command, or within the call. All that it waits for is final before it begins; it keeps `keep`.
void enqueue_pageable(Queue &queue, const sdk::EnqueueArguments &arguments, Direction direction,
                      DeviceEnd device, std::byte *host, sdk::Regions &&regions,
                      std::shared_ptr<const void> keep = {});

} // namespace pi::cuda
