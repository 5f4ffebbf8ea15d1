// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "enqueue.hpp"
#include "functions.hpp"
#include "info.hpp"
#include "native.hpp"

#include <pi/describe/descriptor.hpp>

#include <array>

using namespace pi::unified_runtime;

namespace {

constexpr std::array<std::pair<ur_queue_flags_t, uint64_t>, 4> queue_flags{{
    {UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE, PI_QUEUE_OUT_OF_ORDER},
    {UR_QUEUE_FLAG_PROFILING_ENABLE, PI_QUEUE_PROFILING},
    {UR_QUEUE_FLAG_PRIORITY_LOW, PI_QUEUE_PRIORITY_LOW},
    {UR_QUEUE_FLAG_PRIORITY_HIGH, PI_QUEUE_PRIORITY_HIGH},
}};

ur_queue_flags_t ur_flags_of(pi_queue queue) {
    const uint64_t flags =
        pi_info<uint64_t, piQueueGetInfo>(queue, PI_QUEUE_INFO_FLAGS).value_or(0);
    ur_queue_flags_t of_ur = 0;
    for (const auto &[ur, of_pi] : queue_flags) {
        of_ur |= (flags & of_pi) != 0 ? ur : 0;
    }
    return of_ur;
}

} // namespace

ur_queue_handle_t_::ur_queue_handle_t_(ur_context_handle_t in, ur_device_handle_t on,
                                       ur_queue_flags_t ur_flags, uint64_t pi_flags)
    : context(in), device(on), flags(ur_flags), core(in->core, on->device, pi_flags) {}

ur_queue_handle_t_::ur_queue_handle_t_(ur_context_handle_t in, ur_device_handle_t on,
                                       pi::runtime::Queue queue)
    : context(in), device(on), flags(ur_flags_of(queue.get())),
      core(in->core, on->device, std::move(queue)) {}

namespace pi::unified_runtime {

using runtime::check;

namespace {

uint64_t pi_flags_of(const ur_device_handle_t_ &device, ur_queue_flags_t flags) {
    constexpr auto has_both = [](ur_queue_flags_t all, ur_queue_flags_t two) {
        return (all & two) == two;
    };
    if ((flags & UR_QUEUE_FLAGS_MASK) != 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urQueueCreate: unknown flags");
    }
    if (has_both(flags, UR_QUEUE_FLAG_PRIORITY_LOW | UR_QUEUE_FLAG_PRIORITY_HIGH) ||
        has_both(flags, UR_QUEUE_FLAG_SUBMISSION_BATCHED | UR_QUEUE_FLAG_SUBMISSION_IMMEDIATE)) {
        throw Refusal(UR_RESULT_ERROR_INVALID_QUEUE_PROPERTIES,
                      "urQueueCreate: two flags exclude each other");
    }
    // An in-order queue does what an out-of-order queue promises.
    const uint64_t honoured =
        pi_info<uint64_t, piDeviceGetInfo>(device.device, PI_DEVICE_INFO_QUEUE_FLAGS).value_or(0) |
        PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW | PI_QUEUE_PRIORITY_HIGH;
    return translate_bits<uint64_t>(queue_flags, flags) & honoured;
}

} // namespace

ur_result_t UR_APICALL urQueueCreate(ur_context_handle_t context, ur_device_handle_t device,
                                     const ur_queue_properties_t *properties,
                                     ur_queue_handle_t *out_queue) {
    return boundary([&] {
        deref(context).check_device(device);
        needed(out_queue);
        const ur_queue_flags_t flags = properties != nullptr ? properties->flags : 0;
        *out_queue = new ur_queue_handle_t_(context, device, flags, pi_flags_of(*device, flags));
    });
}

ur_result_t UR_APICALL urQueueGetInfo(ur_queue_handle_t handle, ur_queue_info_t name, size_t size,
                                      void *value, size_t *out_size) {
    return boundary([&] {
        const ur_queue_handle_t_ &queue = deref(handle);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_QUEUE_INFO_CONTEXT:
            return answer(queue.context.get());
        case UR_QUEUE_INFO_DEVICE:
            return answer(queue.device.get());
        case UR_QUEUE_INFO_FLAGS:
            return answer(queue.flags);
        case UR_QUEUE_INFO_REFERENCE_COUNT:
            return answer(queue.references.load());
        case UR_QUEUE_INFO_EMPTY:
            return answer(ur_bool_t{queue.core.is_empty()});
        case UR_QUEUE_INFO_DEVICE_DEFAULT:
        case UR_QUEUE_INFO_SIZE:
            return unknown_info(name); // of queues on devices
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urQueueGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urQueueGetNativeHandle(ur_queue_handle_t queue, ur_queue_native_desc_t *,
                                              ur_native_handle_t *out_handle) {
    return boundary([&] {
        pi_native_handle native{};
        check(piQueueGetNativeHandle(deref(queue).core.get(), &native), "piQueueGetNativeHandle");
        *needed(out_handle) = word_of(queue->device->platform, native);
    });
}

ur_result_t UR_APICALL urQueueCreateWithNativeHandle(ur_native_handle_t native,
                                                     ur_context_handle_t context,
                                                     ur_device_handle_t device,
                                                     const ur_queue_native_properties_t *properties,
                                                     ur_queue_handle_t *out_queue) {
    return boundary([&] {
        needed(out_queue);
        // Without a device the handle itself knows it: the others refuse the handle.
        std::vector<ur_device_handle_t> candidates;
        if (device != nullptr) {
            deref(context).check_device(device);
            candidates.push_back(device);
        } else {
            for (const auto &each : deref(context).devices) {
                candidates.push_back(each.get());
            }
        }
        auto desc = pi::desc<pi_native_desc>();
        desc.flags = properties != nullptr && properties->isNativeHandleOwned ? PI_NATIVE_OWN : 0;
        pi_result result = PI_SUCCESS;
        for (const ur_device_handle_t each : candidates) {
            desc.handle = native_of_type(each->platform, PI_KIND_QUEUE, native);
            runtime::Queue queue;
            result =
                piQueueCreateWithNativeHandle(context->core->part_of(each->device).context.get(),
                                              each->device, &desc, queue.out());
            if (result == PI_SUCCESS) {
                *out_queue = new ur_queue_handle_t_(context, each, std::move(queue));
                return;
            }
            if (result != PI_ERROR_INVALID_NATIVE_HANDLE) {
                break;
            }
        }
        check(result, "piQueueCreateWithNativeHandle");
    });
}

ur_result_t UR_APICALL urQueueFinish(ur_queue_handle_t queue) {
    return boundary([&] { deref(queue).core.finish(); });
}

ur_result_t UR_APICALL urQueueFlush(ur_queue_handle_t queue) {
    return boundary([&] { check(piQueueFlush(deref(queue).core.get()), "piQueueFlush"); });
}

ur_result_t UR_APICALL urEnqueueEventsWait(ur_queue_handle_t queue, uint32_t count,
                                           const ur_event_handle_t *waits,
                                           ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {count, waits}, UR_COMMAND_EVENTS_WAIT, out_event);
        enqueue.run("piEnqueueEventsWait", piEnqueueEventsWait, pi::desc<pi_events_wait_desc>());
    });
}

ur_result_t UR_APICALL urEnqueueEventsWaitWithBarrier(ur_queue_handle_t queue, uint32_t count,
                                                      const ur_event_handle_t *waits,
                                                      ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {count, waits}, UR_COMMAND_EVENTS_WAIT_WITH_BARRIER, out_event);
        enqueue.run("piEnqueueBarrier", piEnqueueBarrier, pi::desc<pi_barrier_desc>());
    });
}

