// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiles of the device "right".
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

using namespace pi_level_zero_test;

namespace {

ze_device_handle_t right() {
    return devices()[1];
}

std::vector<ze_device_handle_t> tiles_of(ze_device_handle_t device) {
    std::uint32_t count = 0;
    REQUIRE(zeDeviceGetSubDevices(device, &count, nullptr) == ZE_RESULT_SUCCESS);
    std::vector<ze_device_handle_t> tiles(count);
    if (count)
        REQUIRE(zeDeviceGetSubDevices(device, &count, tiles.data()) == ZE_RESULT_SUCCESS);
    return tiles;
}

ze_device_properties_t properties_of(ze_device_handle_t device) {
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    REQUIRE(zeDeviceGetProperties(device, &properties) == ZE_RESULT_SUCCESS);
    return properties;
}

std::uint64_t capacity_of(ze_device_handle_t device) {
    std::uint32_t count = 1;
    ze_device_memory_properties_t memory{};
    memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    REQUIRE(zeDeviceGetMemoryProperties(device, &count, &memory) == ZE_RESULT_SUCCESS);
    return memory.totalSize;
}

bool peers(ze_device_handle_t device, ze_device_handle_t peer) {
    ze_bool_t can = false;
    REQUIRE(zeDeviceCanAccessPeer(device, peer, &can) == ZE_RESULT_SUCCESS);
    return can;
}

/// The result of the allocation; *out is NULL if it failed.
ze_result_t allocate(const Context &context, ze_device_handle_t device, size_t size, void **out) {
    const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr,
                                                 0, 0};
    *out = nullptr;
    return zeMemAllocDevice(context, &description, size, 0, device, out);
}

} // namespace

TEST_CASE("A device's tiles are sub-devices with a share each, and not root devices") {
    CHECK(tiles_of(devices()[0]).empty());
    const std::vector<ze_device_handle_t> tiles = tiles_of(right());
    REQUIRE(tiles.size() == 2);
    CHECK(tiles == tiles_of(right())); // the same each time
    const ze_device_properties_t whole = properties_of(right());
    CHECK((whole.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) == 0);
    for (std::uint32_t i = 0; i < tiles.size(); ++i) {
        const ze_device_properties_t part = properties_of(tiles[i]);
        CHECK((part.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) != 0);
        CHECK(part.subdeviceId == i);
        CHECK(2 * part.numSubslicesPerSlice == whole.numSubslicesPerSlice);
        CHECK(std::string(part.name) == whole.name);
        CHECK(std::memcmp(&part.uuid, &whole.uuid, sizeof part.uuid) != 0);
        CHECK(2 * capacity_of(tiles[i]) == capacity_of(right()));
        CHECK(tiles_of(tiles[i]).empty());
        CHECK(std::find(devices().begin(), devices().end(), tiles[i]) == devices().end());
    }
    CHECK(std::memcmp(properties_of(tiles[0]).uuid.id, properties_of(tiles[1]).uuid.id,
                      sizeof whole.uuid) != 0);
}

TEST_CASE("Tiles use the memory of their device, of each other, and of their device's peers") {
    const std::vector<ze_device_handle_t> tiles = tiles_of(right());
    CHECK(peers(tiles[0], tiles[1]));
    CHECK(peers(tiles[1], right()));
    CHECK(peers(right(), tiles[0]));
    CHECK(peers(tiles[0], devices()[0]));
    CHECK(peers(devices()[0], tiles[1]));
    CHECK_FALSE(peers(tiles[0], devices()[2]));
    CHECK_FALSE(peers(devices()[2], tiles[0]));
}

TEST_CASE("Memory of a tile counts as its device's, and a device's not as a tile's") {
    const Context context;
    const std::vector<ze_device_handle_t> tiles = tiles_of(right());
    const size_t share = capacity_of(tiles[0]);
    void *first = nullptr, *second = nullptr, *more = nullptr;
    REQUIRE(allocate(context, tiles[0], share, &first) == ZE_RESULT_SUCCESS);
    CHECK(allocate(context, tiles[0], 4096, &more) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(allocate(context, right(), 2 * share, &more) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    REQUIRE(allocate(context, right(), share, &second) == ZE_RESULT_SUCCESS);
    CHECK(allocate(context, tiles[1], 4096, &more) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ze_device_handle_t of = nullptr;
    CHECK(zeMemGetAllocProperties(context, first, &properties, &of) == ZE_RESULT_SUCCESS);
    CHECK(of == tiles[0]);
    CHECK(zeMemFree(context, first) == ZE_RESULT_SUCCESS);
    REQUIRE(allocate(context, tiles[1], share, &more) == ZE_RESULT_SUCCESS);
    CHECK(zeMemFree(context, more) == ZE_RESULT_SUCCESS);
    CHECK(zeMemFree(context, second) == ZE_RESULT_SUCCESS);
}
