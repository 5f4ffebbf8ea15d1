// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The level_zero plugin on Intel's driver: its infos, its devices, and the connections of their
// memory.
#include "plugin_fixture.hpp"

#include "config.hpp"
#include "skip.hpp"

#include <set>

using namespace level_zero_plugin_test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

ze_device_properties_t properties_of(pi_device device) {
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    REQUIRE(zeDeviceGetProperties(native(device), &properties) == ZE_RESULT_SUCCESS);
    return properties;
}

std::vector<pi_device> partition(pi_device device) {
    auto d = pi::desc<pi_device_partition_desc>();
    d.kind = PI_PARTITION_BY_HARDWARE;
    uint32_t count = 0;
    OK(piDevicePartition(device, &d, 0, nullptr, &count));
    std::vector<pi_device> parts(count);
    OK(piDevicePartition(device, &d, count, parts.data(), nullptr));
    return parts;
}

uint32_t units_of(pi_device device) {
    return info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_COMPUTE_UNITS);
}

bool reads_and_writes(ze_memory_access_cap_flags_t flags) {
    return flags & ZE_MEMORY_ACCESS_CAP_FLAG_RW;
}

/// Whether both of the driver's queries say that `user` can use memory of `owner`.
bool peers(pi_device user, pi_device owner) {
    ze_device_p2p_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES;
    REQUIRE(zeDeviceGetP2PProperties(native(user), native(owner), &properties) ==
            ZE_RESULT_SUCCESS);
    if (!(properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS))
        return false; // skip the second query, which may crash the driver
    ze_bool_t can = false;
    REQUIRE(zeDeviceCanAccessPeer(native(user), native(owner), &can) == ZE_RESULT_SUCCESS);
    return can;
}

struct Place {
    pi_device device;
    pi_context context;
};

pi_memory_connection connection(const Place &src, const Place &dst, pi_memory_kind kind) {
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = kind;
    auto info = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(src.device, src.context, dst.device, dst.context, &query, &info));
    CHECK_FALSE(std::string(info.reason).empty());
    if (kind == PI_MEMORY_KIND_BUFFER) {
        pi_memory_connection plain = 0;
        OK(piGetMemoryConnection(src.device, src.context, dst.device, dst.context, &plain));
        CHECK(plain == info.connection);
    }
    return info.connection;
}

} // namespace

TEST_CASE("the platform is Intel's driver, and is found by its handle") {
    const Machine machine;
    if (!machine)
        return;
    CHECK(info_text(piPlatformGetInfo, machine.platform, PI_PLATFORM_INFO_NAME) == "Level Zero");
    CHECK_THAT(info_text(piPlatformGetInfo, machine.platform, PI_PLATFORM_INFO_VENDOR),
               StartsWith("Intel"));
    const auto driver = native<ze_driver_handle_t>(&piPlatformGetNativeHandle, machine.platform);
    ze_api_version_t version{};
    REQUIRE(zeDriverGetApiVersion(driver, &version) == ZE_RESULT_SUCCESS);
    CHECK(info_text(piPlatformGetInfo, machine.platform, PI_PLATFORM_INFO_VERSION) ==
          "Level Zero " + std::to_string(ZE_MAJOR_VERSION(version)) + "." +
              std::to_string(ZE_MINOR_VERSION(version)));
    auto d = pi::desc<pi_native_desc>();
    OK(piPlatformGetNativeHandle(machine.platform, &d.handle));
    const auto plugin =
        info<pi_plugin>(piPlatformGetInfo, machine.platform, PI_PLATFORM_INFO_PLUGIN);
    pi_platform again = nullptr;
    OK(piPlatformCreateWithNativeHandle(plugin, &d, &again));
    CHECK(again == machine.platform);
}

TEST_CASE("each device reports the driver's properties") {
    const Machine machine;
    if (!machine)
        return;
    std::set<std::vector<uint8_t>> identities;
    for (const pi_device device : machine.devices) {
        const ze_device_properties_t properties = properties_of(device);
        CHECK(info<pi_device_type>(piDeviceGetInfo, device, PI_DEVICE_INFO_TYPE) ==
              PI_DEVICE_TYPE_GPU);
        CHECK(info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_NAME) == properties.name);
        CHECK_THAT(info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_VENDOR), StartsWith("Intel"));
        const auto uuid =
            info<std::array<uint8_t, 16>>(piDeviceGetInfo, device, PI_DEVICE_INFO_UUID);
        CHECK(std::equal(uuid.begin(), uuid.end(), properties.uuid.id));
        identities.emplace(uuid.begin(), uuid.end());
        CHECK(info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_ALLOCATION_SIZE) ==
              properties.maxMemAllocSize);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_INTEGRATED) ==
              (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED ? 1 : 0));
        ze_device_compute_properties_t compute{};
        compute.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
        REQUIRE(zeDeviceGetComputeProperties(native(device), &compute) == ZE_RESULT_SUCCESS);
        CHECK(info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE) ==
              compute.maxTotalGroupSize);
        CHECK(info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_LOCAL_MEMORY_SIZE) ==
              compute.maxSharedLocalMemory);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_PROGRAM_FORMATS) ==
              (1u << PI_PROGRAM_FORMAT_SPIRV | 1u << PI_PROGRAM_FORMAT_DEVICE_BINARY));
        CHECK(info<pi_device>(piDeviceGetInfo, device, PI_DEVICE_INFO_PARENT) == nullptr);
    }
    CHECK(identities.size() == machine.devices.size());
}

