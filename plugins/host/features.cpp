// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "features.hpp"
#include "image.hpp"
#include "partition.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace pi::host {

using sdk::InfoWriter;

namespace {

[[noreturn]] void not_known(const Device &device, const char *what) {
    sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, device.description(), ": ", what, " is not known");
}

template <class T, auto Value>
void fixed(Device &, const InfoWriter &write) {
    write(static_cast<T>(Value));
}

/// The ids of PCI-SIG for the vendors of processors, by their name in CPUID.
void write_vendor_id(Device &device, const InfoWriter &write) {
    constexpr struct {
        const char *name;
        uint32_t id;
    } vendors[] = {{"GenuineIntel", 0x8086}, {"AuthenticAMD", 0x1022}};
    for (const auto &vendor : vendors)
        if (device.node().cpu_vendor == vendor.name)
            return write(vendor.id);
    not_known(device, "the PCI id of the processor's vendor");
}

void write_clock_rate(Device &device, const InfoWriter &write) {
    const uint32_t rate = device.topology().clock_rate(device.cores());
    if (!rate)
        not_known(device, "the processors' highest clock rate");
    write(rate);
}

void write_free_memory(Device &device, const InfoWriter &write) {
    const std::optional<uint64_t> bytes = device.topology().free_memory(device.node());
    if (!bytes)
        not_known(device, "the node's free memory");
    write(std::min(*bytes, device.node().capacity ? device.node().capacity : *bytes));
}

/// Bytes of the processor's vectors of integers and of floating-point numbers; 0: not known.
struct VectorBytes {
    uint32_t integers, floats;
    bool fma;
};
VectorBytes vector_bytes() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    return {avx512                           ? 64u
            : __builtin_cpu_supports("avx2") ? 32u
                                             : 16u,
            __builtin_cpu_supports("avx512f") ? 64u
            : __builtin_cpu_supports("avx")   ? 32u
                                              : 16u,
            __builtin_cpu_supports("fma") != 0};
#elif defined(__aarch64__)
    return {16, 16, true};
#else
    return {0, 0, false};
#endif
}

void write_widths(Device &device, const InfoWriter &write) {
    const VectorBytes bytes = vector_bytes();
    if (!bytes.integers)
        not_known(device, "the size of the processor's vectors");
    write(std::array<uint32_t, 7>{bytes.integers, bytes.integers / 2, bytes.integers / 4,
                                  bytes.integers / 8, bytes.floats / 4, bytes.floats / 8, 0});
}

void write_fp_configs(Device &device, const InfoWriter &write) {
    const VectorBytes bytes = vector_bytes();
    if (!bytes.floats || !std::numeric_limits<double>::is_iec559)
        not_known(device, "how the processor computes");
    const uint32_t config = PI_FP_DENORMALS | PI_FP_INF_NAN | PI_FP_ROUND_TO_NEAREST |
                            PI_FP_ROUND_TO_ZERO | PI_FP_ROUND_TO_INF |
                            PI_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT |
                            (bytes.fma ? uint32_t{PI_FP_FMA} : 0u);
    write(std::array<uint32_t, 3>{0, config, config});
}

void write_cache_size(Device &device, const InfoWriter &write) {
    const uint64_t size = device.topology().last_cache(device.cores()).size;
    if (!size)
        not_known(device, "the size of the processors' caches");
    write(size);
}

void write_cache_line(Device &device, const InfoWriter &write) {
    const uint32_t line = device.topology().last_cache(device.cores()).line;
    if (!std::has_single_bit(line))
        not_known(device, "the size of a cache line");
    write(line);
}

constexpr uint32_t all_access = PI_USM_ACCESS | PI_USM_ACCESS_ATOMIC | PI_USM_ACCESS_CONCURRENT |
                                PI_USM_ACCESS_CONCURRENT_ATOMIC;
/// Native kernels have the processor's atomics.
constexpr uint32_t all_atomics =
    PI_ATOMIC_ORDER_RELAXED | PI_ATOMIC_ORDER_ACQUIRE | PI_ATOMIC_ORDER_RELEASE |
    PI_ATOMIC_ORDER_ACQUIRE_RELEASE | PI_ATOMIC_ORDER_SEQUENTIALLY_CONSISTENT |
    PI_ATOMIC_SCOPE_WORK_ITEM | PI_ATOMIC_SCOPE_SUB_GROUP | PI_ATOMIC_SCOPE_WORK_GROUP |
    PI_ATOMIC_SCOPE_DEVICE | PI_ATOMIC_SCOPE_SYSTEM;

constexpr sdk::InfoRow<Device> features[] = {
    {PI_DEVICE_INFO_VENDOR_ID, write_vendor_id},
    {PI_DEVICE_INFO_CLOCK_RATE, write_clock_rate},
    {PI_DEVICE_INFO_FREE_MEMORY, write_free_memory},
    {PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, write_widths},
    {PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, write_widths},
    {PI_DEVICE_INFO_FP_CONFIGS, write_fp_configs},
    {PI_DEVICE_INFO_CACHE_SIZE, write_cache_size},
    {PI_DEVICE_INFO_CACHE_LINE_SIZE, write_cache_line},
    {PI_DEVICE_INFO_CACHE_TYPE, fixed<uint32_t, PI_CACHE_READ_WRITE>},
    {PI_DEVICE_INFO_LOCAL_MEMORY_TYPE, fixed<uint32_t, PI_LOCAL_MEMORY_GLOBAL>},
    // A sub-group is one work-item, and one thread runs those of a work-group in turn.
    {PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT, fixed<uint32_t, max_work_group_size>},
    {PI_DEVICE_INFO_SUB_GROUP_INDEPENDENT_PROGRESS, fixed<uint32_t, 0>},
    {PI_DEVICE_INFO_ATOMIC_64, fixed<uint32_t, 1>},
    {PI_DEVICE_INFO_ATOMIC_CAPABILITIES, fixed<uint32_t, all_atomics>},
    {PI_DEVICE_INFO_FENCE_CAPABILITIES, fixed<uint32_t, all_atomics>},
    {PI_DEVICE_INFO_USM_ACCESS,
     [](Device &, const InfoWriter &write) {
         write(std::array{all_access, all_access, all_access, all_access, all_access});
     }},
    {PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE, fixed<uint64_t, image_limits.layers>},
    {PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE, fixed<uint64_t, image_limits.size_2d[0]>},
    {PI_DEVICE_INFO_IL_VERSIONS, [](Device &, const InfoWriter &write) { write(""); }},
    {PI_DEVICE_INFO_PARTITION_KIND,
     [](Device &d, const InfoWriter &write) { write(d.partition_kind()); }},
    {PI_DEVICE_INFO_MAX_SUB_DEVICES,
     [](Device &d, const InfoWriter &write) {
         write(partition_kinds(d) ? d.concurrency() : uint32_t{0});
     }},
};

} // namespace

std::span<const sdk::InfoRow<Device>> feature_rows() {
    return features;
}

} // namespace pi::host
