// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "info_names.hpp"

#include "text.hpp"

namespace pi::suite {
namespace {

constexpr InfoName plugin_names[] = {
    {PI_PLUGIN_INFO_NAME, "PI_PLUGIN_INFO_NAME", string_info, true},
    {PI_PLUGIN_INFO_VERSION, "PI_PLUGIN_INFO_VERSION", string_info, true},
    {PI_PLUGIN_INFO_CAPABILITIES, "PI_PLUGIN_INFO_CAPABILITIES", value_of<uint64_t>, true},
};

constexpr InfoName platform_names[] = {
    {PI_PLATFORM_INFO_NAME, "PI_PLATFORM_INFO_NAME", string_info, true},
    {PI_PLATFORM_INFO_VENDOR, "PI_PLATFORM_INFO_VENDOR", string_info},
    {PI_PLATFORM_INFO_VERSION, "PI_PLATFORM_INFO_VERSION", string_info},
    {PI_PLATFORM_INFO_PLUGIN, "PI_PLATFORM_INFO_PLUGIN", value_of<pi_plugin>, true},
    {PI_PLATFORM_INFO_BACKEND, "PI_PLATFORM_INFO_BACKEND", value_of<uint32_t>, true},
};

#define PI_SUITE_DEVICE(name, ...)                                                                 \
    { PI_DEVICE_INFO_##name, "PI_DEVICE_INFO_" #name, __VA_ARGS__ }
constexpr InfoName device_names[] = {
    PI_SUITE_DEVICE(TYPE, value_of<pi_device_type>, true),
    PI_SUITE_DEVICE(NAME, string_info, true),
    PI_SUITE_DEVICE(VENDOR, string_info),
    PI_SUITE_DEVICE(VERSION, string_info),
    PI_SUITE_DEVICE(DRIVER_VERSION, string_info),
    PI_SUITE_DEVICE(PLATFORM, value_of<pi_platform>, true),
    PI_SUITE_DEVICE(PARENT, value_of<pi_device>, true),
    PI_SUITE_DEVICE(REFERENCE_COUNT, value_of<uint32_t>),
    PI_SUITE_DEVICE(UUID, value_of<uint8_t[16]>),
    PI_SUITE_DEVICE(LUID, value_of<uint8_t[8]>),
    PI_SUITE_DEVICE(PCI_ADDRESS, string_info),
    PI_SUITE_DEVICE(NUMA_NODE, value_of<uint32_t>),
    PI_SUITE_DEVICE(COMPUTE_UNITS, value_of<uint32_t>),
    PI_SUITE_DEVICE(MAX_WORK_GROUP_SIZE, value_of<uint64_t>),
    PI_SUITE_DEVICE(MAX_WORK_ITEM_SIZES, value_of<uint64_t[3]>),
    PI_SUITE_DEVICE(LOCAL_MEMORY_SIZE, value_of<uint64_t>),
    PI_SUITE_DEVICE(GLOBAL_MEMORY_SIZE, value_of<uint64_t>),
    PI_SUITE_DEVICE(MAX_ALLOCATION_SIZE, value_of<uint64_t>),
    PI_SUITE_DEVICE(ADDRESS_BITS, value_of<uint32_t>),
    PI_SUITE_DEVICE(FP16, value_of<uint32_t>),
    PI_SUITE_DEVICE(FP64, value_of<uint32_t>),
    PI_SUITE_DEVICE(IMAGES, value_of<uint32_t>),
    PI_SUITE_DEVICE(SUB_GROUP_SIZES, array_of<uint32_t>),
    PI_SUITE_DEVICE(BUFFER_OFFSET_MODE, value_of<uint32_t>),
    PI_SUITE_DEVICE(HOST_POINTER_IMPORT, value_of<uint32_t>),
    PI_SUITE_DEVICE(HOST_POINTER_ALIGNMENT, value_of<uint64_t>),
    PI_SUITE_DEVICE(INTEGRATED, value_of<uint32_t>),
    PI_SUITE_DEVICE(USM_CAPABILITIES, value_of<uint32_t>),
    PI_SUITE_DEVICE(PROGRAM_FORMATS, value_of<uint32_t>),
    PI_SUITE_DEVICE(QUEUE_FLAGS, value_of<uint64_t>, true),
    PI_SUITE_DEVICE(TIMER_RESOLUTION, value_of<uint64_t>),
    PI_SUITE_DEVICE(PARTITION_KINDS, value_of<uint32_t>),
    PI_SUITE_DEVICE(EXTERNAL_HANDLE_TYPES, value_of<uint32_t>),
    PI_SUITE_DEVICE(EXPORT_HANDLE_TYPES, value_of<uint32_t>),
    PI_SUITE_DEVICE(CAPABILITIES, value_of<uint64_t>, true),
    PI_SUITE_DEVICE(LAUNCH_FEATURES, value_of<uint32_t>),
    PI_SUITE_DEVICE(MAX_IMAGE_2D_SIZE, value_of<uint64_t[2]>),
    PI_SUITE_DEVICE(MAX_IMAGE_3D_SIZE, value_of<uint64_t[3]>),
    PI_SUITE_DEVICE(IMAGE_VIEW_OFFSET_ALIGNMENT, value_of<uint64_t>),
    PI_SUITE_DEVICE(IMAGE_VIEW_PITCH_ALIGNMENT, value_of<uint64_t>),
    PI_SUITE_DEVICE(HOST_READ_SPEED, value_of<uint64_t[2]>),
    PI_SUITE_DEVICE(HOST_WRITE_SPEED, value_of<uint64_t[2]>),
    PI_SUITE_DEVICE(MAP_SPEED, value_of<uint64_t[2]>),
    PI_SUITE_DEVICE(CALLBACK_LATENCY, value_of<uint64_t>),
    PI_SUITE_DEVICE(HOST_READ_CHANNELS, array_of<uint64_t>),
    PI_SUITE_DEVICE(HOST_WRITE_CHANNELS, array_of<uint64_t>),
    PI_SUITE_DEVICE(VENDOR_ID, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(DEVICE_ID, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(CLOCK_RATE, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(MEMORY_CLOCK_RATE, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(MEMORY_BUS_WIDTH, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(FREE_MEMORY, value_of<uint64_t>, false, 1),
    PI_SUITE_DEVICE(PREFERRED_VECTOR_WIDTHS, value_of<uint32_t[7]>, false, 1),
    PI_SUITE_DEVICE(NATIVE_VECTOR_WIDTHS, value_of<uint32_t[7]>, false, 1),
    PI_SUITE_DEVICE(FP_CONFIGS, value_of<uint32_t[3]>, false, 1),
    PI_SUITE_DEVICE(CACHE_SIZE, value_of<uint64_t>, false, 1),
    PI_SUITE_DEVICE(CACHE_LINE_SIZE, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(CACHE_TYPE, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(LOCAL_MEMORY_TYPE, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(MAX_SUB_GROUP_COUNT, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(SUB_GROUP_INDEPENDENT_PROGRESS, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(ATOMIC_64, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(ATOMIC_CAPABILITIES, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(FENCE_CAPABILITIES, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(USM_ACCESS, value_of<uint32_t[5]>, false, 1),
    PI_SUITE_DEVICE(MAX_PARAMETER_SIZE, value_of<uint64_t>, false, 1),
    PI_SUITE_DEVICE(MAX_CONSTANT_SIZE, value_of<uint64_t>, false, 1),
    PI_SUITE_DEVICE(MAX_CONSTANT_ARGUMENTS, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(MAX_READ_IMAGE_ARGUMENTS, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(MAX_WRITE_IMAGE_ARGUMENTS, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(MAX_SAMPLERS, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(MAX_IMAGE_ARRAY_SIZE, value_of<uint64_t>, false, 1),
    PI_SUITE_DEVICE(MAX_IMAGE_BUFFER_SIZE, value_of<uint64_t>, false, 1),
    PI_SUITE_DEVICE(IL_VERSIONS, string_info, false, 1),
    PI_SUITE_DEVICE(EXTENSIONS, string_info, false, 1),
    PI_SUITE_DEVICE(ERROR_CORRECTION, value_of<uint32_t>, false, 1),
    PI_SUITE_DEVICE(MAX_GRID_SIZES, value_of<uint64_t[3]>, false, 1),
    PI_SUITE_DEVICE(MAX_PRINTF_SIZE, value_of<uint64_t>, false, 1),
    PI_SUITE_DEVICE(PARTITION_KIND, value_of<pi_partition_kind>, false, 1),
    PI_SUITE_DEVICE(MAX_SUB_DEVICES, value_of<uint32_t>, false, 1),
};
#undef PI_SUITE_DEVICE

constexpr InfoName context_names[] = {
    {PI_CONTEXT_INFO_DEVICES, "PI_CONTEXT_INFO_DEVICES", array_of<pi_device>, true},
    {PI_CONTEXT_INFO_PLATFORM, "PI_CONTEXT_INFO_PLATFORM", value_of<pi_platform>, true},
    {PI_CONTEXT_INFO_REFERENCE_COUNT, "PI_CONTEXT_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName queue_names[] = {
    {PI_QUEUE_INFO_CONTEXT, "PI_QUEUE_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_QUEUE_INFO_DEVICE, "PI_QUEUE_INFO_DEVICE", value_of<pi_device>, true},
    {PI_QUEUE_INFO_FLAGS, "PI_QUEUE_INFO_FLAGS", value_of<uint64_t>, true},
    {PI_QUEUE_INFO_REFERENCE_COUNT, "PI_QUEUE_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName mem_names[] = {
    {PI_MEM_INFO_SIZE, "PI_MEM_INFO_SIZE", value_of<uint64_t>, true},
    {PI_MEM_INFO_CONTEXT, "PI_MEM_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_MEM_INFO_DEVICE, "PI_MEM_INFO_DEVICE", value_of<pi_device>, true},
    {PI_MEM_INFO_FLAGS, "PI_MEM_INFO_FLAGS", value_of<uint64_t>, true},
    {PI_MEM_INFO_SCOPE, "PI_MEM_INFO_SCOPE", value_of<uint32_t>, true},
    {PI_MEM_INFO_ALIGNMENT, "PI_MEM_INFO_ALIGNMENT", value_of<uint64_t>},
    {PI_MEM_INFO_PARENT, "PI_MEM_INFO_PARENT", value_of<pi_mem>, true},
    {PI_MEM_INFO_OFFSET, "PI_MEM_INFO_OFFSET", value_of<uint64_t>, true},
    {PI_MEM_INFO_COHERENCE, "PI_MEM_INFO_COHERENCE", value_of<pi_coherence>, true},
    {PI_MEM_INFO_DEVICE_ADDRESS, "PI_MEM_INFO_DEVICE_ADDRESS", value_of<uint64_t>},
    {PI_MEM_INFO_BUS_ADDRESS, "PI_MEM_INFO_BUS_ADDRESS", value_of<uint64_t>},
    {PI_MEM_INFO_PITCHES, "PI_MEM_INFO_PITCHES", array_of<uint64_t>},
    {PI_MEM_INFO_KIND, "PI_MEM_INFO_KIND", value_of<pi_memory_kind>, true},
    {PI_MEM_INFO_REFERENCE_COUNT, "PI_MEM_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName program_names[] = {
    {PI_PROGRAM_INFO_CONTEXT, "PI_PROGRAM_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_PROGRAM_INFO_DEVICES, "PI_PROGRAM_INFO_DEVICES", array_of<pi_device>, true},
    {PI_PROGRAM_INFO_FORMAT, "PI_PROGRAM_INFO_FORMAT", value_of<pi_program_format>, true},
    {PI_PROGRAM_INFO_KERNEL_NAMES, "PI_PROGRAM_INFO_KERNEL_NAMES", string_info},
    {PI_PROGRAM_INFO_BINARY_SIZES, "PI_PROGRAM_INFO_BINARY_SIZES", array_of<uint64_t>},
    {PI_PROGRAM_INFO_BINARIES, "PI_PROGRAM_INFO_BINARIES", {InfoType::outputs, sizeof(void *)}},
    {PI_PROGRAM_INFO_REFERENCE_COUNT, "PI_PROGRAM_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName program_build_names[] = {
    {PI_PROGRAM_BUILD_INFO_STATUS, "PI_PROGRAM_BUILD_INFO_STATUS", value_of<uint32_t>, true},
    {PI_PROGRAM_BUILD_INFO_LOG, "PI_PROGRAM_BUILD_INFO_LOG", string_info, true},
    {PI_PROGRAM_BUILD_INFO_OPTIONS, "PI_PROGRAM_BUILD_INFO_OPTIONS", string_info},
};

constexpr InfoName kernel_names[] = {
    {PI_KERNEL_INFO_NAME, "PI_KERNEL_INFO_NAME", string_info, true},
    {PI_KERNEL_INFO_ARGUMENT_COUNT, "PI_KERNEL_INFO_ARGUMENT_COUNT", value_of<uint32_t>},
    {PI_KERNEL_INFO_PROGRAM, "PI_KERNEL_INFO_PROGRAM", value_of<pi_program>, true},
    {PI_KERNEL_INFO_CONTEXT, "PI_KERNEL_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_KERNEL_INFO_REFERENCE_COUNT, "PI_KERNEL_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

#define PI_SUITE_GROUP(name, type)                                                                 \
    { PI_KERNEL_GROUP_INFO_##name, "PI_KERNEL_GROUP_INFO_" #name, type }
constexpr InfoName kernel_group_names[] = {
    PI_SUITE_GROUP(MAX_WORK_GROUP_SIZE, value_of<uint64_t>),
    PI_SUITE_GROUP(COMPILE_WORK_GROUP_SIZE, value_of<uint64_t[3]>),
    PI_SUITE_GROUP(LOCAL_MEMORY_SIZE, value_of<uint64_t>),
    PI_SUITE_GROUP(PRIVATE_MEMORY_SIZE, value_of<uint64_t>),
    PI_SUITE_GROUP(PREFERRED_GROUP_MULTIPLE, value_of<uint64_t>),
};
#undef PI_SUITE_GROUP

constexpr InfoName kernel_sub_group_names[] = {
    {PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE, "PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE", value_of<uint32_t>},
    {PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT, "PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT", value_of<uint32_t>},
    {PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE, "PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE",
     value_of<uint32_t>},
};

constexpr InfoName sampler_names[] = {
    {PI_SAMPLER_INFO_CONTEXT, "PI_SAMPLER_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_SAMPLER_INFO_NORMALIZED_COORDINATES, "PI_SAMPLER_INFO_NORMALIZED_COORDINATES",
     value_of<uint32_t>, true},
    {PI_SAMPLER_INFO_ADDRESSING, "PI_SAMPLER_INFO_ADDRESSING", value_of<pi_addressing_mode>, true},
    {PI_SAMPLER_INFO_FILTER, "PI_SAMPLER_INFO_FILTER", value_of<pi_filter_mode>, true},
    {PI_SAMPLER_INFO_REFERENCE_COUNT, "PI_SAMPLER_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName event_names[] = {
    {PI_EVENT_INFO_STATUS, "PI_EVENT_INFO_STATUS", value_of<pi_event_status>, true},
    {PI_EVENT_INFO_RESULT, "PI_EVENT_INFO_RESULT", value_of<pi_result>, true},
    {PI_EVENT_INFO_ERROR_TEXT, "PI_EVENT_INFO_ERROR_TEXT", string_info, true},
    {PI_EVENT_INFO_CONTEXT, "PI_EVENT_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_EVENT_INFO_QUEUE, "PI_EVENT_INFO_QUEUE", value_of<pi_queue>, true},
    {PI_EVENT_INFO_COMMAND, "PI_EVENT_INFO_COMMAND", value_of<uint32_t>, true},
    {PI_EVENT_INFO_REFERENCE_COUNT, "PI_EVENT_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName profiling_names[] = {
    {PI_PROFILING_QUEUED, "PI_PROFILING_QUEUED", value_of<uint64_t>, true},
    {PI_PROFILING_SUBMIT, "PI_PROFILING_SUBMIT", value_of<uint64_t>, true},
    {PI_PROFILING_START, "PI_PROFILING_START", value_of<uint64_t>, true},
    {PI_PROFILING_END, "PI_PROFILING_END", value_of<uint64_t>, true},
};

struct NamesOf {
    AnyFunction function;
    std::span<const InfoName> names;
};

template <typename Function>
NamesOf of(Function function, std::span<const InfoName> names) {
    return {reinterpret_cast<AnyFunction>(function), names};
}

} // namespace

std::span<const InfoName> plugin_info_names() {
    return plugin_names;
}
std::span<const InfoName> platform_info_names() {
    return platform_names;
}
std::span<const InfoName> device_info_names() {
    return device_names;
}
std::span<const InfoName> context_info_names() {
    return context_names;
}
std::span<const InfoName> queue_info_names() {
    return queue_names;
}
std::span<const InfoName> mem_info_names() {
    return mem_names;
}
std::span<const InfoName> program_info_names() {
    return program_names;
}
std::span<const InfoName> program_build_info_names() {
    return program_build_names;
}
std::span<const InfoName> kernel_info_names() {
    return kernel_names;
}
std::span<const InfoName> kernel_group_info_names() {
    return kernel_group_names;
}
std::span<const InfoName> kernel_sub_group_info_names() {
    return kernel_sub_group_names;
}
std::span<const InfoName> sampler_info_names() {
    return sampler_names;
}
std::span<const InfoName> event_info_names() {
    return event_names;
}
std::span<const InfoName> profiling_info_names() {
    return profiling_names;
}

std::string info_text(AnyFunction function, uint32_t name) {
    const NamesOf all[] = {of(&piPluginGetInfo, plugin_names),
                           of(&piPlatformGetInfo, platform_names),
                           of(&piDeviceGetInfo, device_names),
                           of(&piContextGetInfo, context_names),
                           of(&piQueueGetInfo, queue_names),
                           of(&piMemGetInfo, mem_names),
                           of(&piProgramGetInfo, program_names),
                           of(&piKernelGetInfo, kernel_names),
                           of(&piSamplerGetInfo, sampler_names),
                           of(&piEventGetInfo, event_names),
                           of(&piEventGetProfilingInfo, profiling_names)};
    for (const NamesOf &one : all) {
        for (const InfoName &row : one.names) {
            if (one.function == function && row.name == name)
                return row.text;
        }
    }
    return join(name);
}

} // namespace pi::suite
