// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "fixture.hpp"
#include "kernels.hpp"
#include "registry.hpp"

#include <bit>
#include <chrono>
#include <set>
#include <thread>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("device", "the devices of a platform are a list, and always the same") {
    const auto ask = [&](uint32_t capacity, pi_device *out, uint32_t *count) {
        return piDevicesGet(fixture.platform(), PI_DEVICE_TYPE_ALL, capacity, out, count);
    };
    const auto first = check_list<pi_device>("piDevicesGet", ask);
    require(first == check_list<pi_device>("piDevicesGet", ask),
            "piDevicesGet reports other devices on the second call");
    require_equal(std::set<pi_device>(first.begin(), first.end()).size(), first.size(),
                  "how many of the devices differ");
    require_equal(std::count(first.begin(), first.end(), fixture.device()), 1,
                  "how often the list has the device under test");
}

CONFORMANCE_TEST("device", "a list by type has the devices of that type, and may be empty") {
    std::size_t all = 0;
    for (const pi_device_type type : {PI_DEVICE_TYPE_CPU, PI_DEVICE_TYPE_GPU,
                                      PI_DEVICE_TYPE_ACCELERATOR, PI_DEVICE_TYPE_OTHER}) {
        const auto devices = check_list<pi_device>(
            join("piDevicesGet of type ", type),
            [&](uint32_t capacity, pi_device *out, uint32_t *count) {
                return piDevicesGet(fixture.platform(), type, capacity, out, count);
            });
        for (const pi_device device : devices)
            require_equal(get_info<pi_device_type>(&piDeviceGetInfo, device, PI_DEVICE_INFO_TYPE),
                          type, "the type of a device in the list of that type");
        all += devices.size();
    }
    require_equal(all, fixture.devices().size(), "how many devices the lists of all types have");
}

CONFORMANCE_TEST("device", "no type bits select all devices, and an unknown bit selects none") {
    const auto list = [&](pi_device_type types) {
        return check_list<pi_device>(join("piDevicesGet of types ", types),
                                     [&](uint32_t capacity, pi_device *out, uint32_t *count) {
                                         return piDevicesGet(fixture.platform(), types, capacity,
                                                             out, count);
                                     });
    };
    const auto all = list(PI_DEVICE_TYPE_ALL);
    require(list(0) == all, "piDevicesGet of types 0 reports other devices than of all types");
    constexpr pi_device_type unknown = UINT32_C(1) << 30;
    require(list(unknown).empty(), "a device is of a type that there is not");
    const auto own =
        get_info<pi_device_type>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_TYPE);
    require(list(own | unknown) == list(own), "a bit that no type has changes the list");
}

CONFORMANCE_TEST("device", "a device answers every info name by its type") {
    check_info(
        "piDeviceGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piDeviceGetInfo(fixture.device(), name, size, value, out_size);
        },
        device_info_names());
}

CONFORMANCE_TEST("device", "a root device has one type, its platform and no parent") {
    const pi_device device = fixture.device();
    const auto type = get_info<pi_device_type>(&piDeviceGetInfo, device, PI_DEVICE_INFO_TYPE);
    require(std::has_single_bit(type) && (type & PI_DEVICE_TYPE_ALL) == type,
            "PI_DEVICE_INFO_TYPE is ", type, ", should be one bit of PI_DEVICE_TYPE_ALL");
    require(get_info<pi_device>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PARENT) == nullptr,
            "PI_DEVICE_INFO_PARENT of a root device is not NULL");
    require(!get_info_list<char>(&piDeviceGetInfo, device, PI_DEVICE_INFO_NAME).empty(),
            "PI_DEVICE_INFO_NAME is empty");
}

CONFORMANCE_TEST("device", "a device's identities are its own and never zero") {
    const pi_device device = fixture.device();
    struct Identity {
        pi_device_info name;
        const char *text;
    };
    for (const Identity identity :
         {Identity{PI_DEVICE_INFO_UUID, "UUID"}, Identity{PI_DEVICE_INFO_LUID, "LUID"},
          Identity{PI_DEVICE_INFO_PCI_ADDRESS, "PCI address"}}) {
        uint64_t size = 0;
        const pi_result asked = piDeviceGetInfo(device, identity.name, 0, nullptr, &size);
        if (asked == PI_ERROR_UNSUPPORTED_FEATURE)
            continue;
        require_success(asked, "the size of the ", identity.text);
        const auto bytes = get_info_list<unsigned char>(&piDeviceGetInfo, device, identity.name);
        require(std::any_of(bytes.begin(), bytes.end(), [](unsigned char b) { return b != 0; }),
                "the ", identity.text, " is all zeros, should be PI_ERROR_UNSUPPORTED_FEATURE");
        require(bytes == get_info_list<unsigned char>(&piDeviceGetInfo, device, identity.name),
                "the ", identity.text, " differs on the second call");
    }
}

