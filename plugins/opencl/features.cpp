// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "features.hpp"
#include "image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <sstream>

namespace pi::opencl {

using namespace sdk;

namespace {

using FeatureRow = InfoRow<Device>;

[[noreturn]] void not_reported(const Device &device, cl_device_info name) {
    fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not report it (clGetDeviceInfo 0x",
         std::hex, name, ')');
}

/// Unsupported if the driver does not know the name. Names of an extension or of a later version
/// need a check before: some drivers crash on them.
template <class T>
T feature(const Device &device, cl_device_info name) {
    T value{};
    const cl_int code =
        device.api().clGetDeviceInfo(device.id(), name, sizeof value, &value, nullptr);
    if (code == CL_INVALID_VALUE)
        not_reported(device, name);
    check(code, "clGetDeviceInfo", device.name());
    return value;
}

/// A number, of which 0 means that the driver does not know it.
template <class Value, class Vendors, cl_device_info Name>
void write_number(Device &device, const InfoWriter &write) {
    const auto value = feature<Vendors>(device, Name);
    if (!value)
        not_reported(device, Name);
    write(static_cast<Value>(value));
}

/// A value for which PI and OpenCL have the same numbers.
template <class Vendors, cl_device_info Name>
void write_same(Device &device, const InfoWriter &write) {
    write(static_cast<uint32_t>(feature<Vendors>(device, Name)));
}

/// A limit that only a device with images has.
template <class Value, class Vendors, cl_device_info Name>
void write_image_limit(Device &device, const InfoWriter &write) {
    require_images(device);
    write_number<Value, Vendors, Name>(device, write);
}

bool has_half(const Device &device) {
    return device.has_extension("cl_khr_fp16");
}
bool has_double(const Device &device) {
    return device.get<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
}

/// The names of char, short, int, long, float, double and half, in this order.
using WidthNames = std::array<cl_device_info, 7>;
constexpr WidthNames preferred_widths{
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR,  CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT,   CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF};
constexpr WidthNames native_widths{
    CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,  CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_INT,   CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF};

template <const WidthNames &names>
void write_widths(Device &device, const InfoWriter &write) {
    std::array<uint32_t, names.size()> widths{};
    for (size_t i = 0; i < widths.size(); ++i)
        widths[i] = feature<cl_uint>(device, names[i]);
    // Whatever a driver reports for types that the device does not have.
    if (!has_double(device))
        widths[5] = 0;
    if (!has_half(device))
        widths[6] = 0;
    write(widths);
}

static_assert(PI_FP_DENORMALS == CL_FP_DENORM && PI_FP_INF_NAN == CL_FP_INF_NAN &&
              PI_FP_ROUND_TO_NEAREST == CL_FP_ROUND_TO_NEAREST &&
              PI_FP_ROUND_TO_ZERO == CL_FP_ROUND_TO_ZERO &&
              PI_FP_ROUND_TO_INF == CL_FP_ROUND_TO_INF && PI_FP_FMA == CL_FP_FMA &&
              PI_FP_SOFT_FLOAT == CL_FP_SOFT_FLOAT &&
              PI_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT == CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);

void write_fp_configs(Device &device, const InfoWriter &write) {
    constexpr cl_device_fp_config known = 2 * CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT - 1;
    const auto config = [&](cl_device_info name) {
        return static_cast<uint32_t>(feature<cl_device_fp_config>(device, name) & known);
    };
    write(std::array{has_half(device) ? config(CL_DEVICE_HALF_FP_CONFIG) : uint32_t{0},
                     config(CL_DEVICE_SINGLE_FP_CONFIG), config(CL_DEVICE_DOUBLE_FP_CONFIG)});
}

static_assert(PI_CACHE_NONE == CL_NONE && PI_CACHE_READ_ONLY == CL_READ_ONLY_CACHE &&
              PI_CACHE_READ_WRITE == CL_READ_WRITE_CACHE);
static_assert(PI_LOCAL_MEMORY_NONE == CL_NONE && PI_LOCAL_MEMORY_DEDICATED == CL_LOCAL &&
              PI_LOCAL_MEMORY_GLOBAL == CL_GLOBAL);

void write_cache_size(Device &device, const InfoWriter &write) {
    if (feature<cl_device_mem_cache_type>(device, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE) == CL_NONE)
        return write(uint64_t{0});
    write_number<uint64_t, cl_ulong, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>(device, write);
}

void write_cache_line(Device &device, const InfoWriter &write) {
    const auto bytes = feature<cl_uint>(device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
    if (!std::has_single_bit(bytes))
        not_reported(device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
    write(uint32_t{bytes});
}

template <class Vendors, cl_device_info Name>
void write_of_sub_groups(Device &device, const InfoWriter &write) {
    if (!device.il().core_sub_groups)
        not_reported(device, Name);
    write(static_cast<uint32_t>(feature<Vendors>(device, Name)));
}

constexpr uint32_t all_orders = PI_ATOMIC_ORDER_RELAXED | PI_ATOMIC_ORDER_ACQUIRE |
                                PI_ATOMIC_ORDER_RELEASE | PI_ATOMIC_ORDER_ACQUIRE_RELEASE |
                                PI_ATOMIC_ORDER_SEQUENTIALLY_CONSISTENT;
constexpr uint32_t scopes_of_device = PI_ATOMIC_SCOPE_WORK_ITEM | PI_ATOMIC_SCOPE_SUB_GROUP |
                                      PI_ATOMIC_SCOPE_WORK_GROUP | PI_ATOMIC_SCOPE_DEVICE;

/// OpenCL has no bit for the scope of sub-groups, which are parts of a work-group.
uint32_t to_pi(cl_device_atomic_capabilities theirs) {
    constexpr struct {
        cl_device_atomic_capabilities theirs;
        uint32_t pi;
    } bits[] = {
        {CL_DEVICE_ATOMIC_ORDER_RELAXED, PI_ATOMIC_ORDER_RELAXED},
        {CL_DEVICE_ATOMIC_ORDER_ACQ_REL,
         PI_ATOMIC_ORDER_ACQUIRE | PI_ATOMIC_ORDER_RELEASE | PI_ATOMIC_ORDER_ACQUIRE_RELEASE},
        {CL_DEVICE_ATOMIC_ORDER_SEQ_CST, PI_ATOMIC_ORDER_SEQUENTIALLY_CONSISTENT},
        {CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM, PI_ATOMIC_SCOPE_WORK_ITEM},
        {CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP, PI_ATOMIC_SCOPE_SUB_GROUP | PI_ATOMIC_SCOPE_WORK_GROUP},
        {CL_DEVICE_ATOMIC_SCOPE_DEVICE, PI_ATOMIC_SCOPE_DEVICE},
        {CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES, PI_ATOMIC_SCOPE_SYSTEM},
    };
    uint32_t mask = 0;
    for (const auto &bit : bits)
        if (theirs & bit.theirs)
            mask |= bit.pi;
    return mask;
}

/// OpenCL 3.0 has a query; 2.x requires them all, and 1.x has one kind only, of unspecified order.
template <cl_device_info Name>
void write_atomics(Device &device, const InfoWriter &write) {
    const unsigned version = device.version();
    if (version >= 300)
        return write(to_pi(feature<cl_device_atomic_capabilities>(device, Name)));
    if (version < 200)
        not_reported(device, Name);
    write(all_orders | scopes_of_device |
          (device.usm().own[PI_USM_SHARED] & CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL
               ? uint32_t{PI_ATOMIC_SCOPE_SYSTEM}
               : 0u));
}

// OpenCL's bits are PI's.
static_assert(PI_USM_ACCESS == CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL);
static_assert(PI_USM_ACCESS_ATOMIC == CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL);
static_assert(PI_USM_ACCESS_CONCURRENT == CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL);
static_assert(PI_USM_ACCESS_CONCURRENT_ATOMIC ==
              CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL);

void write_usm_access(Device &device, const InfoWriter &write) {
    constexpr cl_bitfield all = PI_USM_ACCESS | PI_USM_ACCESS_ATOMIC | PI_USM_ACCESS_CONCURRENT |
                                PI_USM_ACCESS_CONCURRENT_ATOMIC;
    const UsmAccess &usm = device.usm();
    std::array<uint32_t, 5> access{};
    const std::array bits{usm.own[PI_USM_HOST], usm.own[PI_USM_DEVICE], usm.own[PI_USM_SHARED],
                          usm.others[PI_USM_SHARED], usm.system};
    std::transform(bits.begin(), bits.end(), access.begin(),
                   [](cl_bitfield each) { return static_cast<uint32_t>(each & all); });
    write(access);
}

/// Drivers end their lists with a space, or have two between names.
std::string single_spaced(const std::string &list) {
    std::istringstream words(list);
    std::string all;
    for (std::string word; words >> word;)
        all += all.empty() ? word : ' ' + word;
    return all;
}

void write_il_versions(Device &device, const InfoWriter &write) {
    write(device.il().create_program ? single_spaced(device.get_text(CL_DEVICE_IL_VERSION))
                                     : std::string());
}

/// The ids that vendors' extensions report. Intel's is that of PCI for GPUs only.
void write_device_id(Device &device, const InfoWriter &write) {
    constexpr cl_device_info device_id_intel = 0x4251; // CL_DEVICE_ID_INTEL
    constexpr cl_device_info pcie_id_amd = 0x4034;     // CL_DEVICE_PCIE_ID_AMD
    const auto name = device.has_extension("cl_intel_device_attribute_query") ? device_id_intel
                      : device.has_extension("cl_amd_device_attribute_query") ? pcie_id_amd
                                                                              : 0;
    const auto id = name ? feature<cl_uint>(device, name) : 0;
    if (!id || device.type() != PI_DEVICE_TYPE_GPU)
        not_reported(device, device_id_intel);
    write(uint32_t{id});
}

void write_max_sub_devices(Device &device, const InfoWriter &write) {
    write(device.partition_kinds() ? feature<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES)
                                   : uint32_t{0});
}

constexpr FeatureRow features[] = {
    {PI_DEVICE_INFO_VENDOR_ID, write_number<uint32_t, cl_uint, CL_DEVICE_VENDOR_ID>},
    {PI_DEVICE_INFO_DEVICE_ID, write_device_id},
    {PI_DEVICE_INFO_CLOCK_RATE, write_number<uint32_t, cl_uint, CL_DEVICE_MAX_CLOCK_FREQUENCY>},
    {PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, write_widths<preferred_widths>},
    {PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, write_widths<native_widths>},
    {PI_DEVICE_INFO_FP_CONFIGS, write_fp_configs},
    {PI_DEVICE_INFO_CACHE_SIZE, write_cache_size},
    {PI_DEVICE_INFO_CACHE_LINE_SIZE, write_cache_line},
    {PI_DEVICE_INFO_CACHE_TYPE,
     write_same<cl_device_mem_cache_type, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE>},
    {PI_DEVICE_INFO_LOCAL_MEMORY_TYPE,
     write_same<cl_device_local_mem_type, CL_DEVICE_LOCAL_MEM_TYPE>},
    {PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT,
     write_of_sub_groups<cl_uint, CL_DEVICE_MAX_NUM_SUB_GROUPS>},
    {PI_DEVICE_INFO_SUB_GROUP_INDEPENDENT_PROGRESS,
     write_of_sub_groups<cl_bool, CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS>},
    {PI_DEVICE_INFO_ATOMIC_64,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{d.has_extension("cl_khr_int64_base_atomics") &&
                        d.has_extension("cl_khr_int64_extended_atomics")});
     }},
    {PI_DEVICE_INFO_ATOMIC_CAPABILITIES, write_atomics<CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES>},
    {PI_DEVICE_INFO_FENCE_CAPABILITIES, write_atomics<CL_DEVICE_ATOMIC_FENCE_CAPABILITIES>},
    {PI_DEVICE_INFO_USM_ACCESS, write_usm_access},
    {PI_DEVICE_INFO_MAX_PARAMETER_SIZE,
     write_number<uint64_t, size_t, CL_DEVICE_MAX_PARAMETER_SIZE>},
    {PI_DEVICE_INFO_MAX_CONSTANT_SIZE,
     write_number<uint64_t, cl_ulong, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE>},
    {PI_DEVICE_INFO_MAX_CONSTANT_ARGUMENTS,
     write_number<uint32_t, cl_uint, CL_DEVICE_MAX_CONSTANT_ARGS>},
    {PI_DEVICE_INFO_MAX_READ_IMAGE_ARGUMENTS,
     write_image_limit<uint32_t, cl_uint, CL_DEVICE_MAX_READ_IMAGE_ARGS>},
    {PI_DEVICE_INFO_MAX_WRITE_IMAGE_ARGUMENTS,
     write_image_limit<uint32_t, cl_uint, CL_DEVICE_MAX_WRITE_IMAGE_ARGS>},
    {PI_DEVICE_INFO_MAX_SAMPLERS, write_image_limit<uint32_t, cl_uint, CL_DEVICE_MAX_SAMPLERS>},
    {PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE,
     write_image_limit<uint64_t, size_t, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE>},
    {PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE,
     write_image_limit<uint64_t, size_t, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE>},
    {PI_DEVICE_INFO_IL_VERSIONS, write_il_versions},
    {PI_DEVICE_INFO_EXTENSIONS,
     [](Device &d, const InfoWriter &write) {
         write(single_spaced(d.get_text(CL_DEVICE_EXTENSIONS)));
     }},
    {PI_DEVICE_INFO_ERROR_CORRECTION, write_same<cl_bool, CL_DEVICE_ERROR_CORRECTION_SUPPORT>},
    {PI_DEVICE_INFO_MAX_PRINTF_SIZE, write_number<uint64_t, size_t, CL_DEVICE_PRINTF_BUFFER_SIZE>},
    {PI_DEVICE_INFO_PARTITION_KIND,
     [](Device &d, const InfoWriter &write) { write(d.partition_kind()); }},
    {PI_DEVICE_INFO_MAX_SUB_DEVICES, write_max_sub_devices},
};

} // namespace

std::span<const InfoRow<Device>> feature_rows() {
    return features;
}

} // namespace pi::opencl
