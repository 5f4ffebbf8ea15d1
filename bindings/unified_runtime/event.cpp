// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "enqueue.hpp"
#include "functions.hpp"
#include "info.hpp"
#include "native.hpp"

#include <pi/describe/descriptor.hpp>

#include <array>
#include <memory>
#include <optional>

namespace pi::unified_runtime {

using runtime::check;

namespace {

constexpr std::array<std::pair<pi_event_status, ur_event_status_t>, 4> statuses{{
    {PI_EVENT_QUEUED, UR_EVENT_STATUS_QUEUED},
    {PI_EVENT_SUBMITTED, UR_EVENT_STATUS_SUBMITTED},
    {PI_EVENT_RUNNING, UR_EVENT_STATUS_RUNNING},
    {PI_EVENT_COMPLETE, UR_EVENT_STATUS_COMPLETE},
}};

constexpr std::array<std::pair<ur_profiling_info_t, pi_profiling_info>, 5> profiling_infos{{
    {UR_PROFILING_INFO_COMMAND_QUEUED, PI_PROFILING_QUEUED},
    {UR_PROFILING_INFO_COMMAND_SUBMIT, PI_PROFILING_SUBMIT},
    {UR_PROFILING_INFO_COMMAND_START, PI_PROFILING_START},
    {UR_PROFILING_INFO_COMMAND_END, PI_PROFILING_END},
    {UR_PROFILING_INFO_COMMAND_COMPLETE, PI_PROFILING_END},
}};

ur_event_status_t status_of(const facade::Event &event) {
    const auto status = pi_info<pi_event_status, piEventGetInfo>(event.get(), PI_EVENT_INFO_STATUS)
                            .value_or(PI_EVENT_COMPLETE);
    if (status == PI_EVENT_COMPLETE &&
        pi_info<pi_result, piEventGetInfo>(event.get(), PI_EVENT_INFO_RESULT)
                .value_or(PI_SUCCESS) != PI_SUCCESS) {
        return UR_EVENT_STATUS_ERROR;
    }
    return translate(statuses, status, UR_EVENT_STATUS_QUEUED);
}

ur_event_status_t final_status_of(ur_event_handle_t_ &event) {
    ur_event_status_t status = event.final_status.load(std::memory_order_relaxed);
    if (status == UR_EVENT_STATUS_QUEUED) {
        status = status_of(event.core);
        if (status == UR_EVENT_STATUS_COMPLETE || status == UR_EVENT_STATUS_ERROR) {
            event.final_status.store(status, std::memory_order_relaxed);
        }
    }
    return status;
}

/// A recorded timestamp is one moment of the queue and one of the device.
pi_profiling_info profiling_info_of(const ur_event_handle_t_ &event, ur_profiling_info_t name) {
    const pi_profiling_info info = translate(profiling_infos, name, pi_profiling_info{0});
    if (info == 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urEventGetProfilingInfo: unknown name");
    }
    if (event.command != UR_COMMAND_TIMESTAMP_RECORDING_EXP) {
        return info;
    }
    return info <= PI_PROFILING_SUBMIT ? PI_PROFILING_QUEUED : PI_PROFILING_END;
}

/// PI has no times before the event is complete; to UR an event of a profiling queue always has
/// them.
uint64_t profiled_time(const ur_event_handle_t_ &event, pi_profiling_info info) {
    uint64_t time = 0;
    const auto ask = [&] {
        return piEventGetProfilingInfo(event.core.get(), info, sizeof time, &time, nullptr);
    };
    const bool has_times = event.command == UR_COMMAND_TIMESTAMP_RECORDING_EXP ||
                           (event.queue.get() != nullptr &&
                            (event.queue->flags & UR_QUEUE_FLAG_PROFILING_ENABLE) != 0);
    pi_result result = ask();
    if (result == PI_ERROR_PROFILING_UNAVAILABLE && has_times) {
        // A failed command has no times: the same error.
        piEventWait(event.core.get(), PI_TIMEOUT_NEVER);
        result = ask();
    }
    check(result, "piEventGetProfilingInfo");
    return time;
}

/// An event that was complete before it was made.
facade::Event complete_event(const facade::Part &part) {
    runtime::Event event;
    check(piEventCreateHost(part.context.get(), nullptr, event.out()), "piEventCreateHost");
    check(piEventSignalHost(event.get(), PI_SUCCESS), "piEventSignalHost");
    return {std::move(event), part.plugin};
}

/// Around a native event, which only the driver that it belongs to accepts.
facade::Event around_native(const ur_context_handle_t_ &context, const pi_native_desc &desc) {
    pi_result first_error = PI_SUCCESS;
    std::string text;
    for (const facade::Part &part : context.core->parts()) {
        runtime::Event made;
        const pi_result result =
            piEventCreateWithNativeHandle(part.context.get(), &desc, made.out());
        if (result == PI_SUCCESS) {
            return {std::move(made), part.plugin};
        }
        if (first_error == PI_SUCCESS) {
            first_error = result;
            text = runtime::last_error_text(result);
        }
    }
    throw runtime::Error(first_error, "piEventCreateWithNativeHandle: " + text);
}

/// What urEventSetCallback keeps until PI calls back. The event is alive meanwhile.
struct Callback {
    Ref<ur_event_handle_t_> event;
    ur_execution_info_t status = UR_EXECUTION_INFO_COMPLETE;
    ur_event_callback_t function = nullptr;
    void *user_data = nullptr;
};

void PI_CALL call_back(pi_event, pi_result, void *data) {
    const std::unique_ptr<Callback> callback(static_cast<Callback *>(data));
    callback->function(callback->event.get(), callback->status, callback->user_data);
}

} // namespace

ur_result_t UR_APICALL urEventGetInfo(ur_event_handle_t handle, ur_event_info_t name, size_t size,
                                      void *value, size_t *out_size) {
    return boundary([&] {
        ur_event_handle_t_ &event = deref(handle);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_EVENT_INFO_COMMAND_QUEUE:
            return answer(event.queue.get());
        case UR_EVENT_INFO_CONTEXT:
            return answer(event.context.get());
        case UR_EVENT_INFO_COMMAND_TYPE:
            return answer(event.command);
        case UR_EVENT_INFO_COMMAND_EXECUTION_STATUS:
            return answer(final_status_of(event));
        case UR_EVENT_INFO_REFERENCE_COUNT:
            return answer(event.references.load());
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urEventGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urEventGetProfilingInfo(ur_event_handle_t event, ur_profiling_info_t name,
                                               size_t size, void *value, size_t *out_size) {
    return boundary([&] {
        deref(event);
        if (value != nullptr && size == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                          "urEventGetProfilingInfo: 0 bytes for the value");
        }
        const uint64_t time = profiled_time(*event, profiling_info_of(*event, name));
        const InfoAnswer answer(size, value, out_size);
        answer(time);
    });
}

ur_result_t UR_APICALL urEventWait(uint32_t count, const ur_event_handle_t *events) {
    return boundary([&] {
        if (count == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "urEventWait: no event");
        }
        needed(events);
        std::optional<Refusal> failure;
        for (uint32_t i = 0; i < count; ++i) {
            try {
                deref(events[i]).core.wait();
            } catch (const runtime::Error &error) {
                // DPC++ knows a failed command by this code.
                const bool of_command =
                    error.code() != PI_ERROR_WOULD_BLOCK && error.code() != PI_ERROR_DEVICE_LOST;
                if (!failure) {
                    failure.emplace(of_command ? UR_RESULT_ERROR_IN_EVENT_LIST_EXEC_STATUS
                                               : to_ur(error.code()),
                                    error.what());
                }
            }
        }
        if (failure) {
            throw *failure;
        }
    });
}

ur_result_t UR_APICALL urEventGetNativeHandle(ur_event_handle_t event,
                                              ur_native_handle_t *out_handle) {
    return boundary([&] {
        pi_native_handle native{};
        check(piEventGetNativeHandle(deref(event).core.get(), &native), "piEventGetNativeHandle");
        *needed(out_handle) = word_of(event->context->devices.front()->platform, native);
    });
}

ur_result_t UR_APICALL urEventCreateWithNativeHandle(ur_native_handle_t native,
                                                     ur_context_handle_t context,
                                                     const ur_event_native_properties_t *properties,
                                                     ur_event_handle_t *out_event) {
    return boundary([&] {
        needed(out_event);
        deref(context);
        auto event = std::make_unique<ur_event_handle_t_>(context, nullptr, UR_COMMAND_EVENTS_WAIT);
        if (native == 0) { // as Unified Runtime's other adapters have it
            event->core = complete_event(context->core->parts().front());
        } else {
            auto desc = pi::desc<pi_native_desc>();
            desc.flags =
                properties != nullptr && properties->isNativeHandleOwned ? PI_NATIVE_OWN : 0;
            desc.handle = native_of_type(context->devices.front()->platform, PI_KIND_EVENT, native);
            event->core = around_native(*context, desc);
        }
        *out_event = event.release();
    });
}

ur_result_t UR_APICALL urEventSetCallback(ur_event_handle_t event, ur_execution_info_t status,
                                          ur_event_callback_t function, void *user_data) {
    return boundary([&] {
        deref(event);
        needed(function);
        if (status >= UR_EXECUTION_INFO_QUEUED) {
            throw Refusal(status > UR_EXECUTION_INFO_QUEUED
                              ? UR_RESULT_ERROR_INVALID_ENUMERATION
                              : UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                          "urEventSetCallback: every event has been queued");
        }
        // PI calls back on completion, which is past SUBMITTED and RUNNING.
        auto callback = std::make_unique<Callback>(
            Callback{Ref<ur_event_handle_t_>(event), status, function, user_data});
        check(piEventSetCallback(event->core.get(), &call_back, callback.get()),
              "piEventSetCallback");
        callback.release();
    });
}

} // namespace pi::unified_runtime