CONFORMANCE_TEST("device", "devices with one UUID have one LUID and one PCI address, too") {
    const auto identity = [](pi_device device, pi_device_info name) {
        uint64_t size = 0;
        return piDeviceGetInfo(device, name, 0, nullptr, &size) == PI_SUCCESS
                   ? get_info_list<unsigned char>(&piDeviceGetInfo, device, name)
                   : std::vector<unsigned char>();
    };
    const auto mine = identity(fixture.device(), PI_DEVICE_INFO_UUID);
    if (mine.empty())
        skip("the device has no UUID");
    for (const pi_device other : fixture.devices()) {
        if (identity(other, PI_DEVICE_INFO_UUID) != mine)
            continue;
        for (const pi_device_info name : {PI_DEVICE_INFO_LUID, PI_DEVICE_INFO_PCI_ADDRESS}) {
            const auto here = identity(fixture.device(), name), there = identity(other, name);
            require(here.empty() || there.empty() || here == there,
                    "two devices with one UUID differ in information ", name);
        }
    }
}

CONFORMANCE_TEST("device", "a device's capabilities are some of its plugin's") {
    const auto plugin =
        get_info<uint64_t>(&piPluginGetInfo, fixture.plugin(), PI_PLUGIN_INFO_CAPABILITIES);
    require((fixture.capabilities() & ~plugin) == 0, "the device has capabilities ",
            fixture.capabilities(), ", the plugin only ", plugin);
}

CONFORMANCE_TEST("device", "the limits of a device agree with each other") {
    const pi_device device = fixture.device();
    const auto global =
        info_or<uint64_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, UINT64_MAX);
    const auto largest =
        info_or<uint64_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, global);
    require(largest <= global, "the largest allocation has ", largest,
            " bytes, more than the device's memory of ", global);
    require(largest > 0, "PI_DEVICE_INFO_MAX_ALLOCATION_SIZE is 0");
    require(info_or<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_COMPUTE_UNITS, 1) > 0,
            "PI_DEVICE_INFO_COMPUTE_UNITS is 0");
    const auto bits = info_or<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_ADDRESS_BITS, 64);
    require(bits == 32 || bits == 64, "PI_DEVICE_INFO_ADDRESS_BITS is ", bits);
    for (const pi_device_info flag :
         {PI_DEVICE_INFO_FP16, PI_DEVICE_INFO_FP64, PI_DEVICE_INFO_IMAGES,
          PI_DEVICE_INFO_HOST_POINTER_IMPORT, PI_DEVICE_INFO_INTEGRATED})
        require(info_or<uint32_t>(&piDeviceGetInfo, device, flag, 0) <= 1, "device info ", flag,
                " is not 0 or 1");
    const auto alignment =
        info_or<uint64_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT, 1);
    require(std::has_single_bit(alignment), "PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT is ", alignment,
            ", no power of two");
    if (fixture.can(PI_CAPABILITY_IMAGE))
        require_equal(info_or<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_IMAGES, 1), 1u,
                      "PI_DEVICE_INFO_IMAGES of a device with PI_CAPABILITY_IMAGE");
}

