// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "injected.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <string>

namespace {

struct Plan {
    ze_result_t code = ZE_RESULT_SUCCESS;
    uint64_t first = 0, last = 0; ///< numbers of calls
};

std::mutex mutex; // guards what follows
std::map<std::string, uint64_t> calls, failures;
std::map<std::string, Plan> plans;
std::map<ze_command_list_handle_t, ze_command_queue_priority_t>
    priorities; // handles are never reused
bool misaligned = false, disagreeing = false;

/// Counts a call; returns the code of a fault if there is one.
ze_result_t injected_fault(const char *name) {
    const std::lock_guard lock(mutex);
    const uint64_t number = ++calls[name];
    const auto plan = plans.find(name);
    if (plan == plans.end() || number < plan->second.first || number > plan->second.last)
        return ZE_RESULT_SUCCESS;
    if (plan->second.code != ZE_RESULT_SUCCESS)
        ++failures[name];
    return plan->second.code;
}

/// Counts a call that the driver fails.
ze_result_t counted(const char *name, ze_result_t code) {
    if (code != ZE_RESULT_SUCCESS) {
        const std::lock_guard lock(mutex);
        ++failures[name];
    }
    return code;
}

template <class Function>
Function vendor(Function, const char *name) {
    static void *const library = dlopen("libze_loader.so.1", RTLD_NOW);
    return reinterpret_cast<Function>(dlsym(library, name));
}

bool is(const bool &flag) {
    const std::lock_guard lock(mutex);
    return flag;
}

} // namespace

void pi_injected_fail(const char *name, ze_result_t code, uint64_t nth, uint64_t more) {
    const std::lock_guard lock(mutex);
    plans[name] = {code, calls[name] + nth, calls[name] + nth + more};
}

void pi_injected_clear() {
    const std::lock_guard lock(mutex);
    plans.clear();
    misaligned = disagreeing = false;
}

uint64_t pi_injected_calls(const char *name) {
    const std::lock_guard lock(mutex);
    return calls[name];
}

uint64_t pi_injected_failures(const char *name) {
    const std::lock_guard lock(mutex);
    return failures[name];
}

ze_command_queue_priority_t pi_injected_priority(ze_command_list_handle_t list) {
    const std::lock_guard lock(mutex);
    return priorities.at(list);
}

void pi_injected_misalign() {
    const std::lock_guard lock(mutex);
    misaligned = true;
}

void pi_injected_disagree() {
    const std::lock_guard lock(mutex);
    disagreeing = true;
}

