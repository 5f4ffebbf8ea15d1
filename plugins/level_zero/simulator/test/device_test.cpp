// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"
#include "program.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <thread>

using namespace pi_level_zero_test;

namespace {

ze_device_properties_t properties_of(ze_device_handle_t device) {
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    REQUIRE(zeDeviceGetProperties(device, &properties) == ZE_RESULT_SUCCESS);
    return properties;
}

bool peers(unsigned device, unsigned peer) {
    ze_bool_t can = false;
    ze_device_p2p_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES;
    CHECK(zeDeviceCanAccessPeer(devices()[device], devices()[peer], &can) == ZE_RESULT_SUCCESS);
    CHECK(zeDeviceGetP2PProperties(devices()[device], devices()[peer], &properties) ==
          ZE_RESULT_SUCCESS);
    CHECK(bool(properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS) == bool(can));
    return can;
}

} // namespace

TEST_CASE("Each driver reports API 1.4 and its own identity") {
    std::set<std::string> identities;
    for (const ze_driver_handle_t each : drivers()) {
        ze_api_version_t version{};
        CHECK(zeDriverGetApiVersion(each, &version) == ZE_RESULT_SUCCESS);
        CHECK(version == ZE_API_VERSION_1_4);
        ze_driver_properties_t properties{};
        properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
        CHECK(zeDriverGetProperties(each, &properties) == ZE_RESULT_SUCCESS);
        identities.insert(std::string(reinterpret_cast<const char *>(properties.uuid.id),
                                      sizeof properties.uuid.id));
        std::uint32_t count = 0;
        CHECK(zeDriverGetExtensionProperties(each, &count, nullptr) == ZE_RESULT_SUCCESS);
        std::vector<ze_driver_extension_properties_t> extensions(count);
        CHECK(zeDriverGetExtensionProperties(each, &count, extensions.data()) == ZE_RESULT_SUCCESS);
        CHECK(std::string(extensions[0].name) == ZE_GLOBAL_OFFSET_EXP_NAME);
    }
    CHECK(identities.size() == drivers().size());
}

