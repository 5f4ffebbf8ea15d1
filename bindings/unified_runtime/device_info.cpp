// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// urDeviceGetInfo: a row for each name. Values are constant, so each is asked of PI once; DPC++
// asks for some of them at every launch.
#include "adapter.hpp"
#include "functions.hpp"
#include "info.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace pi::unified_runtime {
namespace {

using Device = ur_device_handle_t_;
using Value = facade::InfoCache::Value;
using Answer = Value (*)(const Device &);

struct Row {
    ur_device_info_t name;
    Answer answer;
};

// ----- Values ------------------------------------------------------------------------------------

Value bytes_of(const void *data, size_t size) {
    const auto *const bytes = static_cast<const std::byte *>(data);
    return {bytes, bytes + size};
}
template <class T>
Value value_of(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return bytes_of(&value, sizeof value);
}
template <class T>
Value list_of(const std::vector<T> &values) {
    return bytes_of(values.data(), values.size() * sizeof(T));
}
Value text_of(const std::string &text) {
    return bytes_of(text.c_str(), text.size() + 1);
}

template <class T>
std::optional<T> ask(const Device &device, pi_device_info name) {
    return pi_info<T, piDeviceGetInfo>(device.device, name);
}
std::string ask_text(const Device &device, pi_device_info name) {
    return pi_info_text<piDeviceGetInfo>(device.device, name);
}

uint64_t capabilities(const Device &device) {
    return ask<uint64_t>(device, PI_DEVICE_INFO_CAPABILITIES).value_or(0);
}

// ----- Kinds of rows -----------------------------------------------------------------------------

template <auto Constant>
Value constant(const Device &) {
    return value_of(Constant);
}
constexpr Answer no = &constant<ur_bool_t{false}>;
constexpr Answer yes = &constant<ur_bool_t{true}>;
constexpr Answer zero = &constant<uint32_t{0}>;

/// A number that PI has as a `From`; where PI has no answer, `Otherwise`.
template <class To, class From, pi_device_info Name, auto Otherwise>
Value number(const Device &device) {
    return value_of(
        static_cast<To>(ask<From>(device, Name).value_or(static_cast<From>(Otherwise))));
}
template <pi_device_info Name, uint32_t Otherwise>
constexpr Answer number_32 = &number<uint32_t, uint32_t, Name, Otherwise>;
template <pi_device_info Name, uint64_t Otherwise>
constexpr Answer number_64 = &number<uint64_t, uint64_t, Name, Otherwise>;
template <pi_device_info Name, uint64_t Otherwise>
constexpr Answer number_size = &number<size_t, uint64_t, Name, Otherwise>;
template <pi_device_info Name>
constexpr Answer flag = &number<ur_bool_t, uint32_t, Name, 0U>;

/// One that UR lets a device leave unanswered.
template <pi_device_info Name>
Value optional_32(const Device &device) {
    const auto value = ask<uint32_t>(device, Name);
    return value ? value_of(*value) : (unknown_info(Name), Value());
}

template <pi_device_info Name>
Value text(const Device &device) {
    return text_of(ask_text(device, Name));
}

/// Element `Index` of an array of `Count`.
template <class To, class From, pi_device_info Name, size_t Count, size_t Index, auto Otherwise>
Value element(const Device &device) {
    const auto values = ask<std::array<From, Count>>(device, Name);
    return value_of(static_cast<To>(values ? (*values)[Index] : From{Otherwise}));
}
template <pi_device_info Name, size_t Index>
constexpr Answer vector_width = &element<uint32_t, uint32_t, Name, 7, Index, 1U>;

template <uint64_t Capability>
Value capability(const Device &device) {
    return value_of(ur_bool_t{(capabilities(device) & Capability) == Capability});
}

// ----- Rows that need more -----------------------------------------------------------------------

Value type(const Device &device) {
    constexpr std::array<std::pair<pi_device_type, ur_device_type_t>, 4> types{{
        {PI_DEVICE_TYPE_CPU, UR_DEVICE_TYPE_CPU},
        {PI_DEVICE_TYPE_GPU, UR_DEVICE_TYPE_GPU},
        {PI_DEVICE_TYPE_ACCELERATOR, UR_DEVICE_TYPE_FPGA},
        {PI_DEVICE_TYPE_OTHER, UR_DEVICE_TYPE_CUSTOM},
    }};
    return value_of(translate(types, ask<pi_device_type>(device, PI_DEVICE_INFO_TYPE).value_or(0),
                              UR_DEVICE_TYPE_MCA));
}

Value max_work_item_sizes(const Device &device) {
    const auto sizes = ask<std::array<uint64_t, 3>>(device, PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES)
                           .value_or(std::array<uint64_t, 3>{1, 1, 1});
    return value_of(std::array<size_t, 3>{sizes[0], sizes[1], sizes[2]});
}

std::array<uint64_t, 3> grid_sizes(const Device &device) {
    constexpr uint64_t most = std::numeric_limits<int32_t>::max();
    return ask<std::array<uint64_t, 3>>(device, PI_DEVICE_INFO_MAX_GRID_SIZES)
        .value_or(std::array<uint64_t, 3>{most, most, most});
}
Value max_work_groups_3d(const Device &device) {
    const auto sizes = grid_sizes(device);
    return value_of(std::array<size_t, 3>{sizes[0], sizes[1], sizes[2]});
}
Value max_work_groups(const Device &device) {
    return value_of(static_cast<size_t>(grid_sizes(device)[0]));
}

/// Index: 0 half, 1 float, 2 double.
template <size_t Index>
Value fp_config(const Device &device) {
    constexpr std::array<std::pair<uint32_t, ur_device_fp_capability_flags_t>, 8> bits{{
        {PI_FP_DENORMALS, UR_DEVICE_FP_CAPABILITY_FLAG_DENORM},
        {PI_FP_INF_NAN, UR_DEVICE_FP_CAPABILITY_FLAG_INF_NAN},
        {PI_FP_ROUND_TO_NEAREST, UR_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST},
        {PI_FP_ROUND_TO_ZERO, UR_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO},
        {PI_FP_ROUND_TO_INF, UR_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF},
        {PI_FP_FMA, UR_DEVICE_FP_CAPABILITY_FLAG_FMA},
        {PI_FP_SOFT_FLOAT, UR_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT},
        {PI_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
         UR_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT},
    }};
    // What each device has whose backend says no more.
    constexpr uint32_t least = PI_FP_ROUND_TO_NEAREST | PI_FP_INF_NAN;
    const std::array<uint32_t, 3> otherwise{
        ask<uint32_t>(device, PI_DEVICE_INFO_FP16).value_or(0) != 0 ? least : 0, least,
        ask<uint32_t>(device, PI_DEVICE_INFO_FP64).value_or(0) != 0 ? least : 0};
    const auto configs =
        ask<std::array<uint32_t, 3>>(device, PI_DEVICE_INFO_FP_CONFIGS).value_or(otherwise);
    return value_of(translate_bits<ur_device_fp_capability_flags_t>(bits, configs[Index]));
}

Value queue_properties(const Device &device) {
    constexpr std::array<std::pair<uint64_t, ur_queue_flags_t>, 4> flags{{
        {PI_QUEUE_OUT_OF_ORDER, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE},
        {PI_QUEUE_PROFILING, UR_QUEUE_FLAG_PROFILING_ENABLE},
        {PI_QUEUE_PRIORITY_LOW, UR_QUEUE_FLAG_PRIORITY_LOW},
        {PI_QUEUE_PRIORITY_HIGH, UR_QUEUE_FLAG_PRIORITY_HIGH},
    }};
    return value_of(translate_bits<ur_queue_flags_t>(
        flags, ask<uint64_t>(device, PI_DEVICE_INFO_QUEUE_FLAGS).value_or(0)));
}

Value mem_base_address_alignment(const Device &device) {
    pi_memory_scope scope{};
    runtime::check(piDeviceGetMemoryScopes(device.device, 1, &scope, nullptr),
                   "piDeviceGetMemoryScopes");
    return value_of(static_cast<uint32_t>(8 * std::max<uint64_t>(scope.offset_alignment, 1)));
}

Value host_unified_memory(const Device &device) {
    return value_of(
        ur_bool_t{ask<uint32_t>(device, PI_DEVICE_INFO_INTEGRATED).value_or(0) != 0 ||
                  ask<pi_device_type>(device, PI_DEVICE_INFO_TYPE) == PI_DEVICE_TYPE_CPU});
}
Value is_integrated_gpu(const Device &device) {
    return value_of(
        ur_bool_t{ask<uint32_t>(device, PI_DEVICE_INFO_INTEGRATED).value_or(0) != 0 &&
                  ask<pi_device_type>(device, PI_DEVICE_INFO_TYPE) == PI_DEVICE_TYPE_GPU});
}

/// DPC++ finds some features by OpenCL's names, also on other backends.
Value extensions(const Device &device) {
    std::string names = ask_text(device, PI_DEVICE_INFO_EXTENSIONS);
    const auto add = [&names](bool has, const std::string &name) {
        if (has && (" " + names + " ").find(" " + name + " ") == std::string::npos) {
            names += (names.empty() ? "" : " ") + name;
        }
    };
    const auto has = [&device](pi_device_info name) {
        return ask<uint32_t>(device, name).value_or(0) != 0;
    };
    add(has(PI_DEVICE_INFO_FP16), "cl_khr_fp16");
    add(has(PI_DEVICE_INFO_FP64), "cl_khr_fp64");
    add(has(PI_DEVICE_INFO_ATOMIC_64), "cl_khr_int64_base_atomics");
    add(has(PI_DEVICE_INFO_ATOMIC_64), "cl_khr_int64_extended_atomics");
    add((ask<uint32_t>(device, PI_DEVICE_INFO_PROGRAM_FORMATS).value_or(0) &
         1U << PI_PROGRAM_FORMAT_SPIRV) != 0,
        "cl_khr_il_program");
    return text_of(names);
}

Value supported_partitions(const Device &device) {
    constexpr std::array<std::pair<uint32_t, ur_device_partition_t>, 4> kinds{{
        {1U << PI_PARTITION_EQUALLY, UR_DEVICE_PARTITION_EQUALLY},
        {1U << PI_PARTITION_BY_COUNTS, UR_DEVICE_PARTITION_BY_COUNTS},
        {1U << PI_PARTITION_BY_NUMA, UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN},
        {1U << PI_PARTITION_BY_HARDWARE, UR_DEVICE_PARTITION_BY_CSLICE},
    }};
    const uint32_t supported = ask<uint32_t>(device, PI_DEVICE_INFO_PARTITION_KINDS).value_or(0);
    std::vector<ur_device_partition_t> partitions;
    for (const auto &[kind, partition] : kinds) {
        if ((supported & kind) != 0) {
            partitions.push_back(partition);
        }
    }
    return list_of(partitions);
}
Value affinity_domains(const Device &device) {
    constexpr ur_device_affinity_domain_flags_t numa =
        UR_DEVICE_AFFINITY_DOMAIN_FLAG_NUMA | UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE;
    return value_of((ask<uint32_t>(device, PI_DEVICE_INFO_PARTITION_KINDS).value_or(0) &
                     1U << PI_PARTITION_BY_NUMA) != 0
                        ? numa
                        : ur_device_affinity_domain_flags_t{0});
}
Value max_sub_devices(const Device &device) {
    const bool divides = ask<uint32_t>(device, PI_DEVICE_INFO_PARTITION_KINDS).value_or(0) != 0;
    const auto most = ask<uint32_t>(device, PI_DEVICE_INFO_MAX_SUB_DEVICES);
    return value_of(most.value_or(
        divides ? ask<uint32_t>(device, PI_DEVICE_INFO_COMPUTE_UNITS).value_or(1) : 0));
}
Value partition_type(const Device &device) {
    // Of a sub-device that the application made, this is not known either.
    const bool known = device.partition.type != ur_device_partition_t{};
    return known ? value_of(device.partition) : Value();
}

/// Index: that of PI_DEVICE_INFO_USM_ACCESS; kind: the PI_USM_ that a plugin of 1.0 reports.
template <size_t Index, pi_usm_kind Kind>
Value usm_access(const Device &device) {
    constexpr std::array<std::pair<uint32_t, ur_device_usm_access_capability_flags_t>, 4> bits{{
        {PI_USM_ACCESS, UR_DEVICE_USM_ACCESS_CAPABILITY_FLAG_ACCESS},
        {PI_USM_ACCESS_ATOMIC, UR_DEVICE_USM_ACCESS_CAPABILITY_FLAG_ATOMIC_ACCESS},
        {PI_USM_ACCESS_CONCURRENT, UR_DEVICE_USM_ACCESS_CAPABILITY_FLAG_CONCURRENT_ACCESS},
        {PI_USM_ACCESS_CONCURRENT_ATOMIC,
         UR_DEVICE_USM_ACCESS_CAPABILITY_FLAG_ATOMIC_CONCURRENT_ACCESS},
    }};
    if (device.platform.platforms.size() > 1) {
        return value_of(ur_device_usm_access_capability_flags_t{0}); // no address is everybody's
    }
    const uint32_t kinds = ask<uint32_t>(device, PI_DEVICE_INFO_USM_CAPABILITIES).value_or(0);
    const uint32_t otherwise = Kind != 0 && (kinds & 1U << Kind) != 0 ? PI_USM_ACCESS : 0;
    const auto access = ask<std::array<uint32_t, 5>>(device, PI_DEVICE_INFO_USM_ACCESS);
    return value_of(translate_bits<ur_device_usm_access_capability_flags_t>(
        bits, access ? (*access)[Index] : otherwise));
}

// UR's bits of orders and scopes are PI's, in two words.
static_assert(uint32_t{PI_ATOMIC_ORDER_SEQUENTIALLY_CONSISTENT} ==
              uint32_t{UR_MEMORY_ORDER_CAPABILITY_FLAG_SEQ_CST});
static_assert(uint32_t{PI_ATOMIC_SCOPE_SYSTEM} >> 5 ==
              uint32_t{UR_MEMORY_SCOPE_CAPABILITY_FLAG_SYSTEM});
template <pi_device_info Name>
uint32_t atomic_bits(const Device &device) {
    constexpr uint32_t least = PI_ATOMIC_ORDER_RELAXED | PI_ATOMIC_ORDER_ACQUIRE |
                               PI_ATOMIC_ORDER_RELEASE | PI_ATOMIC_ORDER_ACQUIRE_RELEASE |
                               PI_ATOMIC_SCOPE_WORK_ITEM | PI_ATOMIC_SCOPE_SUB_GROUP |
                               PI_ATOMIC_SCOPE_WORK_GROUP;
    return ask<uint32_t>(device, Name).value_or(least);
}
template <pi_device_info Name>
Value memory_orders(const Device &device) {
    return value_of(ur_memory_order_capability_flags_t{atomic_bits<Name>(device) & 31});
}
template <pi_device_info Name>
Value memory_scopes(const Device &device) {
    return value_of(ur_memory_scope_capability_flags_t{atomic_bits<Name>(device) >> 5 & 31});
}

Value launch_capabilities(const Device &device) {
    ur_kernel_launch_properties_flags_t flags = 0;
    if ((capabilities(device) & PI_CAPABILITY_COOPERATIVE) != 0) {
        flags |= UR_KERNEL_LAUNCH_PROPERTIES_FLAG_COOPERATIVE;
    }
    if ((ask<uint32_t>(device, PI_DEVICE_INFO_LAUNCH_FEATURES).value_or(0) &
         PI_LAUNCH_FEATURE_CLUSTERS) != 0) {
        flags |= UR_KERNEL_LAUNCH_PROPERTIES_FLAG_CLUSTER_DIMENSION;
    }
    if (device.platform.backend == UR_BACKEND_CUDA) {
        flags |= UR_KERNEL_LAUNCH_PROPERTIES_FLAG_WORK_GROUP_MEMORY;
    }
    return value_of(flags);
}

Value raw(const Device &device, pi_device_info name) {
    const auto bytes = pi_info_list<std::byte, piDeviceGetInfo>(device.device, name);
    return bytes.empty() ? (unknown_info(name), Value()) : bytes;
}
Value uuid(const Device &device) {
    return raw(device, PI_DEVICE_INFO_UUID);
}
Value luid(const Device &device) {
    return raw(device, PI_DEVICE_INFO_LUID);
}
Value pci_address(const Device &device) {
    return raw(device, PI_DEVICE_INFO_PCI_ADDRESS);
}

Value native_assert(const Device &device) {
    return value_of(
        ur_bool_t{ask_text(device, PI_DEVICE_INFO_EXTENSIONS).find("cl_intel_devicelib_assert") !=
                  std::string::npos});
}

Value platform(const Device &device) {
    return value_of(ur_platform_handle_t{&device.platform});
}
Value parent(const Device &device) {
    return value_of(device.parent.get());
}
Value empty(const Device &) {
    return {};
}

constexpr ur_device_command_buffer_update_capability_flags_t every_update =
    UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_KERNEL_ARGUMENTS |
    UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_LOCAL_WORK_SIZE |
    UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_GLOBAL_WORK_SIZE |
    UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_GLOBAL_WORK_OFFSET |
    UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_KERNEL_HANDLE;

#define INFO(name) UR_DEVICE_INFO_##name
constexpr std::array device_infos{
    Row{INFO(TYPE), &type},
    Row{INFO(VENDOR_ID), number_32<PI_DEVICE_INFO_VENDOR_ID, 0>},
    Row{INFO(DEVICE_ID), &optional_32<PI_DEVICE_INFO_DEVICE_ID>},
    Row{INFO(MAX_COMPUTE_UNITS), number_32<PI_DEVICE_INFO_COMPUTE_UNITS, 1>},
    Row{INFO(NUM_COMPUTE_UNITS), number_32<PI_DEVICE_INFO_COMPUTE_UNITS, 1>},
    Row{INFO(MAX_WORK_ITEM_DIMENSIONS), &constant<uint32_t{3}>},
    Row{INFO(MAX_WORK_ITEM_SIZES), &max_work_item_sizes},
    Row{INFO(MAX_WORK_GROUP_SIZE), number_size<PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE, 1>},
    Row{INFO(MAX_WORK_GROUPS_3D), &max_work_groups_3d},
    Row{INFO(MAX_WORK_GROUPS), &max_work_groups},
    Row{INFO(HALF_FP_CONFIG), &fp_config<0>},
    Row{INFO(SINGLE_FP_CONFIG), &fp_config<1>},
    Row{INFO(DOUBLE_FP_CONFIG), &fp_config<2>},
    Row{INFO(QUEUE_PROPERTIES), &queue_properties},
    Row{INFO(QUEUE_ON_HOST_PROPERTIES), &queue_properties},
    Row{INFO(QUEUE_ON_DEVICE_PROPERTIES), zero},
    Row{INFO(PREFERRED_VECTOR_WIDTH_CHAR), vector_width<PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 0>},
    Row{INFO(PREFERRED_VECTOR_WIDTH_SHORT),
        vector_width<PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 1>},
    Row{INFO(PREFERRED_VECTOR_WIDTH_INT), vector_width<PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 2>},
    Row{INFO(PREFERRED_VECTOR_WIDTH_LONG), vector_width<PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 3>},
    Row{INFO(PREFERRED_VECTOR_WIDTH_LONG_LONG),
        vector_width<PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 3>},
    Row{INFO(PREFERRED_VECTOR_WIDTH_FLOAT),
        vector_width<PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 4>},
    Row{INFO(PREFERRED_VECTOR_WIDTH_DOUBLE),
        vector_width<PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 5>},
    Row{INFO(PREFERRED_VECTOR_WIDTH_HALF), vector_width<PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 6>},
    Row{INFO(NATIVE_VECTOR_WIDTH_CHAR), vector_width<PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 0>},
    Row{INFO(NATIVE_VECTOR_WIDTH_SHORT), vector_width<PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 1>},
    Row{INFO(NATIVE_VECTOR_WIDTH_INT), vector_width<PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 2>},
    Row{INFO(NATIVE_VECTOR_WIDTH_LONG), vector_width<PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 3>},
    Row{INFO(NATIVE_VECTOR_WIDTH_LONG_LONG), vector_width<PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 3>},
    Row{INFO(NATIVE_VECTOR_WIDTH_FLOAT), vector_width<PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 4>},
    Row{INFO(NATIVE_VECTOR_WIDTH_DOUBLE), vector_width<PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 5>},
    Row{INFO(NATIVE_VECTOR_WIDTH_HALF), vector_width<PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 6>},
    Row{INFO(MAX_CLOCK_FREQUENCY), number_32<PI_DEVICE_INFO_CLOCK_RATE, 0>},
    Row{INFO(MEMORY_CLOCK_RATE), &optional_32<PI_DEVICE_INFO_MEMORY_CLOCK_RATE>},
    Row{INFO(MEMORY_BUS_WIDTH), &optional_32<PI_DEVICE_INFO_MEMORY_BUS_WIDTH>},
    Row{INFO(ADDRESS_BITS), number_32<PI_DEVICE_INFO_ADDRESS_BITS, 64>},
    Row{INFO(MAX_MEM_ALLOC_SIZE), number_64<PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, 0>},
    Row{INFO(IMAGE_SUPPORT), flag<PI_DEVICE_INFO_IMAGES>},
    Row{INFO(MAX_READ_IMAGE_ARGS), number_32<PI_DEVICE_INFO_MAX_READ_IMAGE_ARGUMENTS, 0>},
    Row{INFO(MAX_WRITE_IMAGE_ARGS), number_32<PI_DEVICE_INFO_MAX_WRITE_IMAGE_ARGUMENTS, 0>},
    Row{INFO(MAX_READ_WRITE_IMAGE_ARGS), &optional_32<PI_DEVICE_INFO_MAX_WRITE_IMAGE_ARGUMENTS>},
    Row{INFO(IMAGE2D_MAX_WIDTH),
        &element<size_t, uint64_t, PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE, 2, 0, 0U>},
    Row{INFO(IMAGE2D_MAX_HEIGHT),
        &element<size_t, uint64_t, PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE, 2, 1, 0U>},
    Row{INFO(IMAGE3D_MAX_WIDTH),
        &element<size_t, uint64_t, PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE, 3, 0, 0U>},
    Row{INFO(IMAGE3D_MAX_HEIGHT),
        &element<size_t, uint64_t, PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE, 3, 1, 0U>},
    Row{INFO(IMAGE3D_MAX_DEPTH),
        &element<size_t, uint64_t, PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE, 3, 2, 0U>},
    Row{INFO(IMAGE_MAX_BUFFER_SIZE), number_size<PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE, 0>},
    Row{INFO(IMAGE_MAX_ARRAY_SIZE), number_size<PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE, 0>},
    Row{INFO(IMAGE_SRGB), no},
    Row{INFO(MAX_SAMPLERS), number_32<PI_DEVICE_INFO_MAX_SAMPLERS, 0>},
    Row{INFO(MAX_PARAMETER_SIZE), number_size<PI_DEVICE_INFO_MAX_PARAMETER_SIZE, 1024>},
    Row{INFO(MEM_BASE_ADDR_ALIGN), &mem_base_address_alignment},
    Row{INFO(GLOBAL_MEM_CACHE_TYPE),
        &number<ur_device_mem_cache_type_t, uint32_t, PI_DEVICE_INFO_CACHE_TYPE, PI_CACHE_NONE>},
    Row{INFO(GLOBAL_MEM_CACHELINE_SIZE), number_32<PI_DEVICE_INFO_CACHE_LINE_SIZE, 0>},
    Row{INFO(GLOBAL_MEM_CACHE_SIZE), number_64<PI_DEVICE_INFO_CACHE_SIZE, 0>},
    Row{INFO(GLOBAL_MEM_SIZE), number_64<PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, 0>},
    Row{INFO(MAX_CONSTANT_BUFFER_SIZE), number_64<PI_DEVICE_INFO_MAX_CONSTANT_SIZE, 65536>},
    Row{INFO(MAX_CONSTANT_ARGS), number_32<PI_DEVICE_INFO_MAX_CONSTANT_ARGUMENTS, 8>},
    Row{INFO(LOCAL_MEM_TYPE), &number<ur_device_local_mem_type_t, uint32_t,
                                      PI_DEVICE_INFO_LOCAL_MEMORY_TYPE, PI_LOCAL_MEMORY_DEDICATED>},
    Row{INFO(LOCAL_MEM_SIZE), number_64<PI_DEVICE_INFO_LOCAL_MEMORY_SIZE, 0>},
    Row{INFO(ERROR_CORRECTION_SUPPORT), flag<PI_DEVICE_INFO_ERROR_CORRECTION>},
    Row{INFO(HOST_UNIFIED_MEMORY), &host_unified_memory},
    Row{INFO(IS_INTEGRATED_GPU), &is_integrated_gpu},
    Row{INFO(PROFILING_TIMER_RESOLUTION), number_size<PI_DEVICE_INFO_TIMER_RESOLUTION, 1>},
    Row{INFO(ENDIAN_LITTLE), yes},
    Row{INFO(AVAILABLE), yes},
    Row{INFO(COMPILER_AVAILABLE), &capability<PI_CAPABILITY_PROGRAM>},
    Row{INFO(LINKER_AVAILABLE), &capability<PI_CAPABILITY_PROGRAM_LINK>},
    Row{INFO(EXECUTION_CAPABILITIES),
        &constant<ur_device_exec_capability_flags_t{UR_DEVICE_EXEC_CAPABILITY_FLAG_KERNEL}>},
    Row{INFO(BUILT_IN_KERNELS), [](const Device &) { return text_of(""); }},
    Row{INFO(PLATFORM), &platform},
    Row{INFO(PARENT_DEVICE), &parent},
    Row{INFO(IL_VERSION), &text<PI_DEVICE_INFO_IL_VERSIONS>},
    Row{INFO(NAME), &text<PI_DEVICE_INFO_NAME>},
    Row{INFO(VENDOR), &text<PI_DEVICE_INFO_VENDOR>},
    Row{INFO(DRIVER_VERSION), &text<PI_DEVICE_INFO_DRIVER_VERSION>},
    Row{INFO(PROFILE), [](const Device &) { return text_of("FULL_PROFILE"); }},
    Row{INFO(VERSION), &text<PI_DEVICE_INFO_VERSION>},
    Row{INFO(BACKEND_RUNTIME_VERSION), &text<PI_DEVICE_INFO_VERSION>},
    Row{INFO(EXTENSIONS), &extensions},
    Row{INFO(PRINTF_BUFFER_SIZE), number_size<PI_DEVICE_INFO_MAX_PRINTF_SIZE, 0>},
    Row{INFO(PREFERRED_INTEROP_USER_SYNC), yes},
    Row{INFO(SUPPORTED_PARTITIONS), &supported_partitions},
    Row{INFO(PARTITION_MAX_SUB_DEVICES), &max_sub_devices},
    Row{INFO(PARTITION_AFFINITY_DOMAIN), &affinity_domains},
    Row{INFO(PARTITION_TYPE), &partition_type},
    Row{INFO(MAX_NUM_SUB_GROUPS), number_32<PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT, 0>},
    Row{INFO(SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS),
        flag<PI_DEVICE_INFO_SUB_GROUP_INDEPENDENT_PROGRESS>},
    Row{INFO(SUB_GROUP_SIZES_INTEL),
        [](const Device &device) {
            return list_of(pi_info_list<uint32_t, piDeviceGetInfo>(device.device,
                                                                   PI_DEVICE_INFO_SUB_GROUP_SIZES));
        }},
    Row{INFO(USM_HOST_SUPPORT), &usm_access<0, PI_USM_HOST>},
    Row{INFO(USM_DEVICE_SUPPORT), &usm_access<1, PI_USM_DEVICE>},
    Row{INFO(USM_SINGLE_SHARED_SUPPORT), &usm_access<2, PI_USM_SHARED>},
    Row{INFO(USM_CROSS_SHARED_SUPPORT), &usm_access<3, 0>},
    Row{INFO(USM_SYSTEM_SHARED_SUPPORT), &usm_access<4, 0>},
    Row{INFO(USM_POOL_SUPPORT), &capability<PI_CAPABILITY_USM_POOL>},
    // Served, but DPC++ would then take the memory of the context's first device for device globals
    // of all its devices.
    Row{INFO(USM_CONTEXT_MEMCPY_SUPPORT_EXP), no},
    Row{INFO(USM_HOST_ALLOC_REGISTER_SUPPORT_EXP), &capability<PI_CAPABILITY_USM_REGISTER>},
    Row{INFO(ASYNC_USM_ALLOCATIONS_SUPPORT_EXP), &capability<PI_CAPABILITY_USM_ASYNC>},
    Row{INFO(UUID), &uuid},
    Row{INFO(LUID), &luid},
    Row{INFO(PCI_ADDRESS), &pci_address},
    Row{INFO(BUILD_ON_SUBDEVICE), yes},
    Row{INFO(ATOMIC_64), flag<PI_DEVICE_INFO_ATOMIC_64>},
    Row{INFO(ATOMIC_MEMORY_ORDER_CAPABILITIES), &memory_orders<PI_DEVICE_INFO_ATOMIC_CAPABILITIES>},
    Row{INFO(ATOMIC_MEMORY_SCOPE_CAPABILITIES), &memory_scopes<PI_DEVICE_INFO_ATOMIC_CAPABILITIES>},
    Row{INFO(ATOMIC_FENCE_ORDER_CAPABILITIES), &memory_orders<PI_DEVICE_INFO_FENCE_CAPABILITIES>},
    Row{INFO(ATOMIC_FENCE_SCOPE_CAPABILITIES), &memory_scopes<PI_DEVICE_INFO_FENCE_CAPABILITIES>},
    Row{INFO(MAX_COMPUTE_QUEUE_INDICES), &constant<uint32_t{1}>},
    Row{INFO(KERNEL_SET_SPECIALIZATION_CONSTANTS), no},
    Row{INFO(PROGRAM_SET_SPECIALIZATION_CONSTANTS), &capability<PI_CAPABILITY_SPECIALIZATION>},
    Row{INFO(GLOBAL_VARIABLE_SUPPORT), &capability<PI_CAPABILITY_DEVICE_GLOBALS>},
    Row{INFO(USE_NATIVE_ASSERT), &native_assert},
    Row{INFO(KERNEL_LAUNCH_CAPABILITIES), &launch_capabilities},
    Row{INFO(COMPONENT_DEVICES), &empty},
    Row{INFO(TIMESTAMP_RECORDING_SUPPORT_EXP), &capability<PI_CAPABILITY_TIMESTAMP>},
    Row{INFO(ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP), &capability<PI_CAPABILITY_NATIVE>},
    Row{INFO(ENQUEUE_HOST_TASK_SUPPORT_EXP), &capability<PI_CAPABILITY_HOST_FUNCTION>},
    Row{INFO(MULTI_DEVICE_COMPILE_SUPPORT_EXP), &capability<PI_CAPABILITY_PROGRAM>},
    Row{INFO(COMMAND_BUFFER_SUPPORT_EXP), yes},
    Row{INFO(COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP), &constant<every_update>},
    Row{INFO(COMMAND_BUFFER_EVENT_SUPPORT_EXP), no},
    Row{INFO(COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP), no},
    Row{INFO(ASYNC_BARRIER), no},
    Row{INFO(MEM_CHANNEL_SUPPORT), no},
    Row{INFO(HOST_PIPE_READ_WRITE_SUPPORT), no},
    Row{INFO(VIRTUAL_MEMORY_SUPPORT), no},
    Row{INFO(ESIMD_SUPPORT), no},
    Row{INFO(BFLOAT16_CONVERSIONS_NATIVE), no},
    Row{INFO(BINDLESS_IMAGES_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_IMAGES_SHARED_USM_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_IMAGES_1D_USM_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_IMAGES_2D_USM_SUPPORT_EXP), no},
    Row{INFO(MIPMAP_SUPPORT_EXP), no},
    Row{INFO(MIPMAP_ANISOTROPY_SUPPORT_EXP), no},
    Row{INFO(MIPMAP_LEVEL_REFERENCE_SUPPORT_EXP), no},
    Row{INFO(EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP), no},
    Row{INFO(EXTERNAL_SEMAPHORE_IMPORT_SUPPORT_EXP), no},
    Row{INFO(CUBEMAP_SUPPORT_EXP), no},
    Row{INFO(CUBEMAP_SEAMLESS_FILTERING_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_SAMPLED_IMAGE_FETCH_1D_USM_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_SAMPLED_IMAGE_FETCH_1D_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_SAMPLED_IMAGE_FETCH_2D_USM_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_SAMPLED_IMAGE_FETCH_2D_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_SAMPLED_IMAGE_FETCH_3D_SUPPORT_EXP), no},
    Row{INFO(IMAGE_ARRAY_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_UNIQUE_ADDRESSING_PER_DIM_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_SAMPLE_1D_USM_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_SAMPLE_2D_USM_SUPPORT_EXP), no},
    Row{INFO(BINDLESS_IMAGES_GATHER_SUPPORT_EXP), no},
    Row{INFO(LOW_POWER_EVENTS_SUPPORT_EXP), no},
    Row{INFO(2D_BLOCK_ARRAY_CAPABILITIES_EXP), zero},
    Row{INFO(IPC_MEMORY_SUPPORT_EXP), no},
    Row{INFO(IPC_PHYSICAL_MEMORY_SUPPORT_EXP), no},
    Row{INFO(IPC_EVENT_SUPPORT_EXP), no},
    Row{INFO(REUSABLE_EVENTS_SUPPORT_EXP), no},
    Row{INFO(CLOCK_SUB_GROUP_SUPPORT_EXP), no},
    Row{INFO(CLOCK_WORK_GROUP_SUPPORT_EXP), no},
    Row{INFO(CLOCK_DEVICE_SUPPORT_EXP), no},
    Row{INFO(GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP), no},
    Row{INFO(PER_EVENT_PROFILING_SUPPORT_EXP), no},
    Row{INFO(USM_P2P_SUPPORT_EXP), no},
    Row{INFO(DEVICE_WAIT_SUPPORT_EXP), no},
    Row{INFO(DYNAMIC_LINK_SUPPORT_EXP), no},
    Row{INFO(MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP), no},
};
#undef INFO

Answer answer_for(ur_device_info_t name) {
    const auto found = std::find_if(device_infos.begin(), device_infos.end(),
                                    [name](const Row &row) { return row.name == name; });
    return found == device_infos.end() ? nullptr : found->answer;
}

} // namespace

ur_result_t UR_APICALL urDeviceGetInfo(ur_device_handle_t handle, ur_device_info_t name,
                                       size_t size, void *value, size_t *out_size) {
    return boundary([&] {
        Device &device = deref(handle);
        const InfoAnswer answer(size, value, out_size);
        // These two change.
        if (name == UR_DEVICE_INFO_REFERENCE_COUNT) {
            return answer(device.references.load());
        }
        if (name == UR_DEVICE_INFO_GLOBAL_MEM_FREE) {
            const auto free = ask<uint64_t>(device, PI_DEVICE_INFO_FREE_MEMORY);
            return free ? answer(*free) : unknown_info(name);
        }
        const Value &known = device.infos.get(name, [&] {
            const Answer row = answer_for(name);
            return row != nullptr ? row(device) : (unknown_info(name), Value());
        });
        answer.bytes(known.data(), known.size());
    });
}

} // namespace pi::unified_runtime
