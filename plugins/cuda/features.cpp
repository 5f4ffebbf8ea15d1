// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "features.hpp"
#include "image.hpp"
#include "primary.hpp"

#include <algorithm>
#include <array>

namespace pi::cuda {

using namespace sdk;

namespace {

using FeatureRow = InfoRow<Device>;

[[noreturn]] void not_reported(const Device &device, const char *what) {
    fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), ": CUDA does not report ", what);
}

template <class T, auto Value>
void constant(Device &, const InfoWriter &write) {
    write(static_cast<T>(Value));
}

/// An attribute, divided; 0 means that the driver does not know it.
template <class T, CUdevice_attribute Attribute, int Divisor = 1>
void write_attribute(Device &device, const InfoWriter &write) {
    const int value = device.attribute(Attribute) / Divisor;
    if (value <= 0)
        not_reported(device, "this attribute of the device");
    write(static_cast<T>(value));
}

constexpr uint32_t vendor_id = 0x10de;

/// The attribute has the device's id in its upper half and the vendor's in its lower one.
void write_device_id(Device &device, const InfoWriter &write) {
    const auto both =
        static_cast<uint32_t>(device.attribute(CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID));
    if ((both & 0xffff) != vendor_id)
        not_reported(device, "its PCI device id; newer drivers do");
    write(both >> 16);
}

/// The driver answers in a context only; creating the primary one takes some time.
void write_free_memory(Device &device, const InfoWriter &write) {
    const std::shared_ptr<Primary> primary = device.primary();
    const Current current(*primary);
    size_t available = 0, total = 0;
    primary->check(device.api().cuMemGetInfo_v2(&available, &total), "cuMemGetInfo_v2");
    write(std::min<uint64_t>(available, device.memory_size()));
}

bool has_half(const Device &device) {
    return device.compute_capability() >= 53;
}

/// Its threads are scalar.
void write_widths(Device &device, const InfoWriter &write) {
    write(std::array<uint32_t, 7>{1, 1, 1, 1, 1, 1, has_half(device)});
}

/// From the CUDA programming guide: "Floating-Point Standard", and the functions of each type.
void write_fp_configs(Device &device, const InfoWriter &write) {
    constexpr uint32_t half = PI_FP_DENORMALS | PI_FP_INF_NAN | PI_FP_ROUND_TO_NEAREST | PI_FP_FMA;
    constexpr uint32_t others = half | PI_FP_ROUND_TO_ZERO | PI_FP_ROUND_TO_INF;
    write(std::array{has_half(device) ? half : uint32_t{0},
                     others | PI_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, others});
}

constexpr uint32_t all_orders = PI_ATOMIC_ORDER_RELAXED | PI_ATOMIC_ORDER_ACQUIRE |
                                PI_ATOMIC_ORDER_RELEASE | PI_ATOMIC_ORDER_ACQUIRE_RELEASE |
                                PI_ATOMIC_ORDER_SEQUENTIALLY_CONSISTENT;
constexpr uint32_t scopes_of_device = PI_ATOMIC_SCOPE_WORK_ITEM | PI_ATOMIC_SCOPE_SUB_GROUP |
                                      PI_ATOMIC_SCOPE_WORK_GROUP | PI_ATOMIC_SCOPE_DEVICE;

/// PTX has the orders and scopes of its memory model from compute capability 7.0 on; before,
/// atomic operations are relaxed, those of the system's scope from 6.0 on.
void write_atomics(Device &device, const InfoWriter &write) {
    const int capability = device.compute_capability();
    write((capability >= 70 ? all_orders : uint32_t{PI_ATOMIC_ORDER_RELAXED}) | scopes_of_device |
          (capability >= 60 ? uint32_t{PI_ATOMIC_SCOPE_SYSTEM} : 0u));
}

void write_usm_access(Device &device, const InfoWriter &write) {
    constexpr uint32_t own = PI_USM_ACCESS | PI_USM_ACCESS_ATOMIC;
    constexpr uint32_t with_others = own | PI_USM_ACCESS_CONCURRENT;
    const auto atomic_if = [](bool condition) {
        return condition ? uint32_t{PI_USM_ACCESS_CONCURRENT_ATOMIC} : 0u;
    };
    const bool native = device.attribute(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED) != 0;
    // Managed memory moves to the processor that accesses it, whose atomics are then its own.
    const uint32_t shared = device.usm_kinds() & 1u << PI_USM_SHARED
                                ? with_others | atomic_if(device.compute_capability() >= 60)
                                : 0u;
    write(std::array{with_others | atomic_if(native), own, shared, shared,
                     device.reads_pageable() ? with_others | atomic_if(native) : 0u});
}

