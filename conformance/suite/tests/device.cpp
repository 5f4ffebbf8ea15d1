// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "fixture.hpp"
#include "kernels.hpp"
#include "library.hpp"
#include "registry.hpp"
#include "second_loader.hpp"

#include <bit>
#include <chrono>
#include <filesystem>
#include <regex>
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
    // Two types at once, in the order of all devices.
    for (const pi_device_type other : {PI_DEVICE_TYPE_CPU, PI_DEVICE_TYPE_GPU,
                                       PI_DEVICE_TYPE_ACCELERATOR, PI_DEVICE_TYPE_OTHER}) {
        std::vector<pi_device> expected;
        for (const pi_device device : all)
            if ((get_info<pi_device_type>(&piDeviceGetInfo, device, PI_DEVICE_INFO_TYPE) &
                 (own | other)) != 0)
                expected.push_back(device);
        require(list(own | other) == expected, "piDevicesGet of the types ", own, " and ", other,
                " at once does not report the devices of both");
    }
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
    require(!text_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_NAME, "").empty(),
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

// Nothing if the device does not have it.
std::vector<unsigned char> identity(pi_device device, pi_device_info name) {
    uint64_t size = 0;
    return piDeviceGetInfo(device, name, 0, nullptr, &size) == PI_SUCCESS
               ? get_info_list<unsigned char>(&piDeviceGetInfo, device, name)
               : std::vector<unsigned char>();
}

constexpr pi_device_info identities[] = {PI_DEVICE_INFO_UUID, PI_DEVICE_INFO_LUID,
                                         PI_DEVICE_INFO_PCI_ADDRESS};

// Parts of one physical device, which have one PCI address, may have each their own UUID.
CONFORMANCE_TEST("device", "devices with one UUID have one LUID and one PCI address, too") {
    const auto mine = identity(fixture.device(), PI_DEVICE_INFO_UUID);
    for (const pi_device other : fixture.devices()) {
        if (mine.empty() || mine != identity(other, PI_DEVICE_INFO_UUID))
            continue;
        for (const pi_device_info name : identities) {
            const auto own = identity(fixture.device(), name), its = identity(other, name);
            require(own.empty() || its.empty() || own == its,
                    "two devices have one UUID, but not one ", info_named(&piDeviceGetInfo, name));
        }
    }
}

CONFORMANCE_TEST("device", "another instance of the plugin reports the same identities") {
    const SecondLoader second(fixture);
    uint32_t count = 0;
    const auto platform =
        get_info<pi_platform>(&piDeviceGetInfo, second.place().device, PI_DEVICE_INFO_PLATFORM);
    const auto plugin = get_info<pi_plugin>(&piPlatformGetInfo, platform, PI_PLATFORM_INFO_PLUGIN);
    std::vector<pi_device> others;
    require_success(piPlatformsGet(plugin, 0, nullptr, &count), "piPlatformsGet");
    std::vector<pi_platform> platforms(count);
    require_success(piPlatformsGet(plugin, count, platforms.data(), nullptr), "piPlatformsGet");
    for (const pi_platform one : platforms) {
        require_success(piDevicesGet(one, PI_DEVICE_TYPE_ALL, 0, nullptr, &count), "piDevicesGet");
        const std::size_t before = others.size();
        others.resize(before + count);
        require_success(
            piDevicesGet(one, PI_DEVICE_TYPE_ALL, count, others.data() + before, nullptr),
            "piDevicesGet");
    }
    for (const pi_device_info name : identities) {
        const auto mine = identity(fixture.device(), name);
        require(mine.empty() ||
                    std::any_of(others.begin(), others.end(),
                                [&](pi_device other) { return identity(other, name) == mine; }),
                info_named(&piDeviceGetInfo, name),
                " of the device is that of no device of another instance");
    }
}

CONFORMANCE_TEST("device", "a PCI address has the form 0000:c1:00.0") {
    const std::string address =
        text_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PCI_ADDRESS, "0000:c1:00.0");
    const std::regex form("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
    require(std::regex_match(address, form), "PI_DEVICE_INFO_PCI_ADDRESS is \"", address,
            "\", should have the form 0000:c1:00.0");
}