TEST_CASE("a device's scopes are its memory, with the driver's size, and the host's") {
    const Machine machine;
    if (!machine)
        return;
    for (const pi_device device : machine.devices) {
        uint32_t count = 1;
        ze_device_memory_properties_t memory{};
        memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
        REQUIRE(zeDeviceGetMemoryProperties(native(device), &count, &memory) == ZE_RESULT_SUCCESS);
        std::vector<pi_memory_scope> scopes(2);
        OK(piDeviceGetMemoryScopes(device, 2, scopes.data(), &count));
        REQUIRE(count == 2);
        CHECK(std::string(scopes[0].name) == "global");
        CHECK(scopes[0].capacity == memory.totalSize);
        CHECK((scopes[0].flags & PI_SCOPE_HOST_VISIBLE) == 0);
        CHECK(std::string(scopes[1].name) == "host.pinned");
        constexpr uint64_t pinned = PI_SCOPE_HOST_VISIBLE | PI_SCOPE_COHERENT | PI_SCOPE_PINNED;
        CHECK((scopes[1].flags & pinned) == pinned);
    }
}

// The driver reports one tile's units for a device whose kernels it does not spread over all tiles.
TEST_CASE("a device's sub-devices are the driver's, and have no more units than the device") {
    const Machine machine;
    if (!machine)
        return;
    for (const pi_device device : machine.devices) {
        uint32_t count = 0;
        REQUIRE(zeDeviceGetSubDevices(native(device), &count, nullptr) == ZE_RESULT_SUCCESS);
        REQUIRE(count == Config().tiles);
        std::vector<ze_device_handle_t> ids(count);
        REQUIRE(zeDeviceGetSubDevices(native(device), &count, ids.data()) == ZE_RESULT_SUCCESS);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_PARTITION_KINDS) ==
              (ids.empty() ? 0 : 1u << PI_PARTITION_BY_HARDWARE));
        if (ids.empty()) {
            auto d = pi::desc<pi_device_partition_desc>();
            d.kind = PI_PARTITION_BY_HARDWARE;
            CHECK(piDevicePartition(device, &d, 0, nullptr, &count) ==
                  PI_ERROR_UNSUPPORTED_FEATURE);
            continue;
        }
        const std::vector<pi_device> parts = partition(device);
        uint32_t units = 0;
        std::vector<ze_device_handle_t> found;
        for (const pi_device part : parts) {
            found.push_back(native(part));
            units += units_of(part);
            CHECK(info<pi_device>(piDeviceGetInfo, part, PI_DEVICE_INFO_PARENT) == device);
            CHECK_THAT(info_text(piDeviceGetInfo, part, PI_DEVICE_INFO_NAME), Contains("part"));
        }
        CHECK(found == ids);
        CHECK(units <= units_of(device));
        const Owned<pi_context> siblings = make_context(parts);
        auto d = pi::desc<pi_mem_buffer_desc>();
        d.size = 4096;
        for (const pi_device part : parts) {
            Owned<pi_mem> mem;
            OK(piMemBufferCreate(siblings, part, &d, mem.out()));
            CHECK(ask_driver(siblings, native(mem, part)).device == native(part));
            Owned<pi_queue> queue;
            OK(piQueueCreate(siblings, part, nullptr, queue.out()));
        }
        for (const pi_device part : parts)
            OK(piDeviceRelease(part));
    }
}

TEST_CASE("the connection of each pair is what both of the driver's queries allow") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_context> other = make_context(machine.devices);
    for (const pi_device src : machine.devices)
        for (const pi_device dst : machine.devices) {
            INFO("of the pair " << src << ", " << dst);
            const Place from{src, machine.context}, to{dst, machine.context};
            const Place elsewhere{dst, other};
            const auto within = src == dst || peers(dst, src) ? PI_MEMORY_CONNECTION_UNIFIED
                                                              : PI_MEMORY_CONNECTION_MIGRATABLE;
            CHECK(connection(from, to, PI_MEMORY_KIND_BUFFER) == within);
            CHECK(connection(from, to, PI_MEMORY_KIND_USM_DEVICE) == within);
            CHECK(connection(from, to, PI_MEMORY_KIND_USM_HOST) == PI_MEMORY_CONNECTION_UNIFIED);
            CHECK(connection(from, to, PI_MEMORY_KIND_IMPORTED) == PI_MEMORY_CONNECTION_UNIFIED);
            ze_device_memory_access_properties_t access{};
            access.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
            REQUIRE(zeDeviceGetMemoryAccessProperties(native(dst), &access) == ZE_RESULT_SUCCESS);
            const bool shared =
                src == dst || reads_and_writes(access.sharedCrossDeviceAllocCapabilities);
            CHECK(connection(from, to, PI_MEMORY_KIND_USM_SHARED) ==
                  (shared ? PI_MEMORY_CONNECTION_UNIFIED : PI_MEMORY_CONNECTION_NONE));
            CHECK(connection(from, elsewhere, PI_MEMORY_KIND_BUFFER) ==
                  PI_MEMORY_CONNECTION_MIGRATABLE);
            CHECK(connection(from, elsewhere, PI_MEMORY_KIND_USM_DEVICE) ==
                  PI_MEMORY_CONNECTION_NONE);
        }
}

TEST_CASE("a device's clock advances") {
    const Machine machine;
    if (!machine)
        return;
    uint64_t first = 0, second = 0;
    const pi_result result = piDeviceGetGlobalTimestamps(machine.devices.front(), &first, nullptr);
    if (result == PI_ERROR_DEVICE_LOST)
        return skip(not_executed);
    OK(result);
    OK(piDeviceGetGlobalTimestamps(machine.devices.front(), &second, nullptr));
    CHECK(second > first);
}
