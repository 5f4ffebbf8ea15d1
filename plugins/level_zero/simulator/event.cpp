// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <cstring>

namespace pi::level_zero::simulated {

namespace {

std::shared_ptr<Event> event_of(ze_event_handle_t handle) {
    return find(driver().events, handle);
}

/// An event that is visible to the host.
std::shared_ptr<Event> visible_event(ze_event_handle_t handle) {
    std::shared_ptr<Event> event = event_of(handle);
    need(event->pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
         ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    return event;
}

bool any_lost() {
    for (const auto &[key, device] : driver().devices)
        if (device->lost)
            return true;
    return false;
}

/// Checks that the event has timestamps.
void need_times(const Event &event) {
    need(event.pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

void set(const std::shared_ptr<Event> &event, bool signalled) {
    event->signalled = signalled;
    if (!signalled)
        event->times = {};
    driver().changed.notify_all();
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeEventPoolCreate(ze_context_handle_t context,
                                         const ze_event_pool_desc_t *descriptor, uint32_t count,
                                         ze_device_handle_t *devices, ze_event_pool_handle_t *out) {
    return call([&](Lock &) {
        auto pool = std::make_shared<EventPool>();
        pool->context = driver().context(context);
        need_pointers(descriptor, out);
        need(descriptor->stype == ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(descriptor->flags < ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP * 2,
             ZE_RESULT_ERROR_INVALID_ENUMERATION);
        need(!(descriptor->flags & ZE_EVENT_POOL_FLAG_IPC), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        need(descriptor->count > 0 && (count == 0 || devices), ZE_RESULT_ERROR_INVALID_SIZE);
        for (uint32_t i = 0; i < count; ++i)
            driver().device(devices[i]);
        pool->flags = descriptor->flags;
        pool->count = descriptor->count;
        *out = driver().pools.add(pool);
    });
}

ze_result_t ZE_APICALL zeEventPoolDestroy(ze_event_pool_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<EventPool> pool = find(driver().pools, handle);
        need(pool->used.empty(), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        driver().pools.erase(handle);
    });
}

ze_result_t ZE_APICALL zeEventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t *descriptor,
                                     ze_event_handle_t *out) {
    return call([&](Lock &) {
        auto event = std::make_shared<Event>();
        event->pool = find(driver().pools, pool);
        event->context = event->pool->context;
        need_pointers(descriptor, out);
        constexpr ze_event_scope_flags_t scopes =
            ZE_EVENT_SCOPE_FLAG_SUBDEVICE | ZE_EVENT_SCOPE_FLAG_DEVICE | ZE_EVENT_SCOPE_FLAG_HOST;
        need((descriptor->signal & ~scopes) == 0 && (descriptor->wait & ~scopes) == 0,
             ZE_RESULT_ERROR_INVALID_ENUMERATION);
        need(descriptor->stype == ZE_STRUCTURE_TYPE_EVENT_DESC &&
                 descriptor->index < event->pool->count &&
                 event->pool->used.insert(descriptor->index).second,
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
        event->index = descriptor->index;
        *out = driver().events.add(event);
    });
}

ze_result_t ZE_APICALL zeEventDestroy(ze_event_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Event> event = event_of(handle);
        event->need_idle();
        event->pool->used.erase(event->index);
        driver().events.erase(handle);
    });
}

ze_result_t ZE_APICALL zeEventHostSignal(ze_event_handle_t handle) {
    return call([&](Lock &) { set(visible_event(handle), true); });
}

ze_result_t ZE_APICALL zeEventHostReset(ze_event_handle_t handle) {
    return call([&](Lock &) { set(event_of(handle), false); });
}

ze_result_t ZE_APICALL zeEventHostSynchronize(ze_event_handle_t handle, uint64_t timeout) {
    return call([&](Lock &lock) {
        const std::shared_ptr<Event> event = visible_event(handle);
        wait(lock, timeout, [&] { return event->signalled || any_lost(); });
        need(event->signalled, ZE_RESULT_ERROR_DEVICE_LOST);
    });
}

ze_result_t ZE_APICALL zeEventQueryStatus(ze_event_handle_t handle) {
    return zeEventHostSynchronize(handle, 0);
}

ze_result_t ZE_APICALL zeEventQueryKernelTimestamp(ze_event_handle_t handle,
                                                   ze_kernel_timestamp_result_t *out) {
    return call([&](Lock &) {
        const std::shared_ptr<Event> event = event_of(handle);
        need_pointers(out);
        need_times(*event);
        need(event->signalled, ZE_RESULT_NOT_READY);
        *out = event->times;
    });
}

ze_result_t ZE_APICALL zeCommandListAppendSignalEvent(ze_command_list_handle_t list,
                                                      ze_event_handle_t event) {
    if (!event)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return append(list, {event}, [](List &, Command &) {});
}

ze_result_t ZE_APICALL zeCommandListAppendWaitOnEvents(ze_command_list_handle_t list,
                                                       uint32_t count, ze_event_handle_t *events) {
    if (!events)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, {nullptr, count, events},
                  [](List &, Command &command) { command.holds = true; });
}

ze_result_t ZE_APICALL zeCommandListAppendEventReset(ze_command_list_handle_t list,
                                                     ze_event_handle_t handle) {
    return append(list, {}, [&](List &, Command &command) {
        const std::shared_ptr<Event> event = event_of(handle);
        command.uses = {event};
        command.then = [event] { set(event, false); };
    });
}

ze_result_t ZE_APICALL zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *handles, void *out,
    const size_t *offsets, ze_event_handle_t signal, uint32_t wait_count,
    ze_event_handle_t *waits) {
    if (!handles || !out)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, {signal, wait_count, waits}, [&](List &target, Command &command) {
        for (const std::shared_ptr<Event> &event : events_of(count, handles)) {
            need_times(*event);
            const size_t i = command.uses.size();
            const size_t offset = offsets ? offsets[i] : i * sizeof event->times;
            command.uses.push_back(event);
            Reach to(static_cast<char *>(out) + offset, sizeof event->times, target.device);
            command.then = [before = std::move(command.then), event, to] {
                if (before)
                    before();
                std::memcpy(to.now().data, &event->times, sizeof event->times);
            };
        }
    });
}

namespace {

/// Barriers for all memory and for ranges are the same here.
ze_result_t append_barrier(ze_command_list_handle_t list, const Order &order) {
    return append(list, order,
                  [](List &, Command &command) { command.follows = command.holds = true; });
}

} // namespace

ze_result_t ZE_APICALL zeCommandListAppendBarrier(ze_command_list_handle_t list,
                                                  ze_event_handle_t signal, uint32_t count,
                                                  ze_event_handle_t *waits) {
    return append_barrier(list, {signal, count, waits});
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryRangesBarrier(
    ze_command_list_handle_t list, uint32_t range_count, const size_t *sizes, const void **ranges,
    ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    if (!sizes || !ranges)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (range_count == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    return append_barrier(list, {signal, count, waits});
}

ze_result_t ZE_APICALL zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t list,
                                                               uint64_t *out,
                                                               ze_event_handle_t signal,
                                                               uint32_t count,
                                                               ze_event_handle_t *waits) {
    if (!out)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, {signal, count, waits}, [&](List &target, Command &command) {
        const Reach to(out, sizeof *out, target.device);
        to.keep(command);
        command.then = [to] {
            const std::uint64_t now = low_bits(device_ticks(), timestamp_bits);
            std::memcpy(to.now().data, &now, sizeof now);
        };
    });
}
