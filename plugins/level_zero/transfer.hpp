// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies that are not a command of their queue's list: at the creation of memory, and between places that do not reach each
// other's memory, which go through pinned memory of the host in blocks, on a thread that may wait.
#pragma once

#include "copy.hpp"

namespace pi::level_zero {

/// Copies the application's bytes to memory of the place; they have arrived on return.
void upload(Place &place, const void *host, std::byte *device, uint64_t size);

/// Where a copy can be one of the driver's: a place that reaches both ends, best that of `queue`;
/// NULL if there is none, or if it takes so many calls between contexts, which copy a row each,
/// that it is faster through the host.
Place *find_executor(Place &queue, const End &src, const End &dst, const sdk::Regions &regions);

/// Does the copy of the regions, by `executor` or, if that is NULL, through the host. Returns when the bytes have arrived.
/// Nothing that it comes after may be under way.
void transfer(Place *executor, const End &src, const End &dst, const sdk::Regions &regions);

} // namespace pi::level_zero
