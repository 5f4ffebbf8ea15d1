// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "places.hpp"

#include <catch2/catch.hpp>

#include <initializer_list>
#include <utility>

using namespace examples;

namespace {

/// Devices of invented platforms: pairs of a platform's number and whether it is the host's.
std::vector<DeviceEntry> devices(std::initializer_list<std::pair<uintptr_t, bool>> list) {
    std::vector<DeviceEntry> out;
    for (const auto &[platform, is_host] : list) {
        DeviceEntry entry;
        entry.platform = reinterpret_cast<pi_platform>(platform);
        entry.is_host = is_host;
        out.push_back(entry);
    }
    return out;
}

} // namespace

TEST_CASE("two devices of a platform, another vendor's and the host: the order takes every route") {
    // Loaded in another order than the work's.
    const auto all = devices({{1, true}, {2, false}, {3, false}, {3, false}});
    CHECK(default_order(all) ==
          std::vector<Seat>{{2, false}, {3, false}, {3, true}, {1, false}, {0, false}});
}

TEST_CASE("a platform's only device is used in two contexts") {
    CHECK(default_order(devices({{1, false}, {2, true}})) ==
          std::vector<Seat>{{0, false}, {0, true}, {1, false}});
}

TEST_CASE("only the host plugin does the work, in two contexts") {
    CHECK(default_order(devices({{1, true}})) == std::vector<Seat>{{0, false}, {0, true}});
}

TEST_CASE("every device has a place, further ones of a platform after the other platforms") {
    CHECK(default_order(devices({{1, false}, {1, false}, {1, false}, {2, true}, {2, true}})) ==
          std::vector<Seat>{{0, false}, {1, false}, {1, true}, {3, false}, {2, false}, {4, false}});
}

TEST_CASE("no devices, no order") {
    CHECK(default_order({}).empty());
}

TEST_CASE("a list of devices is split at commas and /own is understood") {
    CHECK(parse_devices("host") == std::vector<Element>{{"host", false}});
    CHECK(parse_devices("opencl:0:1/own,host,opencl:*") ==
          std::vector<Element>{{"opencl:0:1", true}, {"host", false}, {"opencl:*", false}});
}

TEST_CASE("an empty element of a list is refused with its number") {
    using Catch::Matchers::Contains;
    CHECK_THROWS_WITH(parse_devices("host,,host"), Contains("element 2 names no device"));
    CHECK_THROWS_WITH(parse_devices("host,"), Contains("element 2"));
    CHECK_THROWS_WITH(parse_devices("/own"), Contains("element 1"));
    CHECK_THROWS_WITH(parse_devices(""), Contains("element 1"));
}
