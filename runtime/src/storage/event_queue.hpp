// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi.h>

#include <cstdint>

namespace pi::runtime {

/// The queue of an event's command, without a reference; NULL for a host event.
inline pi_queue queue_of(pi_event event) {
    pi_queue queue = nullptr;
    piEventGetInfo(event, PI_EVENT_INFO_QUEUE, sizeof queue, &queue, nullptr);
    return queue;
}

/// True also if the queue does not answer.
inline bool is_out_of_order(pi_queue queue) {
    uint64_t flags = PI_QUEUE_OUT_OF_ORDER;
    piQueueGetInfo(queue, PI_QUEUE_INFO_FLAGS, sizeof flags, &flags, nullptr);
    return (flags & PI_QUEUE_OUT_OF_ORDER) != 0;
}

} // namespace pi::runtime