TEST_CASE("Devices are those of the machine file without its processors") {
    REQUIRE(devices().size() == 3);
    const ze_device_properties_t left = properties_of(devices()[0]);
    CHECK(std::string(left.name) == "left (simulated)");
    CHECK(left.type == ZE_DEVICE_TYPE_GPU);
    CHECK(left.maxMemAllocSize == 64 << 20);
    CHECK(left.uuid.id[0] == 0x70);
    CHECK(left.uuid.id[15] == 0xb2);
    CHECK(left.flags == 0);
    CHECK(left.numEUsPerSubslice * left.numSubslicesPerSlice * left.numSlices == 4);
    const ze_device_properties_t right = properties_of(devices()[1]);
    CHECK(right.flags == ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
    CHECK(std::memcmp(&right.uuid, &left.uuid, sizeof left.uuid) != 0);
    std::uint32_t count = 7;
    CHECK(zeDeviceGetSubDevices(devices()[0], &count, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(count == 0);
}

TEST_CASE("PCI addresses and LUIDs are reported if the machine file has them") {
    ze_pci_ext_properties_t pci{};
    pci.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
    CHECK(zeDevicePciGetPropertiesExt(devices()[0], &pci) == ZE_RESULT_SUCCESS);
    CHECK(pci.address.domain == 0);
    CHECK(pci.address.bus == 0x3a);
    CHECK(pci.address.device == 1);
    CHECK(pci.address.function == 2);
    CHECK(zeDevicePciGetPropertiesExt(devices()[1], &pci) == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    ze_device_luid_ext_properties_t luid{};
    luid.stype = ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES;
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    properties.pNext = &luid;
    CHECK(zeDeviceGetProperties(devices()[0], &properties) == ZE_RESULT_SUCCESS);
    CHECK(luid.luid.id[0] == 1);
    CHECK(luid.luid.id[7] == 8);
}

TEST_CASE("Peers follow the machine file's links, and both queries agree") {
    CHECK(peers(0, 1));
    CHECK(peers(1, 0));
    CHECK_FALSE(peers(0, 2));
    CHECK_FALSE(peers(2, 1));
}

TEST_CASE("One queue group supports all commands, the other copies only") {
    std::uint32_t count = 0;
    CHECK(zeDeviceGetCommandQueueGroupProperties(devices()[0], &count, nullptr) ==
          ZE_RESULT_SUCCESS);
    REQUIRE(count == 2);
    std::vector<ze_command_queue_group_properties_t> groups(count);
    CHECK(zeDeviceGetCommandQueueGroupProperties(devices()[0], &count, groups.data()) ==
          ZE_RESULT_SUCCESS);
    CHECK(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
    CHECK(groups[1].flags == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    CHECK(groups[1].maxMemoryFillPatternSize < groups[0].maxMemoryFillPatternSize);
}

TEST_CASE("Capacities, access properties and limits are reported") {
    std::uint32_t count = 1;
    ze_device_memory_properties_t memory{};
    memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    CHECK(zeDeviceGetMemoryProperties(devices()[1], &count, &memory) == ZE_RESULT_SUCCESS);
    CHECK(memory.totalSize == 32 << 20);
    ze_device_memory_access_properties_t access{};
    access.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
    CHECK(zeDeviceGetMemoryAccessProperties(devices()[0], &access) == ZE_RESULT_SUCCESS);
    CHECK(access.hostAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
    CHECK(access.sharedCrossDeviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
    CHECK(access.sharedSystemAllocCapabilities == 0);
    ze_device_compute_properties_t compute{};
    compute.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
    CHECK(zeDeviceGetComputeProperties(devices()[0], &compute) == ZE_RESULT_SUCCESS);
    CHECK(compute.maxTotalGroupSize == 1024);
    ze_device_module_properties_t module{};
    module.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
    CHECK(zeDeviceGetModuleProperties(devices()[0], &module) == ZE_RESULT_SUCCESS);
    CHECK(module.spirvVersionSupported == ZE_MAKE_VERSION(1, 4));
    ze_device_image_properties_t image{};
    image.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
    CHECK(zeDeviceGetImageProperties(devices()[0], &image) == ZE_RESULT_SUCCESS);
    CHECK(image.maxImageDims2D > 0);
    ze_device_external_memory_properties_t external{};
    external.stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES;
    CHECK(zeDeviceGetExternalMemoryProperties(devices()[0], &external) == ZE_RESULT_SUCCESS);
    CHECK(external.memoryAllocationExportTypes == external.memoryAllocationImportTypes);
    CHECK(external.imageExportTypes == 0);
    ze_device_cache_properties_t cache{};
    cache.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES;
    count = 1;
    CHECK(zeDeviceGetCacheProperties(devices()[0], &count, &cache) == ZE_RESULT_SUCCESS);
    CHECK(cache.cacheSize > 0);
}

TEST_CASE(
    "The timer's resolution is reported in nanoseconds or cycles, and global timestamps match it") {
    const ze_device_properties_t nanoseconds = properties_of(devices()[0]);
    ze_device_properties_t cycles{};
    cycles.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    CHECK(zeDeviceGetProperties(devices()[0], &cycles) == ZE_RESULT_SUCCESS);
    CHECK(nanoseconds.timerResolution * cycles.timerResolution == 1000000000);
    std::uint64_t host[2], device[2];
    CHECK(zeDeviceGetGlobalTimestamps(devices()[0], &host[0], &device[0]) == ZE_RESULT_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(zeDeviceGetGlobalTimestamps(devices()[0], &host[1], &device[1]) == ZE_RESULT_SUCCESS);
    const std::uint64_t mask = (std::uint64_t(1) << nanoseconds.timestampValidBits) - 1;
    CHECK(device[0] <= mask);
    CHECK(host[1] - host[0] >= 1000000);
    CHECK(((device[1] - device[0]) & mask) * nanoseconds.timerResolution == host[1] - host[0]);
}

TEST_CASE("Null handles are refused, and contexts with objects are in use") {
    const Context context;
    ze_context_handle_t other = nullptr;
    const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ze_device_handle_t first = devices()[0];
    REQUIRE(zeContextCreateEx(driver(), &description, 1, &first, &other) == ZE_RESULT_SUCCESS);
    CHECK(zeContextGetStatus(other) == ZE_RESULT_SUCCESS);
    const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    void *memory = nullptr;
    CHECK(zeMemAllocHost(other, &on_host, 64, 0, &memory) == ZE_RESULT_SUCCESS);
    CHECK(zeContextDestroy(other) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(zeMemFree(context, memory) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeMemFree(other, memory) == ZE_RESULT_SUCCESS);
    CHECK(zeContextDestroy(other) == ZE_RESULT_SUCCESS);
    // With two drivers the loader has its own handles, and dereferences those that it is given.
    if (drivers().size() == 1) {
        CHECK(zeContextDestroy(other) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
        CHECK(zeDeviceGetStatus(nullptr) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
}
