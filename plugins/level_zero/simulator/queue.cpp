// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

namespace pi::level_zero::simulated {

std::shared_ptr<Queue> make_queue(ze_context_handle_t context, ze_device_handle_t device,
                                  const ze_command_queue_desc_t *descriptor) {
    auto queue = std::make_shared<Queue>();
    queue->context = driver().context(context);
    queue->device = &driver().device(device);
    need_pointers(descriptor);
    need(descriptor->stype == ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    need(descriptor->flags <= ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY &&
             descriptor->mode <= ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS &&
             descriptor->priority <= ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH,
         ZE_RESULT_ERROR_INVALID_ENUMERATION);
    need(descriptor->ordinal < group_count &&
             descriptor->index < queues_of_group[descriptor->ordinal],
         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    need(!queue->device->lost, ZE_RESULT_ERROR_DEVICE_LOST);
    queue->group = descriptor->ordinal;
    queue->synchronous = descriptor->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    queue->line = open_line(*queue->device);
    return queue;
}

namespace {

std::shared_ptr<Queue> queue_of(ze_command_queue_handle_t handle) {
    return find(driver().queues, handle);
}

std::shared_ptr<Fence> fence_of(ze_fence_handle_t handle) {
    return find(driver().fences, handle);
}

/// Waits for everything submitted so far.
void finish(const Queue &queue, Lock &lock, std::uint64_t timeout) {
    const std::uint64_t last = queue.line->submitted;
    wait(lock, timeout, [&] { return queue.line->reached(last); });
    need(!queue.device->lost, ZE_RESULT_ERROR_DEVICE_LOST);
}

/// The lists to execute; each must be of the queue's group and closed.
std::vector<std::shared_ptr<List>> lists_for(const Queue &queue, std::uint32_t count,
                                             ze_command_list_handle_t *handles) {
    std::vector<std::shared_ptr<List>> lists;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::shared_ptr<List> list = find(driver().lists, handles[i]);
        need(list->context == queue.context && list->device == queue.device && !list->queue &&
                 list->closed,
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(list->group == queue.group, ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
        list->need_idle();
        lists.push_back(list);
    }
    return lists;
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_command_queue_desc_t *descriptor,
                                            ze_command_queue_handle_t *out) {
    return call([&](Lock &) {
        need_pointers(descriptor, out);
        *out = driver().queues.add(make_queue(context, device, descriptor));
    });
}

ze_result_t ZE_APICALL zeCommandQueueDestroy(ze_command_queue_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Queue> queue = queue_of(handle);
        need(queue->line->reached(queue->line->submitted), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        for (const auto &[key, fence] : driver().fences)
            need(fence->queue != queue, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        close_line(*queue->line);
        driver().queues.erase(handle);
    });
}

ze_result_t ZE_APICALL zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t handle,
                                                         uint32_t count,
                                                         ze_command_list_handle_t *handles,
                                                         ze_fence_handle_t fence_handle) {
    return call([&](Lock &lock) {
        const std::shared_ptr<Queue> queue = queue_of(handle);
        need_pointers(handles);
        need(count > 0, ZE_RESULT_ERROR_INVALID_SIZE);
        need(!queue->device->lost, ZE_RESULT_ERROR_DEVICE_LOST);
        const std::vector<std::shared_ptr<List>> lists = lists_for(*queue, count, handles);
        std::shared_ptr<Fence> fence;
        if (fence_handle) {
            fence = fence_of(fence_handle);
            need(fence->queue == queue && !fence->signalled && fence->in_flight == 0,
                 ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
        }
        for (const std::shared_ptr<List> &list : lists)
            for (Command command : list->commands) {
                command.uses.push_back(list);
                submit(*queue->line, std::move(command));
            }
        if (fence) {
            Command signal;
            signal.then = [fence] { fence->signalled = true; };
            signal.uses = {fence};
            signal.follows = true;
            submit(*queue->line, std::move(signal));
        }
        if (queue->synchronous)
            finish(*queue, lock, UINT64_MAX);
    });
}

ze_result_t ZE_APICALL zeCommandQueueSynchronize(ze_command_queue_handle_t handle,
                                                 uint64_t timeout) {
    return call([&](Lock &lock) { finish(*queue_of(handle), lock, timeout); });
}

ze_result_t ZE_APICALL zeFenceCreate(ze_command_queue_handle_t queue,
                                     const ze_fence_desc_t *descriptor, ze_fence_handle_t *out) {
    return call([&](Lock &) {
        auto fence = std::make_shared<Fence>();
        fence->queue = queue_of(queue);
        fence->context = fence->queue->context;
        need_pointers(descriptor, out);
        need(descriptor->stype == ZE_STRUCTURE_TYPE_FENCE_DESC, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(descriptor->flags <= ZE_FENCE_FLAG_SIGNALED, ZE_RESULT_ERROR_INVALID_ENUMERATION);
        fence->signalled = descriptor->flags == ZE_FENCE_FLAG_SIGNALED;
        *out = driver().fences.add(fence);
    });
}

ze_result_t ZE_APICALL zeFenceDestroy(ze_fence_handle_t handle) {
    return call([&](Lock &) {
        fence_of(handle)->need_idle();
        driver().fences.erase(handle);
    });
}

ze_result_t ZE_APICALL zeFenceHostSynchronize(ze_fence_handle_t handle, uint64_t timeout) {
    return call([&](Lock &lock) {
        const std::shared_ptr<Fence> fence = fence_of(handle);
        const Device &device = *fence->queue->device;
        wait(lock, timeout, [&] { return fence->signalled || device.lost; });
        need(!device.lost, ZE_RESULT_ERROR_DEVICE_LOST);
    });
}

ze_result_t ZE_APICALL zeFenceQueryStatus(ze_fence_handle_t handle) {
    return zeFenceHostSynchronize(handle, 0);
}

ze_result_t ZE_APICALL zeFenceReset(ze_fence_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Fence> fence = fence_of(handle);
        fence->need_idle();
        fence->signalled = false;
    });
}
