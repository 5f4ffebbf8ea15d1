// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage/event_queue.hpp"

#include <pi/runtime/facade.hpp>

namespace pi::runtime::facade {
namespace {

void PI_CALL signal(pi_event, pi_result result, void *host_event) {
    const auto event = runtime::Event::adopt(static_cast<pi_event>(host_event));
    piEventSignalHost(event.get(), result);
}

} // namespace

runtime::Event Event::in(const Part &part) const {
    if (plugin_ == part.plugin) {
        return event_;
    }
    runtime::Event host_event;
    check(piEventCreateHost(part.context.get(), nullptr, host_event.out()), "piEventCreateHost");
    // A callback flushes nothing. A wait flushes the queues of all commands before the event, but
    // is refused within a callback.
    const pi_queue queue = queue_of(event_.get());
    if (queue != nullptr && piEventWait(event_.get(), 1) == PI_ERROR_WOULD_BLOCK) {
        check(piQueueFlush(queue), "piQueueFlush");
    }
    runtime::Event of_callback = host_event;
    check(piEventSetCallback(event_.get(), &signal, of_callback.get()), "piEventSetCallback");
    of_callback.detach();
    return host_event;
}

bool Event::is_complete() const {
    pi_event_status status = PI_EVENT_COMPLETE;
    check(piEventGetInfo(event_.get(), PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr),
          "piEventGetInfo(STATUS)");
    return status == PI_EVENT_COMPLETE;
}

void Event::wait() const {
    check(piEventWait(event_.get(), PI_TIMEOUT_NEVER), "piEventWait");
}

} // namespace pi::runtime::facade
