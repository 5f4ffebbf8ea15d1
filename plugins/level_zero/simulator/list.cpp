// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

namespace pi::level_zero::simulated {

std::vector<std::shared_ptr<Event>> events_of(std::uint32_t count, ze_event_handle_t *handles) {
    need(count == 0 || handles, ZE_RESULT_ERROR_INVALID_SIZE);
    std::vector<std::shared_ptr<Event>> events;
    for (std::uint32_t i = 0; i < count; ++i) {
        events.push_back(driver().events.find(handles[i]));
        need(events.back() != nullptr, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    }
    return events;
}

namespace {

std::shared_ptr<List> list_of(ze_command_list_handle_t handle) {
    return find(driver().lists, handle);
}

} // namespace

ze_result_t append(ze_command_list_handle_t handle, const Order &order,
                   const std::function<void(List &, Command &)> &fill) {
    return call([&](Lock &lock) {
        const std::shared_ptr<List> list = list_of(handle);
        need(!list->closed, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(!list->device->lost, ZE_RESULT_ERROR_DEVICE_LOST);
        Command command;
        command.waits = events_of(order.count, order.waits);
        if (order.signal) {
            command.signal = driver().events.find(order.signal);
            need(command.signal != nullptr, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
        }
        fill(*list, command);
        if (!list->queue) {
            list->commands.push_back(std::move(command));
            return;
        }
        const std::shared_ptr<Line> line = list->queue->line;
        const std::uint64_t number = submit(*line, std::move(command));
        if (!list->queue->synchronous)
            return;
        wait(lock, UINT64_MAX, [&] { return line->reached(number); });
        need(!line->device->lost, ZE_RESULT_ERROR_DEVICE_LOST);
    });
}

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
                                           const ze_command_list_desc_t *descriptor,
                                           ze_command_list_handle_t *out) {
    return call([&](Lock &) {
        auto list = std::make_shared<List>();
        list->context = driver().context(context);
        list->device = &driver().device(device);
        need_pointers(descriptor, out);
        need(descriptor->stype == ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC &&
                 descriptor->commandQueueGroupOrdinal < group_count,
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(descriptor->flags < ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY * 2,
             ZE_RESULT_ERROR_INVALID_ENUMERATION);
        list->group = descriptor->commandQueueGroupOrdinal;
        *out = driver().lists.add(list);
    });
}

ze_result_t ZE_APICALL zeCommandListCreateImmediate(ze_context_handle_t context,
                                                    ze_device_handle_t device,
                                                    const ze_command_queue_desc_t *descriptor,
                                                    ze_command_list_handle_t *out) {
    return call([&](Lock &) {
        auto list = std::make_shared<List>();
        need_pointers(descriptor, out);
        list->queue = make_queue(context, device, descriptor);
        list->context = list->queue->context;
        list->device = list->queue->device;
        list->group = list->queue->group;
        *out = driver().lists.add(list);
    });
}

ze_result_t ZE_APICALL zeCommandListDestroy(ze_command_list_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<List> list = list_of(handle);
        list->need_idle();
        if (list->queue) {
            Line &line = *list->queue->line;
            need(line.reached(line.submitted), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
            close_line(line);
        }
        driver().lists.erase(handle);
    });
}

// Immediate lists need no close.
ze_result_t ZE_APICALL zeCommandListClose(ze_command_list_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<List> list = list_of(handle);
        need(!list->closed, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        list->closed = !list->queue;
    });
}

ze_result_t ZE_APICALL zeCommandListReset(ze_command_list_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<List> list = list_of(handle);
        need(!list->queue, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        list->need_idle();
        list->commands.clear();
        list->closed = false;
    });
}
