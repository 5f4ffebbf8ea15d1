// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies that are not a command of their queue's list: the initial contents of memory, and copies
// between places without access to each other's memory. The latter go through blocks of pinned host
// memory, on a thread that may wait.
#pragma once

#include "copy.hpp"

namespace pi::level_zero {

/// Copies the application's bytes to memory of the place; complete on return.
void upload(Place &place, const void *host, std::byte *device, uint64_t size);

/// The place that can make the copy with the driver's commands, because it can use both ends;
/// preferably that of `queue`. NULL if there is none, or if the copy would take so many calls
/// (between contexts one per row) that it is faster through the host.
Place *find_executor(Place &queue, const End &src, const End &dst, const sdk::Regions &regions);

/// Copies the regions with commands of `executor` or, if that is NULL, through the host. Returns
/// when the copy is complete. All dependencies must be complete.
void transfer(Place *executor, const End &src, const End &dst, const sdk::Regions &regions);

} // namespace pi::level_zero
