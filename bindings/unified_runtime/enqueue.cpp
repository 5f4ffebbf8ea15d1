// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "enqueue.hpp"

namespace pi::unified_runtime {

Enqueue::Enqueue(ur_queue_handle_t queue, WaitList waits, ur_command_t command,
                 ur_event_handle_t *out_event)
    : queue_(deref(queue)), out_event_(out_event) {
    if ((waits.events == nullptr) != (waits.count == 0)) {
        throw Refusal(UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST,
                      "the wait list has " + std::to_string(waits.count) + " events, and is " +
                          (waits.events == nullptr ? "NULL" : "not NULL"));
    }
    command_.emplace(queue_.core);
    for (uint32_t i = 0; i < waits.count; ++i) {
        if (waits.events[i] == nullptr) {
            throw Refusal(UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST,
                          "event " + std::to_string(i) + " of the wait list is NULL");
        }
        command_->wait_for(waits.events[i]->core);
    }
    if (out_event_ != nullptr) {
        event_ = std::make_unique<ur_event_handle_t_>(queue_.context.get(), queue, command);
    }
}

void Enqueue::finish(facade::Event event) {
    if (event_ != nullptr) {
        event_->core = std::move(event);
        *out_event_ = event_.release();
    }
}

} // namespace pi::unified_runtime
