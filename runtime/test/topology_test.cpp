// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;

TEST_CASE("the topology has the host first, then every place, and an answer for every pair",
          "[runtime]") {
    const Machine machine;
    const TopologyDescription &topology = machine.topology()->description();
    REQUIRE(topology.places.size() == 2 * machine.devices().size() + 1);
    CHECK(topology.place(host_place).name == "host");
    CHECK(machine.topology()->device(host_place) == nullptr);
    for (PlaceIndex src : machine.places()) {
        CHECK(topology.buffer(src, src).connection == PI_MEMORY_CONNECTION_UNIFIED);
        CHECK(topology.place(src).instance != 0);
        CHECK_FALSE(topology.place(src).scopes.empty());
        for (PlaceIndex dst : machine.places()) {
            pi_memory_connection direct = 99;
            REQUIRE(piGetMemoryConnection(machine.topology()->device(src),
                                          machine.topology()->context(src),
                                          machine.topology()->device(dst),
                                          machine.topology()->context(dst), &direct) == PI_SUCCESS);
            CHECK(topology.buffer(src, dst).connection == direct);
            if (topology.place(src).instance != topology.place(dst).instance) {
                CHECK(direct == PI_MEMORY_CONNECTION_NONE);
            }
        }
    }
    const std::string table = machine.topology()->to_string();
    INFO(table);
    for (const PlaceInfo &place : topology.places) {
        CHECK(table.find(place.name) != std::string::npos);
    }
}

TEST_CASE("one device in two contexts is the same device, and not the host", "[runtime]") {
    const Machine machine;
    const auto second = static_cast<PlaceIndex>(1 + machine.devices().size());
    CHECK(machine.topology()->context(1) != machine.topology()->context(second));
    CHECK(machine.topology()->same_device(1, second) == SameDevice::yes);
    CHECK(machine.topology()->same_device(1, host_place) == SameDevice::no);
}

TEST_CASE("devices of one platform and group share a context", "[runtime]") {
    const Machine machine;
    const auto topology = Topology::from_devices(machine.devices());
    REQUIRE(topology->size() == machine.devices().size() + 1);
    for (PlaceIndex a = 1; a < topology->size(); ++a) {
        for (PlaceIndex b = 1; b < a; ++b) {
            pi_platform left = nullptr;
            pi_platform right = nullptr;
            piDeviceGetInfo(topology->device(a), PI_DEVICE_INFO_PLATFORM, sizeof left, &left,
                            nullptr);
            piDeviceGetInfo(topology->device(b), PI_DEVICE_INFO_PLATFORM, sizeof right, &right,
                            nullptr);
            CHECK((topology->context(a) == topology->context(b)) == (left == right));
            CHECK(topology->info(a).name != topology->info(b).name);
        }
    }
}

TEST_CASE("a wrong place is refused with a text that names it", "[runtime]") {
    const Machine machine;
    const Place good{machine.topology()->device(1), machine.topology()->context(1), "one"};
    const std::vector<Place> twice{good, good};
    CHECK(code_of([&] { Topology::from_places(twice); }) == PI_ERROR_INVALID_VALUE);
    const std::vector<Place> homeless{{nullptr, good.context, ""}};
    CHECK_THROWS_WITH(Topology::from_places(homeless), Catch::Contains("place 1 has no device"));
    const std::vector<Place> contextless{{good.device, nullptr, ""}};
    CHECK(code_of([&] { Topology::from_places(contextless); }) == PI_ERROR_INVALID_VALUE);
    const std::vector<std::string> names{"only one", "too many"};
    const std::vector<pi_device> one{good.device};
    CHECK(code_of([&] { Topology::from_devices(one, names); }) == PI_ERROR_INVALID_VALUE);
    CHECK(code_of([&] { Topology::from_devices(std::vector<pi_device>{nullptr}); }) ==
          PI_ERROR_INVALID_DEVICE);
}

TEST_CASE("a place's device and context are of one platform of one loader", "[runtime]") {
    const Machine machine;
    const Loader other_loader = make_loader();
    const pi_device device = host_device(other_loader);
    const std::vector<Place> mixed{{device, machine.topology()->context(1), ""}};
    CHECK(code_of([&] { Topology::from_places(mixed); }) == PI_ERROR_INVALID_DEVICE);
    CHECK_THROWS_WITH(Topology::from_places(mixed), Catch::Contains("place 1") &&
                                                        Catch::Contains("another platform") &&
                                                        Catch::Contains("another loader"));
}

TEST_CASE("places of two loaders reach each other through the host", "[runtime]") {
    const Machine machine;
    const Loader other_loader = make_loader();
    const pi_device device = host_device(other_loader);
    const auto other = Topology::from_devices(std::vector<pi_device>{device});
    const auto topology = Topology::from_places(
        std::vector<Place>{{machine.topology()->device(1), machine.topology()->context(1), "one"},
                           {other->device(1), other->context(1), "two"}});
    for (const auto &[from, to] : {std::pair(1U, 2U), {2U, 1U}}) {
        CHECK(topology->description().buffer(from, to).connection == PI_MEMORY_CONNECTION_NONE);
    }
    const Runtime runtime(topology);
    const Storage storage(runtime, {.size = 4096, .routes = mask_of(RouteKind::host_bounce)});
    const Buffer buffer = storage.buffer();
    const auto bytes = pattern(4096, 3);
    host_write(buffer, 0, bytes);
    for (const PlaceIndex place : {1U, 2U, 1U}) {
        Acquisition use = buffer.acquire(place, Access::read_write);
        use.wait(patience);
        use.release(); // so its bytes are newest only there
    }
    CHECK(host_read(buffer) == bytes);
    CHECK(storage.counters().bytes_delivered == 4 * 4096);
}

TEST_CASE("a topology without places is the host alone", "[runtime]") {
    const auto topology = Topology::from_places({});
    REQUIRE(topology->size() == 1);
    const Runtime runtime(topology);
    const Storage storage(runtime, {.size = 64});
    const auto bytes = pattern(64, 1);
    host_write(storage.buffer(), 0, bytes);
    CHECK(host_read(storage.buffer()) == bytes);
}