CONFORMANCE_TEST("device",
                 "the channels of reads and writes are few, each listed once, none of them 0") {
    for (const pi_device_info name :
         {PI_DEVICE_INFO_HOST_READ_CHANNELS, PI_DEVICE_INFO_HOST_WRITE_CHANNELS}) {
        uint64_t size = 0;
        const pi_result asked = piDeviceGetInfo(fixture.device(), name, 0, nullptr, &size);
        if (asked == PI_ERROR_UNSUPPORTED_FEATURE)
            continue;
        require_success(asked, "the size of info ", name);
        const auto reported = get_info_list<uint64_t>(&piDeviceGetInfo, fixture.device(), name);
        const std::string what = name == PI_DEVICE_INFO_HOST_READ_CHANNELS
                                     ? "PI_DEVICE_INFO_HOST_READ_CHANNELS"
                                     : "PI_DEVICE_INFO_HOST_WRITE_CHANNELS";
        require(reported.size() <= PI_CONNECTION_MAX_CHANNELS, what, " reports ", reported.size(),
                ", at most PI_CONNECTION_MAX_CHANNELS are known");
        const std::set<uint64_t> channels(reported.begin(), reported.end());
        require_equal(channels.size(), reported.size(), what + ": how many are different");
        require(!channels.contains(0), what, " reports 0");
        require(reported == get_info_list<uint64_t>(&piDeviceGetInfo, fixture.device(), name), what,
                " differs on the second call");
    }
}

CONFORMANCE_TEST("device", "a device that runs programs reports their formats and group sizes") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const pi_device device = fixture.device();
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PROGRAM_FORMATS);
    require(formats != 0, "PI_DEVICE_INFO_PROGRAM_FORMATS is empty");
    require((formats & ~0x1FEu) == 0, "PI_DEVICE_INFO_PROGRAM_FORMATS is ", formats,
            ", with bits that are no format");
    const auto group =
        get_info<uint64_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    const auto items =
        get_info<Size3>(&piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES);
    require(group >= 1, "PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE is 0");
    for (const uint64_t axis : items)
        require(axis >= 1, "PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES has an axis of 0");
}

CONFORMANCE_TEST("device", "the memory scopes are a list, and scope 0 is ordinary memory") {
    const auto scopes = check_list<pi_memory_scope>(
        "piDeviceGetMemoryScopes", [&](uint32_t capacity, pi_memory_scope *out, uint32_t *count) {
            return piDeviceGetMemoryScopes(fixture.device(), capacity, out, count);
        });
    require(!scopes.empty(), "the device has no memory scope, should have scope 0");
    std::set<std::string> names;
    for (const pi_memory_scope &scope : scopes) {
        require(std::memchr(scope.name, 0, sizeof scope.name) != nullptr,
                "a scope's name does not end");
        require(scope.name[0] != '\0', "a scope has no name");
        require(names.insert(scope.name).second, "two scopes are called \"", scope.name, "\"");
        for (const uint64_t alignment : {scope.min_alignment, scope.offset_alignment})
            require(std::has_single_bit(alignment), "scope ", scope.name, ": the alignment ",
                    alignment, " is no power of two");
        require(scope.flush_atom >= 1, "scope ", scope.name, ": flush_atom is 0");
        for (const uint64_t word : scope.reserved)
            require(word == 0, "scope ", scope.name, ": a reserved word is ", word);
        require(scope.capacity == 0 || scope.max_allocation <= scope.capacity, "scope ", scope.name,
                ": max_allocation is more than its capacity");
    }
}

CONFORMANCE_TEST("device", "retaining and releasing a root device changes nothing") {
    const std::vector<pi_device> before = fixture.devices();
    for (int round = 0; round < 3; ++round)
        require_success(piDeviceRetain(fixture.device()), "piDeviceRetain");
    // Also more often than retained: it lives as long as its plugin.
    for (int round = 0; round < 5; ++round)
        require_success(piDeviceRelease(fixture.device()), "piDeviceRelease");
    const Mem mem = fixture.make_buffer(64);
    require(fixture.devices() == before, "piDevicesGet reports other devices");
}

