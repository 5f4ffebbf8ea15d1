// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The infos of version 1.1, which runtimes above ask for: whether they agree with each other, and
// with the older ones. A device may leave each unsupported.

#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <array>
#include <bit>
#include <optional>

namespace pi::suite {
namespace {

/// Nothing if the device does not answer the query, or a plugin of 1.0 does not know it.
template <typename T>
std::optional<T> find_info(pi_device device, pi_device_info name) {
    T value{};
    const pi_result result = piDeviceGetInfo(device, name, sizeof value, &value, nullptr);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE || result == PI_ERROR_INVALID_ENUMERATION)
        return std::nullopt;
    require_success(result, info_named(&piDeviceGetInfo, name));
    return value;
}

std::optional<std::string> find_text(pi_device device, pi_device_info name) {
    uint64_t size = 0;
    if (piDeviceGetInfo(device, name, 0, nullptr, &size) != PI_SUCCESS)
        return std::nullopt;
    return get_info_list<char>(&piDeviceGetInfo, device, name).data();
}

std::string named(pi_device_info name) {
    return join(info_named(&piDeviceGetInfo, name));
}

template <typename T>
void require_between(pi_device device, pi_device_info name, T least, T most) {
    const auto value = find_info<T>(device, name);
    require(!value || (least <= *value && *value <= most), named(name), " is ", value.value_or(0),
            ", should be from ", least, " to ", most);
}

using Widths = std::array<uint32_t, 7>;

CONFORMANCE_TEST("device",
                 "rates, widths and limits that a device reports are numbers that can be") {
    const pi_device device = fixture.device();
    // An id of PCI has 16 bits.
    require_between<uint32_t>(device, PI_DEVICE_INFO_DEVICE_ID, 1, 0xFFFF);
    // 100 GHz, and more bits than any memory has.
    for (const pi_device_info name : {PI_DEVICE_INFO_CLOCK_RATE, PI_DEVICE_INFO_MEMORY_CLOCK_RATE})
        require_between<uint32_t>(device, name, 1, 100'000);
    require_between<uint32_t>(device, PI_DEVICE_INFO_MEMORY_BUS_WIDTH, 1, 1 << 20);
    for (const pi_device_info name :
         {PI_DEVICE_INFO_VENDOR_ID, PI_DEVICE_INFO_MAX_CONSTANT_ARGUMENTS,
          PI_DEVICE_INFO_MAX_READ_IMAGE_ARGUMENTS, PI_DEVICE_INFO_MAX_WRITE_IMAGE_ARGUMENTS,
          PI_DEVICE_INFO_MAX_SAMPLERS})
        require_between<uint32_t>(device, name, 1, UINT32_MAX);
    for (const pi_device_info name :
         {PI_DEVICE_INFO_MAX_PARAMETER_SIZE, PI_DEVICE_INFO_MAX_CONSTANT_SIZE,
          PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE, PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE,
          PI_DEVICE_INFO_MAX_PRINTF_SIZE})
        require_between<uint64_t>(device, name, 1, UINT64_MAX);
    for (const uint64_t axis :
         find_info<Size3>(device, PI_DEVICE_INFO_MAX_GRID_SIZES).value_or(Size3{1, 1, 1}))
        require(axis >= 1, "PI_DEVICE_INFO_MAX_GRID_SIZES has an axis of 0");
    for (const pi_device_info flag : {PI_DEVICE_INFO_SUB_GROUP_INDEPENDENT_PROGRESS,
                                      PI_DEVICE_INFO_ATOMIC_64, PI_DEVICE_INFO_ERROR_CORRECTION})
        require_between<uint32_t>(device, flag, 0, 1);
    const auto group =
        info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE, uint64_t{UINT32_MAX});
    require_between<uint32_t>(device, PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT, 1,
                              static_cast<uint32_t>(std::min<uint64_t>(group, UINT32_MAX)));
}

CONFORMANCE_TEST("device", "free memory is a part of the device's memory") {
    const pi_device device = fixture.device();
    const auto available = find_info<uint64_t>(device, PI_DEVICE_INFO_FREE_MEMORY);
    if (!available)
        skip("the device does not report its free memory");
    const auto all =
        info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, UINT64_MAX);
    require(*available <= all, "PI_DEVICE_INFO_FREE_MEMORY is ", *available,
            ", more than PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, ", all);
}

