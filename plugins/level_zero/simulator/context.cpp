// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"
#include "leaks.hpp"

namespace pi::level_zero::simulated {

namespace {

/// A context, and a device of the same driver.
template <class F>
ze_result_t call_with(ze_context_handle_t context, ze_device_handle_t device, F body) {
    return call([&](Lock &lock) {
        driver().context(context);
        body(driver().device(device), lock);
    });
}

ze_result_t check_memory(ze_context_handle_t context, ze_device_handle_t device, void *pointer,
                         size_t size) {
    return call_with(context, device, [&](Device &user, Lock &) {
        need_pointers(pointer);
        need(size > 0, ZE_RESULT_ERROR_INVALID_SIZE);
        Reach(pointer, size, &user);
    });
}

ze_result_t check_image(ze_context_handle_t context, ze_device_handle_t device,
                        ze_image_handle_t image) {
    return call_with(context, device, [&](Device &, Lock &) { find(driver().images, image); });
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeContextCreateEx(ze_driver_handle_t handle,
                                         const ze_context_desc_t *descriptor, uint32_t count,
                                         ze_device_handle_t *devices, ze_context_handle_t *out) {
    return call_of(handle, [&] {
        need_pointers(descriptor, out);
        need(descriptor->stype == ZE_STRUCTURE_TYPE_CONTEXT_DESC, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(descriptor->flags <= ZE_CONTEXT_FLAG_TBD, ZE_RESULT_ERROR_INVALID_ENUMERATION);
        need(count == 0 || devices, ZE_RESULT_ERROR_INVALID_SIZE);
        for (uint32_t i = 0; i < count; ++i)
            driver().device(devices[i]);
        *out = driver().contexts.add(std::make_shared<Context>());
    });
}

ze_result_t ZE_APICALL zeContextCreate(ze_driver_handle_t handle,
                                       const ze_context_desc_t *descriptor,
                                       ze_context_handle_t *out) {
    return zeContextCreateEx(handle, descriptor, 0, nullptr, out);
}

ze_result_t ZE_APICALL zeContextDestroy(ze_context_handle_t handle) {
    return call([&](Lock &) {
        need(leaks_of(*driver().context(handle)).empty(), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        driver().contexts.erase(handle);
    });
}

ze_result_t ZE_APICALL zeContextGetStatus(ze_context_handle_t handle) {
    return call([&](Lock &) {
        driver().context(handle);
        for (const auto &[key, device] : driver().devices)
            need(!device->lost, ZE_RESULT_ERROR_DEVICE_LOST);
    });
}

// All memory is resident and coherent here: only the arguments are checked.
ze_result_t ZE_APICALL zeContextSystemBarrier(ze_context_handle_t context,
                                              ze_device_handle_t device) {
    return call_with(context, device, [](Device &, Lock &) {});
}

ze_result_t ZE_APICALL zeContextMakeMemoryResident(ze_context_handle_t context,
                                                   ze_device_handle_t device, void *pointer,
                                                   size_t size) {
    return check_memory(context, device, pointer, size);
}

ze_result_t ZE_APICALL zeContextEvictMemory(ze_context_handle_t context, ze_device_handle_t device,
                                            void *pointer, size_t size) {
    return check_memory(context, device, pointer, size);
}

ze_result_t ZE_APICALL zeContextMakeImageResident(ze_context_handle_t context,
                                                  ze_device_handle_t device,
                                                  ze_image_handle_t image) {
    return check_image(context, device, image);
}

ze_result_t ZE_APICALL zeContextEvictImage(ze_context_handle_t context, ze_device_handle_t device,
                                           ze_image_handle_t image) {
    return check_image(context, device, image);
}