/// CUDA 12.1 raised the limit of 4 KiB for devices from compute capability 7.0 on.
void write_parameter_size(Device &device, const InfoWriter &write) {
    const bool large = device.api().version() >= 12010 && device.compute_capability() >= 70;
    write(uint64_t{large ? 32764u : 4096u});
}

void write_image_array_size(Device &device, const InfoWriter &write) {
    write(std::min(image_limits(device, PI_IMAGE_1D_ARRAY).layers,
                   image_limits(device, PI_IMAGE_2D_ARRAY).layers));
}

constexpr FeatureRow features[] = {
    {PI_DEVICE_INFO_VENDOR_ID, constant<uint32_t, vendor_id>},
    {PI_DEVICE_INFO_DEVICE_ID, write_device_id},
    // Rates in kHz.
    {PI_DEVICE_INFO_CLOCK_RATE, write_attribute<uint32_t, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000>},
    {PI_DEVICE_INFO_MEMORY_CLOCK_RATE,
     write_attribute<uint32_t, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000>},
    {PI_DEVICE_INFO_MEMORY_BUS_WIDTH,
     write_attribute<uint32_t, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH>},
    {PI_DEVICE_INFO_FREE_MEMORY, write_free_memory},
    {PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, write_widths},
    {PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, write_widths},
    {PI_DEVICE_INFO_FP_CONFIGS, write_fp_configs},
    {PI_DEVICE_INFO_CACHE_SIZE, write_attribute<uint64_t, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE>},
    {PI_DEVICE_INFO_CACHE_TYPE, constant<uint32_t, PI_CACHE_READ_WRITE>},
    {PI_DEVICE_INFO_LOCAL_MEMORY_TYPE, constant<uint32_t, PI_LOCAL_MEMORY_DEDICATED>},
    {PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT,
     [](Device &d, const InfoWriter &write) {
         write(static_cast<uint32_t>((d.max_group() + d.warp() - 1) / d.warp()));
     }},
    // From 7.0 on a warp is scheduled whatever other warps do.
    {PI_DEVICE_INFO_SUB_GROUP_INDEPENDENT_PROGRESS,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.compute_capability() >= 70}); }},
    {PI_DEVICE_INFO_ATOMIC_64,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.compute_capability() >= 35}); }},
    {PI_DEVICE_INFO_ATOMIC_CAPABILITIES, write_atomics},
    // __threadfence and its relatives are sequentially consistent on all devices.
    {PI_DEVICE_INFO_FENCE_CAPABILITIES,
     constant<uint32_t, all_orders | scopes_of_device | PI_ATOMIC_SCOPE_SYSTEM>},
    {PI_DEVICE_INFO_USM_ACCESS, write_usm_access},
    {PI_DEVICE_INFO_MAX_PARAMETER_SIZE, write_parameter_size},
    {PI_DEVICE_INFO_MAX_CONSTANT_SIZE,
     write_attribute<uint64_t, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY>},
    {PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE, write_image_array_size},
    {PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE,
     [](Device &d, const InfoWriter &write) { write(view_limits(d, PI_IMAGE_1D).size_2d[0]); }},
    {PI_DEVICE_INFO_IL_VERSIONS, [](Device &, const InfoWriter &write) { write(""); }},
    {PI_DEVICE_INFO_ERROR_CORRECTION,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{d.attribute(CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0});
     }},
    {PI_DEVICE_INFO_MAX_GRID_SIZES,
     [](Device &d, const InfoWriter &write) { write(d.max_groups()); }},
    {PI_DEVICE_INFO_PARTITION_KIND, constant<pi_partition_kind, 0>},
    {PI_DEVICE_INFO_MAX_SUB_DEVICES, constant<uint32_t, 0>},
};

} // namespace

std::span<const InfoRow<Device>> feature_rows() {
    return features;
}

} // namespace pi::cuda