CONFORMANCE_TEST("device", "masks have no bits but those of the list, and no list is empty") {
    const pi_device device = fixture.device();
    const auto check = [&](pi_device_info name, auto known) {
        const auto mask = info_or(&piDeviceGetInfo, device, name, decltype(known){0});
        require((mask & ~known) == 0, info_named(&piDeviceGetInfo, name), " is ", hex(mask),
                ", known are ", hex(known));
        return mask;
    };
    check(PI_DEVICE_INFO_QUEUE_FLAGS, known_flags<pi_queue_desc>);
    check(PI_DEVICE_INFO_LAUNCH_FEATURES,
          uint32_t{PI_LAUNCH_FEATURE_GLOBAL_OFFSET | PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS |
                   PI_LAUNCH_FEATURE_CLUSTERS});
    constexpr uint32_t kinds = 1u << PI_USM_HOST | 1u << PI_USM_DEVICE | 1u << PI_USM_SHARED;
    const uint32_t usm =
        check(PI_DEVICE_INFO_USM_CAPABILITIES, fixture.can(PI_CAPABILITY_USM) ? kinds : 0u);
    require((usm != 0) == fixture.can(PI_CAPABILITY_USM), "PI_DEVICE_INFO_USM_CAPABILITIES is ",
            usm, ", which disagrees with PI_CAPABILITY_USM");
    const auto offsets = info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_BUFFER_OFFSET_MODE,
                                 uint32_t{PI_BUFFER_OFFSET_POINTER});
    require(offsets != 0, "PI_DEVICE_INFO_BUFFER_OFFSET_MODE is 0");
    check(PI_DEVICE_INFO_BUFFER_OFFSET_MODE,
          uint32_t{PI_BUFFER_OFFSET_POINTER | PI_BUFFER_OFFSET_SUB_BUFFER});
    for (const pi_device_info name :
         {PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, PI_DEVICE_INFO_EXPORT_HANDLE_TYPES})
        check(name, (2u << PI_EXTERNAL_ZE_IPC) - 2);
    uint64_t size = 1;
    for (const pi_device_info name :
         {PI_DEVICE_INFO_SUB_GROUP_SIZES, PI_DEVICE_INFO_HOST_READ_CHANNELS,
          PI_DEVICE_INFO_HOST_WRITE_CHANNELS})
        if (piDeviceGetInfo(device, name, 0, nullptr, &size) == PI_SUCCESS)
            require(size != 0, info_named(&piDeviceGetInfo, name),
                    " is empty, should be PI_ERROR_UNSUPPORTED_FEATURE");
    if (piDeviceGetInfo(device, PI_DEVICE_INFO_SUB_GROUP_SIZES, 0, nullptr, &size) == PI_SUCCESS)
        for (const uint32_t one :
             get_info_list<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_SUB_GROUP_SIZES))
            require(one >= 1, "PI_DEVICE_INFO_SUB_GROUP_SIZES has a size of 0");
    constexpr uint64_t scope_flags = PI_SCOPE_HOST_VISIBLE | PI_SCOPE_COHERENT |
                                     PI_SCOPE_CONTIGUOUS | PI_SCOPE_PINNED | PI_SCOPE_LAYOUT |
                                     PI_SCOPE_POOLABLE | PI_SCOPE_MAPS_IN_PLACE;
    for (const pi_memory_scope &scope : fixture.scopes())
        require((scope.flags & ~scope_flags) == 0, "scope ", scope.name, " has the flags ",
                hex(scope.flags), ", known are ", hex(scope_flags));
}

CONFORMANCE_TEST("device",
                 "speeds, resolutions and sizes are not 0, and scope 0 has the reported sizes") {
    const pi_device device = fixture.device();
    using Speed = std::array<uint64_t, 2>;
    for (const pi_device_info name : {PI_DEVICE_INFO_HOST_READ_SPEED,
                                      PI_DEVICE_INFO_HOST_WRITE_SPEED, PI_DEVICE_INFO_MAP_SPEED})
        require(info_or(&piDeviceGetInfo, device, name, Speed{1, 0})[0] != 0,
                info_named(&piDeviceGetInfo, name), ": a rate of 0");
    require(info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_TIMER_RESOLUTION, uint64_t{1}) != 0,
            "PI_DEVICE_INFO_TIMER_RESOLUTION is 0");
    const pi_memory_scope scope = fixture.scopes().at(0);
    const auto agrees = [&](pi_device_info name, uint64_t size, const char *what) {
        const auto reported = info_or(&piDeviceGetInfo, device, name, size);
        if (size != 0)
            require_equal(reported, size,
                          join(info_named(&piDeviceGetInfo, name),
                               " of a device whose scope 0 has a ", what));
    };
    agrees(PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, scope.capacity, "capacity");
    agrees(PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, scope.max_allocation, "max_allocation");
    const auto largest =
        info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, UINT64_MAX);
    if (largest == UINT64_MAX)
        return;
    auto desc = pi::desc<pi_mem_buffer_desc>();
    for (const uint64_t size : {largest + 1, UINT64_MAX}) {
        desc.size = size;
        require_untouched<pi_mem>(
            join("a buffer of ", size, " bytes, above the largest allocation"),
            {PI_ERROR_INVALID_SIZE, PI_ERROR_OUT_OF_DEVICE_MEMORY, PI_ERROR_OUT_OF_HOST_MEMORY},
            [&](pi_mem *out) { return piMemBufferCreate(fixture.context(), device, &desc, out); });
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
    constexpr uint64_t size = 1 << 20;
    const Mem mem = fixture.make_buffer(size);
    const auto address = info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_DEVICE_ADDRESS, uint64_t{0});
    require(bits == 64 || address + size <= uint64_t{1} << 32, "PI_DEVICE_INFO_ADDRESS_BITS is ",
            bits, ", but a buffer is at ", hex(address));
    for (const pi_device_info flag :
         {PI_DEVICE_INFO_FP16, PI_DEVICE_INFO_FP64, PI_DEVICE_INFO_IMAGES,
          PI_DEVICE_INFO_HOST_POINTER_IMPORT, PI_DEVICE_INFO_INTEGRATED})
        require(info_or<uint32_t>(&piDeviceGetInfo, device, flag, 0) <= 1, "device info ", flag,
                " is not 0 or 1");
    const auto alignment =
        info_or<uint64_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT, 1);
    require(std::has_single_bit(alignment), "PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT is ", alignment,
            ", not a power of two");
    if (fixture.can(PI_CAPABILITY_IMAGE))
        require_equal(info_or<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_IMAGES, 1), 1u,
                      "PI_DEVICE_INFO_IMAGES of a device with PI_CAPABILITY_IMAGE");
    else
        require_equal(info_or<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_IMAGES, 0), 0u,
                      "PI_DEVICE_INFO_IMAGES of a device without PI_CAPABILITY_IMAGE");
    if (get_info<pi_device_type>(&piDeviceGetInfo, device, PI_DEVICE_INFO_TYPE) ==
        PI_DEVICE_TYPE_CPU)
        require_equal(info_or<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_INTEGRATED, 1), 1u,
                      "PI_DEVICE_INFO_INTEGRATED of a device of type CPU");
    const auto imports =
        info_or<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, 0);
    require_equal(
        info_or<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_IMPORT, 0),
        imports >> PI_EXTERNAL_HOST_POINTER & 1,
        "PI_DEVICE_INFO_HOST_POINTER_IMPORT, as PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES "
        "says,");
}

