// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "command.hpp"

#include "error.hpp"

#include <string>

namespace pi::loader::fault {
namespace {

std::string text_of(const pi_dispatch &next, pi_event event) {
    uint64_t size = 0;
    if (next.piEventGetInfo(event, PI_EVENT_INFO_ERROR_TEXT, 0, nullptr, &size) != PI_SUCCESS ||
        size == 0)
        return "";
    std::string text(size, '\0');
    if (next.piEventGetInfo(event, PI_EVENT_INFO_ERROR_TEXT, size, text.data(), nullptr) !=
        PI_SUCCESS)
        return "";
    text.resize(size - 1);
    return text;
}

void PI_CALL on_done(pi_event done, pi_result result, void *user_data) {
    const std::unique_ptr<Failure> failure(static_cast<Failure *>(user_data));
    end_event(*failure, done, result);
}

pi_result give_up(Faults &faults, pi_result result, pi_event done, pi_event event) {
    const ErrorScope scope;
    faults.next().piEventRelease(done);
    if (event != nullptr)
        faults.next().piEventRelease(event);
    return result;
}

} // namespace

void end_event(Failure &failure, pi_event done, pi_result result) noexcept {
    const ErrorScope scope;
    const pi_dispatch &next = failure.faults.next();
    try {
        // A dependency failed: that is the command's error, not the fault.
        if (result != PI_SUCCESS)
            failure.faults.set_text(failure.event, text_of(next, done));
    } catch (const std::bad_alloc &) {
        // Keeps the fault's text.
    }
    next.piEventSignalHost(failure.event, result != PI_SUCCESS ? result : failure.fault.result);
    next.piEventRelease(failure.event);
    next.piEventRelease(done);
}

pi_result make_host_event(Faults &faults, pi_queue queue, pi_event *out_event) {
    pi_context context = nullptr;
    pi_result result = faults.next().piQueueGetInfo(queue, PI_QUEUE_INFO_CONTEXT, sizeof context,
                                                    &context, nullptr);
    if (result == PI_SUCCESS)
        result = faults.next().piEventCreateHost(context, nullptr, out_event);
    return result;
}

// An empty list would make it wait for the whole queue, and a list of completed events for nothing.
pi_result wait_in_place(Faults &faults, pi_queue queue, uint64_t flags, bool waits_for_all,
                        uint32_t wait_count, const pi_event *wait_list, pi_event *out_done) {
    const pi_dispatch &next = faults.next();
    pi_events_wait_desc wait{};
    wait.struct_size = sizeof wait;
    wait.type = PI_TYPE_EVENTS_WAIT_DESC;
    wait.flags = flags;
    if (wait_count != 0 || waits_for_all)
        return next.piEnqueueEventsWait(queue, &wait, wait_count, wait_list, out_done);
    pi_event none = nullptr;
    if (const pi_result result = make_host_event(faults, queue, &none))
        return result;
    pi_result result = next.piEventSignalHost(none, PI_SUCCESS);
    if (result == PI_SUCCESS)
        result = next.piEnqueueEventsWait(queue, &wait, 1, &none, out_done);
    const ErrorScope scope;
    next.piEventRelease(none);
    return result;
}

pi_result fail_event_after(Faults &faults, const Fault &fault, pi_queue queue,
                           pi_struct_type command, bool barrier, pi_event done,
                           pi_event *out_event) {
    const pi_dispatch &next = faults.next();
    pi_event event = nullptr;
    pi_result result = make_host_event(faults, queue, &event);
    if (result != PI_SUCCESS)
        return give_up(faults, result, done, nullptr);
    // After the wait for the event nothing may fail: the event would never be signalled.
    const char *const function = function_rows[fault.function].name;
    std::unique_ptr<Failure> failure;
    result = guarded(function, [&] {
        failure = std::make_unique<Failure>(Failure{faults, fault, event});
        if (out_event == nullptr)
            return PI_SUCCESS;
        faults.add_event(
            event,
            {1, queue, command,
             fmt::format(
                 "{}: failure injected into this command by the layer fault (PI_FAULT: \"{}\")",
                 function, fault.text)});
        next.piQueueRetain(queue);
        return PI_SUCCESS;
    });
    if (result == PI_SUCCESS)
        result = barrier ? next.piEnqueueBarrier(queue, nullptr, 1, &event, nullptr)
                         : next.piEnqueueEventsWait(queue, nullptr, 1, &event, nullptr);
    if (result != PI_SUCCESS) {
        faults.release_event(event);
        return give_up(faults, result, done, event);
    }
    if (out_event != nullptr) {
        next.piEventRetain(event);
        *out_event = event;
    }
    // From here on the callback ends it, perhaps before the call returns.
    result = next.piEventSetCallback(done, on_done, failure.get());
    if (result == PI_SUCCESS)
        static_cast<void>(failure.release());
    else
        end_event(*failure, done, result);
    return PI_SUCCESS;
}

} // namespace pi::loader::fault
