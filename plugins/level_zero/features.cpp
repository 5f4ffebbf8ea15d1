// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "features.hpp"
#include "image.hpp"

#include <algorithm>
#include <array>

namespace pi::level_zero {

using namespace sdk;

namespace {

using FeatureRow = InfoRow<Device>;

[[noreturn]] void not_reported(const Device &device, const char *what) {
    fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not report its ", what);
}

/// A number, of which 0 means that the driver does not know it.
template <class T>
void write_number(const Device &device, const InfoWriter &write, uint64_t value, const char *what) {
    if (!value)
        not_reported(device, what);
    write(static_cast<T>(value));
}

uint32_t fp_config(ze_device_fp_flags_t theirs) {
    constexpr struct {
        ze_device_fp_flags_t theirs;
        uint32_t pi;
    } bits[] = {
        {ZE_DEVICE_FP_FLAG_DENORM, PI_FP_DENORMALS},
        {ZE_DEVICE_FP_FLAG_INF_NAN, PI_FP_INF_NAN},
        {ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST, PI_FP_ROUND_TO_NEAREST},
        {ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO, PI_FP_ROUND_TO_ZERO},
        {ZE_DEVICE_FP_FLAG_ROUND_TO_INF, PI_FP_ROUND_TO_INF},
        {ZE_DEVICE_FP_FLAG_FMA, PI_FP_FMA},
        {ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT, PI_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT},
        {ZE_DEVICE_FP_FLAG_SOFT_FLOAT, PI_FP_SOFT_FLOAT},
    };
    uint32_t config = 0;
    for (const auto &bit : bits)
        if (theirs & bit.theirs)
            config |= bit.pi;
    return config;
}

void write_fp_configs(Device &device, const InfoWriter &write) {
    const ze_device_module_properties_t &modules = device.modules();
    const auto of = [&](ze_device_module_flag_t has, ze_device_fp_flags_t flags) {
        return modules.flags & has ? fp_config(flags) : uint32_t{0};
    };
    write(std::array{of(ZE_DEVICE_MODULE_FLAG_FP16, modules.fp16flags),
                     fp_config(modules.fp32flags),
                     of(ZE_DEVICE_MODULE_FLAG_FP64, modules.fp64flags)});
}

/// The largest of the device's caches is its last one.
void write_cache_size(Device &device, const InfoWriter &write) {
    uint64_t largest = 0;
    if (!device.api().zeDeviceGetCacheProperties)
        not_reported(device, "cache's size");
    for (const auto &cache :
         ask_list("zeDeviceGetCacheProperties",
                  typed<ze_device_cache_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES),
                  [&](uint32_t *count, ze_device_cache_properties_t *items) {
                      return device.api().zeDeviceGetCacheProperties(device.id(), count, items);
                  }))
        largest = std::max<uint64_t>(largest, cache.cacheSize);
    write_number<uint64_t>(device, write, largest, "cache's size");
}

/// Shared local memory of GPUs is memory of their cores.
void write_local_memory_type(Device &device, const InfoWriter &write) {
    if (device_type(device) != PI_DEVICE_TYPE_GPU)
        not_reported(device, "kind of work-group memory");
    write(uint32_t{device.compute().maxSharedLocalMemory ? PI_LOCAL_MEMORY_DEDICATED
                                                         : PI_LOCAL_MEMORY_NONE});
}

void write_max_sub_group_count(Device &device, const InfoWriter &write) {
    const ze_device_compute_properties_t &compute = device.compute();
    const auto *const sizes = compute.subGroupSizes;
    const auto *const end =
        sizes + std::min<uint32_t>(compute.numSubGroupSizes, ZE_SUBGROUPSIZE_COUNT);
    const auto *const least = std::min_element(sizes, end);
    if (least == end || !*least)
        not_reported(device, "sub-group sizes");
    write((compute.maxTotalGroupSize + *least - 1) / *least);
}

static_assert(int{PI_USM_ACCESS} == ZE_MEMORY_ACCESS_CAP_FLAG_RW &&
              int{PI_USM_ACCESS_ATOMIC} == ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC &&
              int{PI_USM_ACCESS_CONCURRENT} == ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT &&
              int{PI_USM_ACCESS_CONCURRENT_ATOMIC} == ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC);

void write_usm_access(Device &device, const InfoWriter &write) {
    const ze_device_memory_access_properties_t &access = device.access();
    const auto bits = [](ze_memory_access_cap_flags_t flags) {
        constexpr uint32_t known = 2 * PI_USM_ACCESS_CONCURRENT_ATOMIC - 1;
        return flags & ZE_MEMORY_ACCESS_CAP_FLAG_RW ? flags & known : uint32_t{0};
    };
    const bool shared = device.usm_kinds() & 1u << PI_USM_SHARED;
    write(std::array{bits(access.hostAllocCapabilities), bits(access.deviceAllocCapabilities),
                     bits(access.sharedSingleDeviceAllocCapabilities),
                     shared ? bits(access.sharedCrossDeviceAllocCapabilities) : uint32_t{0},
                     bits(access.sharedSystemAllocCapabilities)});
}

/// A limit that only a device with images has.
template <class T, auto Member>
void write_image_limit(Device &device, const InfoWriter &write) {
    require_images(device);
    write_number<T>(device, write, device.image_properties().*Member, "limits of images");
}

void write_il_versions(Device &device, const InfoWriter &write) {
    const uint32_t version = device.modules().spirvVersionSupported;
    write(version ? text("SPIR-V_", ZE_MAJOR_VERSION(version), '.', ZE_MINOR_VERSION(version))
                  : std::string());
}

void write_extensions(Device &device, const InfoWriter &write) {
    std::string all;
    for (const std::string &name : device.platform().extensions())
        all += all.empty() ? name : ' ' + name;
    write(all);
}

constexpr FeatureRow features[] = {
    {PI_DEVICE_INFO_VENDOR_ID,
     [](Device &d, const InfoWriter &write) {
         write_number<uint32_t>(d, write, d.properties().vendorId, "vendor's id");
     }},
    {PI_DEVICE_INFO_DEVICE_ID,
     [](Device &d, const InfoWriter &write) {
         write_number<uint32_t>(d, write, d.properties().deviceId, "device id");
     }},
    {PI_DEVICE_INFO_CLOCK_RATE,
     [](Device &d, const InfoWriter &write) {
         write_number<uint32_t>(d, write, d.properties().coreClockRate, "clock rate");
     }},
    {PI_DEVICE_INFO_MEMORY_CLOCK_RATE,
     [](Device &d, const InfoWriter &write) {
         write_number<uint32_t>(d, write, d.memory().maxClockRate, "memory's clock rate");
     }},
    {PI_DEVICE_INFO_MEMORY_BUS_WIDTH,
     [](Device &d, const InfoWriter &write) {
         write_number<uint32_t>(d, write, d.memory().maxBusWidth, "memory's bus width");
     }},
    {PI_DEVICE_INFO_FP_CONFIGS, write_fp_configs},
    {PI_DEVICE_INFO_CACHE_SIZE, write_cache_size},
    {PI_DEVICE_INFO_LOCAL_MEMORY_TYPE, write_local_memory_type},
    {PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT, write_max_sub_group_count},
    {PI_DEVICE_INFO_ATOMIC_64,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{(d.modules().flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) != 0});
     }},
    {PI_DEVICE_INFO_USM_ACCESS, write_usm_access},
    {PI_DEVICE_INFO_MAX_PARAMETER_SIZE,
     [](Device &d, const InfoWriter &write) {
         write_number<uint64_t>(d, write, d.modules().maxArgumentsSize, "arguments' size");
     }},
    {PI_DEVICE_INFO_MAX_READ_IMAGE_ARGUMENTS,
     write_image_limit<uint32_t, &ze_device_image_properties_t::maxReadImageArgs>},
    {PI_DEVICE_INFO_MAX_WRITE_IMAGE_ARGUMENTS,
     write_image_limit<uint32_t, &ze_device_image_properties_t::maxWriteImageArgs>},
    {PI_DEVICE_INFO_MAX_SAMPLERS,
     write_image_limit<uint32_t, &ze_device_image_properties_t::maxSamplers>},
    {PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE,
     write_image_limit<uint64_t, &ze_device_image_properties_t::maxImageArraySlices>},
    {PI_DEVICE_INFO_IL_VERSIONS, write_il_versions},
    {PI_DEVICE_INFO_EXTENSIONS, write_extensions},
    {PI_DEVICE_INFO_ERROR_CORRECTION,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{(d.properties().flags & ZE_DEVICE_PROPERTY_FLAG_ECC) != 0});
     }},
    {PI_DEVICE_INFO_MAX_GRID_SIZES,
     [](Device &d, const InfoWriter &write) {
         write(std::array<uint64_t, 3>{d.compute().maxGroupCountX, d.compute().maxGroupCountY,
                                       d.compute().maxGroupCountZ});
     }},
    {PI_DEVICE_INFO_MAX_PRINTF_SIZE,
     [](Device &d, const InfoWriter &write) {
         write_number<uint64_t>(d, write, d.modules().printfBufferSize, "buffer for printf");
     }},
    {PI_DEVICE_INFO_PARTITION_KIND,
     [](Device &d, const InfoWriter &write) {
         write(pi_partition_kind{d.parent() ? pi_partition_kind{PI_PARTITION_BY_HARDWARE} : 0u});
     }},
    {PI_DEVICE_INFO_MAX_SUB_DEVICES,
     [](Device &d, const InfoWriter &write) {
         write(static_cast<uint32_t>(d.sub_devices().size()));
     }},
};

} // namespace

std::span<const InfoRow<Device>> feature_rows() {
    return features;
}

} // namespace pi::level_zero