CONFORMANCE_TEST("device", "vectors and float types are those that the device has") {
    const pi_device device = fixture.device();
    const auto has = [&](pi_device_info name) { return find_info<uint32_t>(device, name); };
    const std::optional<uint32_t> half = has(PI_DEVICE_INFO_FP16), dbl = has(PI_DEVICE_INFO_FP64);
    const auto agree = [&](pi_device_info name, uint32_t value, const std::optional<uint32_t> &type,
                           const char *what) {
        require(!type || (value != 0) == (*type != 0), named(name), " has ", value, " for ", what,
                ", which the device ", type.value_or(0) != 0 ? "has" : "does not have");
    };
    for (const pi_device_info name :
         {PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS}) {
        const auto widths = find_info<Widths>(device, name);
        if (!widths)
            continue;
        constexpr uint32_t most = 4096; // elements
        for (std::size_t i = 0; i < widths->size(); ++i)
            require((*widths)[i] <= most && ((*widths)[i] >= 1 || i >= 5), named(name),
                    ": element ", i, " is ", (*widths)[i]);
        agree(name, (*widths)[5], dbl, "double");
        agree(name, (*widths)[6], half, "half");
    }
    constexpr uint32_t known = 2 * PI_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT - 1;
    const auto configs = find_info<std::array<uint32_t, 3>>(device, PI_DEVICE_INFO_FP_CONFIGS);
    if (!configs)
        return;
    for (const uint32_t config : *configs)
        require((config & ~known) == 0, "PI_DEVICE_INFO_FP_CONFIGS has ", hex(config),
                ", known are ", hex(known));
    agree(PI_DEVICE_INFO_FP_CONFIGS, (*configs)[0], half, "half");
    agree(PI_DEVICE_INFO_FP_CONFIGS, (*configs)[1], 1, "float");
    agree(PI_DEVICE_INFO_FP_CONFIGS, (*configs)[2], dbl, "double");
}

CONFORMANCE_TEST("device", "a device's cache and work-group memory are of a kind, with its size") {
    const pi_device device = fixture.device();
    const auto line = find_info<uint32_t>(device, PI_DEVICE_INFO_CACHE_LINE_SIZE);
    require(!line || (std::has_single_bit(*line) && *line <= 1 << 20),
            "PI_DEVICE_INFO_CACHE_LINE_SIZE is ", line.value_or(0),
            ", should be a power of two and no more than 1 MiB");
    require_between<uint32_t>(device, PI_DEVICE_INFO_CACHE_TYPE, PI_CACHE_NONE,
                              PI_CACHE_READ_WRITE);
    require_between<uint64_t>(device, PI_DEVICE_INFO_CACHE_SIZE, 0, uint64_t{1} << 40);
    require_between<uint32_t>(device, PI_DEVICE_INFO_LOCAL_MEMORY_TYPE, PI_LOCAL_MEMORY_NONE,
                              PI_LOCAL_MEMORY_GLOBAL);
    const auto consistent = [&](pi_device_info type, pi_device_info size) {
        const auto kind = find_info<uint32_t>(device, type);
        const auto bytes = find_info<uint64_t>(device, size);
        require(!kind || !bytes || (*kind == 0) == (*bytes == 0), named(type), " is ",
                kind.value_or(0), ", but ", named(size), " ", bytes.value_or(0));
    };
    consistent(PI_DEVICE_INFO_CACHE_TYPE, PI_DEVICE_INFO_CACHE_SIZE);
    consistent(PI_DEVICE_INFO_LOCAL_MEMORY_TYPE, PI_DEVICE_INFO_LOCAL_MEMORY_SIZE);
}

CONFORMANCE_TEST("device", "atomics and fences have some memory order and some scope") {
    constexpr uint32_t orders = 2 * PI_ATOMIC_ORDER_SEQUENTIALLY_CONSISTENT - 1;
    constexpr uint32_t scopes = (2 * PI_ATOMIC_SCOPE_SYSTEM - 1) & ~orders;
    for (const pi_device_info name :
         {PI_DEVICE_INFO_ATOMIC_CAPABILITIES, PI_DEVICE_INFO_FENCE_CAPABILITIES})
        if (const auto mask = find_info<uint32_t>(fixture.device(), name))
            require((*mask & ~(orders | scopes)) == 0 && (*mask & orders) != 0 &&
                        (*mask & scopes) != 0,
                    named(name), " is ", hex(*mask), "; orders are ", hex(orders), ", scopes ",
                    hex(scopes));
}

using Access = std::array<uint32_t, 5>;