CONFORMANCE_TEST("device", "the operating system has the device's NUMA node") {
    uint32_t node = 0;
    const pi_result result =
        piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_NUMA_NODE, sizeof node, &node, nullptr);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the device reports no NUMA node");
    require_success(result, "PI_DEVICE_INFO_NUMA_NODE");
    if (is_simulated(fixture.device()) ||
        get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND) ==
            PI_BACKEND_SIMULATED)
        skip("the device is simulated, and so is its machine");
    const std::filesystem::path nodes = "/sys/devices/system/node";
    if (!std::filesystem::exists(nodes))
        skip("the system shows no NUMA nodes");
    require(std::filesystem::exists(nodes / join("node", node)), "the device is on NUMA node ",
            node, ", which the system does not have");
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
                    alignment, " is not a power of two");
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
    uint64_t device_alone = poison<uint64_t>();
    uint64_t host_alone = poison<uint64_t>();
    require_success(piDeviceGetGlobalTimestamps(fixture.device(), nullptr, &host_alone),
                    "piDeviceGetGlobalTimestamps without the device's time");
    require_success(piDeviceGetGlobalTimestamps(fixture.device(), &device_alone, nullptr),
                    "piDeviceGetGlobalTimestamps without the host's time");
    require_success(piDeviceGetGlobalTimestamps(fixture.device(), nullptr, nullptr),
                    "piDeviceGetGlobalTimestamps without either");
    require(host_time <= host_alone && host_alone <= read_steady(),
            "the host's time without the device's is ", host_alone);
    uint64_t device_last = 0;
    require_success(piDeviceGetGlobalTimestamps(fixture.device(), &device_last, nullptr),
                    "piDeviceGetGlobalTimestamps");
    require(device_time <= device_alone && device_alone <= device_last,
            "the device's time without the host's is ", device_alone);
}

CONFORMANCE_TEST("device", "the clocks of device and host are read together") {
    fixture.need(PI_CAPABILITY_TIMESTAMP, "PI_CAPABILITY_TIMESTAMP");
    if (get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND) ==
        PI_BACKEND_SIMULATED)
        skip("the device is simulated, and so is its time");
    // Between two calls the clocks differ by what passes between both readings of a call, which is
    // less than the call takes.
    const auto steady = [] {
        return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    };
    int64_t low = INT64_MIN, high = INT64_MAX;
    for (int round = 0; round < 20; ++round) {
        uint64_t device = 0, host = 0;
        const int64_t before = steady();
        require_success(piDeviceGetGlobalTimestamps(fixture.device(), &device, &host),
                        "piDeviceGetGlobalTimestamps");
        const int64_t took = steady() - before;
        const auto difference = static_cast<int64_t>(device - host);
        // The clocks' rates differ by 1 in 1000 at most, and they tick every microsecond or so.
        constexpr int64_t drift = 1'000'000;
        low = std::max(low, difference - took - drift);
        high = std::min(high, difference + took + drift);
        require(low <= high, "the difference of the clocks of device and host varies by more "
                             "than the calls take: they are not read together");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
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