ur_result_t UR_APICALL urEnqueueEventsWaitWithBarrierExt(ur_queue_handle_t queue,
                                                         const ur_exp_enqueue_ext_properties_t *,
                                                         uint32_t count,
                                                         const ur_event_handle_t *waits,
                                                         ur_event_handle_t *out_event) {
    return unified_runtime::urEnqueueEventsWaitWithBarrier(queue, count, waits, out_event);
}

ur_result_t UR_APICALL urEnqueueTimestampRecordingExp(ur_queue_handle_t queue, bool is_blocking,
                                                      uint32_t count,
                                                      const ur_event_handle_t *waits,
                                                      ur_event_handle_t *out_event) {
    return boundary([&] {
        needed(out_event);
        Enqueue enqueue(queue, {count, waits}, UR_COMMAND_TIMESTAMP_RECORDING_EXP, out_event);
        auto desc = pi::desc<pi_timestamp_desc>();
        desc.flags = blocking(is_blocking);
        enqueue.run("piEnqueueTimestamp", piEnqueueTimestamp, desc);
    });
}

ur_result_t UR_APICALL urEnqueueHostTaskExp(ur_queue_handle_t queue,
                                            ur_exp_host_task_function_t function, void *user_data,
                                            const ur_exp_host_task_properties_t *, uint32_t count,
                                            const ur_event_handle_t *waits,
                                            ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {count, waits}, UR_COMMAND_HOST_TASK_EXP, out_event);
        auto desc = pi::desc<pi_host_function_desc>();
        desc.function = needed(function);
        desc.user_data = user_data;
        enqueue.run("piEnqueueHostFunction", piEnqueueHostFunction, desc);
    });
}

ur_result_t UR_APICALL urEnqueueNativeCommandExp(ur_queue_handle_t queue,
                                                 ur_exp_enqueue_native_command_function_t function,
                                                 void *user_data, uint32_t mem_count,
                                                 const ur_mem_handle_t *mems,
                                                 const ur_exp_enqueue_native_command_properties_t *,
                                                 uint32_t count, const ur_event_handle_t *waits,
                                                 ur_event_handle_t *out_event) {
    return boundary([&] {
        deref(queue);
        // What the function submits to the native queue is between two barriers.
        needed(function);
        {
            Enqueue before(queue, {count, waits}, UR_COMMAND_ENQUEUE_NATIVE_EXP, nullptr);
            const facade::Event ready = before.command().enqueue<pi_barrier_desc>(
                "piEnqueueBarrier", piEnqueueBarrier, nullptr, true);
            check(piQueueFlush(queue->core.get()), "piQueueFlush");
            // A command that the plugin has deferred is not in the native queue yet.
            if (pi_info<pi_event_status, piEventGetInfo>(ready.get(), PI_EVENT_INFO_STATUS) ==
                PI_EVENT_QUEUED) {
                ready.wait();
            }
        }
        function(queue, user_data);
        Enqueue after(queue, {}, UR_COMMAND_ENQUEUE_NATIVE_EXP, out_event);
        facade::Event end = after.command().enqueue<pi_barrier_desc>(
            "piEnqueueBarrier", piEnqueueBarrier, nullptr, true);
        for (uint32_t i = 0; i < mem_count; ++i) {
            deref(mems[i]).core->release_held(end);
        }
        after.finish(std::move(end));
    });
}

} // namespace pi::unified_runtime