CONFORMANCE_TEST("device", "a device accesses the kinds of USM that it has, and no other") {
    const auto access = find_info<Access>(fixture.device(), PI_DEVICE_INFO_USM_ACCESS);
    if (!access)
        skip("the device does not report how it accesses USM");
    constexpr uint32_t known = 2 * PI_USM_ACCESS_CONCURRENT_ATOMIC - 1;
    for (std::size_t i = 0; i < access->size(); ++i) {
        const uint32_t bits = (*access)[i];
        require((bits & ~known) == 0, "PI_DEVICE_INFO_USM_ACCESS: element ", i, " is ", hex(bits),
                ", known are ", hex(known));
        require(bits == 0 || (bits & PI_USM_ACCESS) != 0, "PI_DEVICE_INFO_USM_ACCESS: element ", i,
                " is ", hex(bits), ", without PI_USM_ACCESS");
    }
    const auto kinds = find_info<uint32_t>(fixture.device(), PI_DEVICE_INFO_USM_CAPABILITIES);
    if (!kinds)
        return;
    for (const pi_usm_kind kind : {PI_USM_HOST, PI_USM_DEVICE, PI_USM_SHARED}) {
        const bool has = (*kinds & 1u << kind) != 0;
        require_equal((*access)[kind - 1] != 0, has,
                      join("whether PI_DEVICE_INFO_USM_ACCESS has bits for kind ", kind,
                           ", as PI_DEVICE_INFO_USM_CAPABILITIES says,"));
    }
    require((*kinds & 1u << PI_USM_SHARED) != 0 || (*access)[3] == 0,
            "PI_DEVICE_INFO_USM_ACCESS has bits for other devices' memory of kind PI_USM_SHARED, "
            "which the device does not have");
}

CONFORMANCE_TEST("kernel",
                 "a kernel reads and writes memory that is not USM where the device reports it") {
    const auto access = find_info<Access>(fixture.device(), PI_DEVICE_INFO_USM_ACCESS);
    if (!access || ((*access)[4] & PI_USM_ACCESS) == 0)
        skip("the device's kernels do not access memory that is not USM");
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    std::vector<uint32_t> words(3000, 11);
    Arguments arguments;
    arguments.pointer(words.data()).value(uint32_t{31});
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, words.size());
    fixture.wait(fixture.enqueue(setup.queue, desc), "a launch on memory that is not USM");
    for (const uint32_t word : words)
        require_equal(word, 42u, "a word that a kernel has changed");
}

CONFORMANCE_TEST("device", "names of extensions and intermediate languages are lists of words") {
    const pi_device device = fixture.device();
    for (const pi_device_info name : {PI_DEVICE_INFO_IL_VERSIONS, PI_DEVICE_INFO_EXTENSIONS}) {
        const std::string list = find_text(device, name).value_or("");
        require(list.find("  ") == std::string::npos && !list.starts_with(' ') &&
                    !list.ends_with(' '),
                named(name), " is \"", list, "\", should have single spaces between names");
    }
    const auto versions = find_text(device, PI_DEVICE_INFO_IL_VERSIONS);
    const auto formats = find_info<uint32_t>(device, PI_DEVICE_INFO_PROGRAM_FORMATS);
    if (versions && formats)
        require_equal(versions->find("SPIR-V_") != std::string::npos,
                      (*formats & 1u << PI_PROGRAM_FORMAT_SPIRV) != 0,
                      "whether PI_DEVICE_INFO_IL_VERSIONS has SPIR-V, as "
                      "PI_DEVICE_INFO_PROGRAM_FORMATS says,");
}

CONFORMANCE_TEST("device", "a root device has no kind of partition, and a limit of its parts") {
    const pi_device device = fixture.device();
    require_between<pi_partition_kind>(device, PI_DEVICE_INFO_PARTITION_KIND, 0, 0);
    const auto most = find_info<uint32_t>(device, PI_DEVICE_INFO_MAX_SUB_DEVICES);
    const bool parts = kinds_of(device) != 0;
    require(!most || (*most != 0) == parts, "PI_DEVICE_INFO_MAX_SUB_DEVICES is ", most.value_or(0),
            parts ? "" : ", but PI_DEVICE_INFO_PARTITION_KINDS is 0");
    require(!most || *most <= 1 << 20, "PI_DEVICE_INFO_MAX_SUB_DEVICES is ", most.value_or(0));
}

CONFORMANCE_TEST("device",
                 "a sub-device reports the kind of its partition, which has no more parts "
                 "than the device reports") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device device = fixture.device();
    const auto most = find_info<uint32_t>(device, PI_DEVICE_INFO_MAX_SUB_DEVICES);
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &desc : ways(device, one)) {
        const Devices made = partition(device, desc);
        require(!most || made.size() <= *most, made.size(),
                " sub-devices, more than PI_DEVICE_INFO_MAX_SUB_DEVICES, ", most.value_or(0));
        const auto kind =
            find_info<pi_partition_kind>(made.front().get(), PI_DEVICE_INFO_PARTITION_KIND);
        require(!kind || *kind == desc.kind, "PI_DEVICE_INFO_PARTITION_KIND is ", kind.value_or(0),
                " of a sub-device from a partition of kind ", desc.kind);
    }
}

} // namespace
} // namespace pi::suite