CONFORMANCE_TEST("device",
                 "the clocks of device and host go forward, the host's being CLOCK_MONOTONIC") {
    fixture.need(PI_CAPABILITY_TIMESTAMP, "PI_CAPABILITY_TIMESTAMP");
    uint64_t device_time = 0;
    uint64_t host_time = 0;
    const auto read_steady = [] {
        return static_cast<uint64_t>(
            std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
    };
    for (int round = 0; round < 10; ++round) {
        uint64_t device_now = 0;
        uint64_t host_now = 0;
        const uint64_t before = read_steady();
        require_success(piDeviceGetGlobalTimestamps(fixture.device(), &device_now, &host_now),
                        "piDeviceGetGlobalTimestamps");
        require(device_now >= device_time, "the device's clock went back from ", device_time,
                " to ", device_now);
        require(host_now >= host_time, "the host's clock went back from ", host_time, " to ",
                host_now);
        device_time = device_now;
        host_time = host_now;
        const uint64_t after = read_steady();
        require(before <= host_time && host_time <= after, "the host's time is ", host_time,
                ", but CLOCK_MONOTONIC was ", before, " before the call and ", after, " after it");
    }
    require_success(piDeviceGetGlobalTimestamps(fixture.device(), nullptr, &host_time),
                    "piDeviceGetGlobalTimestamps without the device's time");
    require_success(piDeviceGetGlobalTimestamps(fixture.device(), &device_time, nullptr),
                    "piDeviceGetGlobalTimestamps without the host's time");
}

CONFORMANCE_TEST("device", "the device's clock counts nanoseconds, as the host's does") {
    fixture.need(PI_CAPABILITY_TIMESTAMP, "PI_CAPABILITY_TIMESTAMP");
    if (get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND) ==
        PI_BACKEND_SIMULATED)
        skip("the device is simulated, and so is its time");
    using Clock = std::chrono::steady_clock;
    struct Reading {
        Clock::time_point before;
        uint64_t device;
        Clock::time_point after;
    };
    const auto read = [&] {
        Reading reading{Clock::now(), 0, {}};
        require_success(piDeviceGetGlobalTimestamps(fixture.device(), &reading.device, nullptr),
                        "piDeviceGetGlobalTimestamps");
        reading.after = Clock::now();
        return reading;
    };
    const Reading begin = read();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const Reading end = read();
    const auto nanoseconds = [](Clock::duration time) {
        return static_cast<double>(std::chrono::nanoseconds(time).count());
    };
    // However slow the machine is, it lies between these.
    const double least = nanoseconds(end.before - begin.after);
    const double most = nanoseconds(end.after - begin.before);
    const auto passed = static_cast<double>(end.device - begin.device);
    require(0.8 * least <= passed && passed <= 1.2 * most, "the device's clock went ", passed,
            " on while the host's went between ", least, " and ", most);
}

CONFORMANCE_TEST("device", "a device without a clock has no times and no timestamp command") {
    if (fixture.can(PI_CAPABILITY_TIMESTAMP))
        skip("the device has a clock");
    require_untouched<uint64_t>(
        "piDeviceGetGlobalTimestamps", {PI_ERROR_UNSUPPORTED_FEATURE},
        [&](uint64_t *out) { return piDeviceGetGlobalTimestamps(fixture.device(), out, nullptr); });
    const Queue queue = fixture.make_queue();
    require_untouched<pi_event>(
        "piEnqueueTimestamp", {PI_ERROR_UNSUPPORTED_FEATURE},
        [&](pi_event *out) { return try_enqueue(queue, pi::desc<pi_timestamp_desc>(), {}, out); });
}

CONFORMANCE_TEST("device",
                 "the image chosen among a program's images has a format that the device runs") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    const auto good = static_cast<uint32_t>(std::countr_zero(formats));
    constexpr uint32_t unknown = 31;
    constexpr const char *targets[] = {"",      "opencl_c", "spirv64", "cuda_c", "ptx",
                                       "cubin", "binary",   "native",  "native"};
    const pi_program_binary binaries[] = {{"no_such_target", unknown, 0},
                                          {targets[good < 9 ? good : 0], good, 0}};
    uint32_t index = poison<uint32_t>();
    const pi_result chosen = piDeviceSelectBinary(fixture.device(), 2, binaries, &index);
    if (chosen == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the plugin does not have piDeviceSelectBinary");
    const bool named = good == PI_PROGRAM_FORMAT_OPENCL_C || good == PI_PROGRAM_FORMAT_SPIRV ||
                       good >= PI_PROGRAM_FORMAT_NATIVE_TABLE;
    if (chosen == PI_ERROR_INVALID_BINARY && !named)
        skip("pi.h does not name the target of the device's format");
    require_success(chosen, "piDeviceSelectBinary");
    require_equal(index, 1u, "the image that piDeviceSelectBinary has chosen");
    index = poison<uint32_t>();
    const pi_result none = piDeviceSelectBinary(fixture.device(), 1, binaries, &index);
    require(none != PI_SUCCESS, "piDeviceSelectBinary took an image of an unknown format");
    require_equal(index, poison<uint32_t>(), "the index after piDeviceSelectBinary has failed");
}

} // namespace
} // namespace pi::suite
