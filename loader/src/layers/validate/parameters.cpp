// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "parameters.hpp"

namespace pi::loader::validate {
namespace {

/// A range of names that an info function knows. A function has several rows if its list has gaps.
struct InfoNames {
    std::size_t function;
    uint32_t first, last;
};
#define PI_VALIDATE_NAMES(function, first, last)                                                   \
    { slot_index(offsetof(pi_dispatch, function)), first, last }
constexpr InfoNames info_names[] = {
    PI_VALIDATE_NAMES(piPluginGetInfo, PI_PLUGIN_INFO_NAME, PI_PLUGIN_INFO_CAPABILITIES),
    PI_VALIDATE_NAMES(piPlatformGetInfo, PI_PLATFORM_INFO_NAME, PI_PLATFORM_INFO_BACKEND),
    PI_VALIDATE_NAMES(piDeviceGetInfo, PI_DEVICE_INFO_TYPE, PI_DEVICE_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piDeviceGetInfo, PI_DEVICE_INFO_UUID, PI_DEVICE_INFO_NUMA_NODE),
    PI_VALIDATE_NAMES(piDeviceGetInfo, PI_DEVICE_INFO_COMPUTE_UNITS,
                      PI_DEVICE_INFO_SUB_GROUP_SIZES),
    PI_VALIDATE_NAMES(piDeviceGetInfo, PI_DEVICE_INFO_BUFFER_OFFSET_MODE,
                      PI_DEVICE_INFO_MAX_SUB_DEVICES),
    PI_VALIDATE_NAMES(piContextGetInfo, PI_CONTEXT_INFO_DEVICES, PI_CONTEXT_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piQueueGetInfo, PI_QUEUE_INFO_CONTEXT, PI_QUEUE_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piMemGetInfo, PI_MEM_INFO_SIZE, PI_MEM_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piUsmGetInfo, PI_USM_INFO_KIND, PI_USM_INFO_POOL),
    PI_VALIDATE_NAMES(piUsmPoolGetInfo, PI_USM_POOL_INFO_CONTEXT, PI_USM_POOL_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piProgramGetInfo, PI_PROGRAM_INFO_CONTEXT, PI_PROGRAM_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piProgramGetBuildInfo, PI_PROGRAM_BUILD_INFO_STATUS,
                      PI_PROGRAM_BUILD_INFO_OPTIONS),
    PI_VALIDATE_NAMES(piKernelGetInfo, PI_KERNEL_INFO_NAME, PI_KERNEL_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piKernelGetGroupInfo, PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE,
                      PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE),
    PI_VALIDATE_NAMES(piKernelGetSubGroupInfo, PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE,
                      PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE),
    PI_VALIDATE_NAMES(piSamplerGetInfo, PI_SAMPLER_INFO_CONTEXT, PI_SAMPLER_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piEventGetInfo, PI_EVENT_INFO_STATUS, PI_EVENT_INFO_REFERENCE_COUNT),
    PI_VALIDATE_NAMES(piEventGetProfilingInfo, PI_PROFILING_QUEUED, PI_PROFILING_END)};
#undef PI_VALIDATE_NAMES

} // namespace

void check_info_name(Check &check, std::size_t function, uint32_t name) noexcept {
    if ((name & PI_VENDOR_BIT) != 0)
        return; // the plugin checks it
    uint32_t last = 0;
    for (const InfoNames &row : info_names) {
        if (row.function != function)
            continue;
        if (name >= row.first && name <= row.last)
            return;
        last = row.last;
    }
    check.refuse(PI_ERROR_INVALID_ENUMERATION, {"name"},
                 "is {}, which pi.h does not list for this function; its last name is {}", name,
                 last);
}

void Special<&pi_dispatch::piMemFlush>::check(Check &check, pi_mem mem, uint64_t offset,
                                              uint64_t size) noexcept {
    const auto memory = check.validator().facts(mem);
    if (memory != nullptr && memory->image.type == nullptr)
        check.range(offset, size, memory->size, {"offset"}, {"size"}, "mem");
    else
        check.some_bytes(size, {"size"});
}

void Special<&pi_dispatch::piGetMemoryConnection>::check(Check &check, pi_device src_device,
                                                         pi_context src_context,
                                                         pi_device dst_device,
                                                         pi_context dst_context,
                                                         pi_memory_connection *) noexcept {
    if (src_context == nullptr)
        check.refuse(PI_ERROR_INVALID_CONTEXT, {"src_context"}, "is NULL; a context is needed");
    if (dst_device == nullptr)
        check.refuse(PI_ERROR_INVALID_DEVICE, {"dst_device"}, "is NULL; a device is needed");
    if (dst_context == nullptr)
        check.refuse(PI_ERROR_INVALID_CONTEXT, {"dst_context"}, "is NULL; a context is needed");
    check_member(check, src_context, src_device, {"src_device"});
    check_member(check, dst_context, dst_device, {"dst_device"});
}

} // namespace pi::loader::validate
