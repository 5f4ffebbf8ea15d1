// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command whose work the host does on a mapped range, asynchronously.
#pragma once

#include <pi/pi.h>

#include <functional>

namespace pi::loader {

struct MapWork {
    const char *function; ///< the exported function, for messages
    pi_mem mem;
    uint64_t map_flags; ///< PI_MAP_
    uint64_t offset;    ///< the range to map
    uint64_t size;
    bool blocking;
    /// Called once with the range's host address, if the command runs at all. Must not throw.
    std::function<void(unsigned char *mapped)> run;
};

/// Enqueues it as one command of the queue: it begins when the wait list is complete, its event
/// completes when the range is unmapped again, later commands of an in-order queue begin after
/// that, and it fails if its wait list fails. On failure, also when it throws std::bad_alloc,
/// nothing was enqueued. A command of the plugin's own that another thread enqueues in the same
/// queue during this call may begin before this one ends.
pi_result enqueue_map_work(pi_queue queue, MapWork work, uint32_t wait_count,
                           const pi_event *wait_list, pi_event *out_event);

} // namespace pi::loader