#define PLANTED(name, parameters, arguments)                                                       \
    extern "C" ze_result_t ZE_APICALL name parameters {                                            \
        if (const ze_result_t code = injected_fault(#name); code != ZE_RESULT_SUCCESS)             \
            return code;                                                                           \
        return counted(#name, vendor(&name, #name) arguments);                                     \
    }

PLANTED(zeContextCreate,
        (ze_driver_handle_t driver, const ze_context_desc_t *desc, ze_context_handle_t *out),
        (driver, desc, out))
PLANTED(zeContextCreateEx,
        (ze_driver_handle_t driver, const ze_context_desc_t *desc, uint32_t count,
         ze_device_handle_t *devices, ze_context_handle_t *out),
        (driver, desc, count, devices, out))
PLANTED(zeContextDestroy, (ze_context_handle_t context), (context))
PLANTED(zeEventPoolCreate,
        (ze_context_handle_t context, const ze_event_pool_desc_t *desc, uint32_t count,
         ze_device_handle_t *devices, ze_event_pool_handle_t *out),
        (context, desc, count, devices, out))
PLANTED(zeEventPoolDestroy, (ze_event_pool_handle_t pool), (pool))
PLANTED(zeEventCreate,
        (ze_event_pool_handle_t pool, const ze_event_desc_t *desc, ze_event_handle_t *out),
        (pool, desc, out))
PLANTED(zeEventDestroy, (ze_event_handle_t event), (event))
PLANTED(zeEventQueryStatus, (ze_event_handle_t event), (event))
PLANTED(zeEventHostSynchronize, (ze_event_handle_t event, uint64_t timeout), (event, timeout))
PLANTED(zeCommandListDestroy, (ze_command_list_handle_t list), (list))
PLANTED(zeCommandListAppendMemoryCopy,
        (ze_command_list_handle_t list, void *to, const void *from, size_t size,
         ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits),
        (list, to, from, size, signal, count, waits))
PLANTED(zeCommandListAppendMemoryCopyFromContext,
        (ze_command_list_handle_t list, void *to, ze_context_handle_t context, const void *from,
         size_t size, ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits),
        (list, to, context, from, size, signal, count, waits))
PLANTED(zeCommandListAppendMemoryCopyRegion,
        (ze_command_list_handle_t list, void *to, const ze_copy_region_t *out, uint32_t to_pitch,
         uint32_t to_slice, const void *from, const ze_copy_region_t *in, uint32_t from_pitch,
         uint32_t from_slice, ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits),
        (list, to, out, to_pitch, to_slice, from, in, from_pitch, from_slice, signal, count, waits))
PLANTED(zeCommandListAppendImageCopyRegion,
        (ze_command_list_handle_t list, ze_image_handle_t to, ze_image_handle_t from,
         const ze_image_region_t *out, const ze_image_region_t *in, ze_event_handle_t signal,
         uint32_t count, ze_event_handle_t *waits),
        (list, to, from, out, in, signal, count, waits))
PLANTED(zeCommandListAppendImageCopyToMemory,
        (ze_command_list_handle_t list, void *to, ze_image_handle_t from,
         const ze_image_region_t *in, ze_event_handle_t signal, uint32_t count,
         ze_event_handle_t *waits),
        (list, to, from, in, signal, count, waits))
PLANTED(zeCommandListAppendImageCopyFromMemory,
        (ze_command_list_handle_t list, ze_image_handle_t to, const void *from,
         const ze_image_region_t *out, ze_event_handle_t signal, uint32_t count,
         ze_event_handle_t *waits),
        (list, to, from, out, signal, count, waits))
PLANTED(zeCommandListAppendImageCopyToMemoryExt,
        (ze_command_list_handle_t list, void *to, ze_image_handle_t from,
         const ze_image_region_t *in, uint32_t row, uint32_t slice, ze_event_handle_t signal,
         uint32_t count, ze_event_handle_t *waits),
        (list, to, from, in, row, slice, signal, count, waits))
PLANTED(zeImageCreate,
        (ze_context_handle_t context, ze_device_handle_t device, const ze_image_desc_t *desc,
         ze_image_handle_t *out),
        (context, device, desc, out))
PLANTED(zeImageDestroy, (ze_image_handle_t image), (image))
PLANTED(zeSamplerCreate,
        (ze_context_handle_t context, ze_device_handle_t device, const ze_sampler_desc_t *desc,
         ze_sampler_handle_t *out),
        (context, device, desc, out))
PLANTED(zeSamplerDestroy, (ze_sampler_handle_t sampler), (sampler))
PLANTED(zeModuleCreate,
        (ze_context_handle_t context, ze_device_handle_t device, const ze_module_desc_t *desc,
         ze_module_handle_t *out, ze_module_build_log_handle_t *log),
        (context, device, desc, out, log))
PLANTED(zeModuleDestroy, (ze_module_handle_t module), (module))
PLANTED(zeKernelCreate,
        (ze_module_handle_t module, const ze_kernel_desc_t *desc, ze_kernel_handle_t *out),
        (module, desc, out))
PLANTED(zeKernelDestroy, (ze_kernel_handle_t kernel), (kernel))
PLANTED(zeMemAllocShared,
        (ze_context_handle_t context, const ze_device_mem_alloc_desc_t *on_device,
         const ze_host_mem_alloc_desc_t *on_host, size_t size, size_t alignment,
         ze_device_handle_t device, void **out),
        (context, on_device, on_host, size, alignment, device, out))
PLANTED(zeMemAllocHost,
        (ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc, size_t size,
         size_t alignment, void **out),
        (context, desc, size, alignment, out))
PLANTED(zeMemFree, (ze_context_handle_t context, void *pointer), (context, pointer))

extern "C" ze_result_t ZE_APICALL zeCommandListCreateImmediate(ze_context_handle_t context,
                                                               ze_device_handle_t device,
                                                               const ze_command_queue_desc_t *desc,
                                                               ze_command_list_handle_t *out) {
    if (const ze_result_t code = injected_fault("zeCommandListCreateImmediate");
        code != ZE_RESULT_SUCCESS)
        return code;
    const ze_result_t code =
        counted("zeCommandListCreateImmediate",
                vendor(&zeCommandListCreateImmediate,
                       "zeCommandListCreateImmediate")(context, device, desc, out));
    if (code == ZE_RESULT_SUCCESS) {
        const std::lock_guard lock(mutex);
        priorities[*out] = desc->priority;
    }
    return code;
}

extern "C" ze_result_t ZE_APICALL zeMemAllocDevice(ze_context_handle_t context,
                                                   const ze_device_mem_alloc_desc_t *desc,
                                                   size_t size, size_t alignment,
                                                   ze_device_handle_t device, void **out) {
    if (const ze_result_t code = injected_fault("zeMemAllocDevice"); code != ZE_RESULT_SUCCESS)
        return code;
    return counted("zeMemAllocDevice",
                   vendor(&zeMemAllocDevice, "zeMemAllocDevice")(
                       context, desc, size, is(misaligned) ? 0 : alignment, device, out));
}

extern "C" ze_result_t ZE_APICALL zeDeviceCanAccessPeer(ze_device_handle_t device,
                                                        ze_device_handle_t peer, ze_bool_t *out) {
    if (const ze_result_t code = injected_fault("zeDeviceCanAccessPeer"); code != ZE_RESULT_SUCCESS)
        return code;
    if (!is(disagreeing))
        return vendor(&zeDeviceCanAccessPeer, "zeDeviceCanAccessPeer")(device, peer, out);
    *out = false;
    return ZE_RESULT_SUCCESS;
}
