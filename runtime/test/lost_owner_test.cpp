// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device is lost while another one uses its memory.
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 5000;
constexpr PlaceIndex survivor = 1, owner = 2;
/// Off: verification takes longer than the machine lives.
constexpr bool verified = false;

/// Two devices that use each other's memory; the owner is lost at 500 us.
const TextFile &falling() {
    static const TextFile file(R"({"pi_machine": 1, "name": "falling", "devices": [
        {"name": "survivor", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
        {"name": "owner", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}],
         "lost_at": "500 us"}], "links": [
        {"from": "host", "to": "survivor", "bandwidth": "1 GB/s"},
        {"from": "survivor", "to": "host", "bandwidth": "1 GB/s"},
        {"from": "host", "to": "owner", "bandwidth": "1 GB/s"},
        {"from": "owner", "to": "host", "bandwidth": "1 GB/s"},
        {"between": ["survivor", "owner"], "connection": "unified", "coherence": "coherent",
         "residency": "remote_access", "bandwidth": "1 GB/s"}]})");
    return file;
}

/// A fill by the survivor; returns the command's result.
pi_result fill(const Simulated &machine, const Buffer &buffer, const Range &range, uint8_t value) {
    Acquisition writer = buffer.acquire(survivor, Access::discard_write, range.begin, range.size());
    const Event filled = machine.fill(writer, value);
    writer.release(filled.get());
    return wait(filled);
}

/// Waits until the owner is lost: the transfer to the survivor takes that long.
void fall(const Simulated &machine, const Runtime &runtime) {
    const Storage other(runtime, {.size = 900'000});
    host_write(other.buffer(), 0, std::vector<uint8_t>(900'000, 0));
    other.buffer().prefetch(survivor);
    REQUIRE(runtime.finish(patience));
    REQUIRE(machine.pass_time() > 500'000);
}

} // namespace

TEST_CASE("a place that used a lost device's memory gets memory of its own", "[runtime][sim]") {
    const Simulated machine(falling().path(), 1, {}, {}, verified);
    const Runtime runtime(machine.topology(), {.verify_connections = false});
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    host_write(buffer, 0, pattern(size, 8));
    buffer.prefetch(owner);
    REQUIRE(fill(machine, buffer, {0, 1000}, 1) == PI_SUCCESS);
    REQUIRE(storage.memory_of(survivor) == storage.memory_of(owner));
    fall(machine, runtime);
    CHECK(fill(machine, buffer, {2000, 3000}, 2) == PI_ERROR_DEVICE_LOST);
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost() == RangeSet({0, 1000}));
    CHECK(fill(machine, buffer, {0, 1000}, 3) == PI_SUCCESS);
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost().empty());
    CHECK(storage.memory_of(survivor) != storage.memory_of(owner));
    std::vector<uint8_t> expected = pattern(size, 8);
    std::fill_n(expected.begin(), 1000, uint8_t{3});
    CHECK(host_read(buffer) == expected);
    CHECK(device_read(machine, buffer, survivor) == expected);
}

TEST_CASE("a place that used a lost device's import of host memory gets other memory",
          "[runtime][sim]") {
    const TextFile file(R"({"pi_machine": 1, "name": "falling", "devices": [
        {"name": "survivor", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
        {"name": "owner", "type": "gpu", "integrated": true, "host_pointer_import": true,
         "scopes": [{"name": "global", "flags": ["host_visible", "coherent"], "capacity": "1 MiB"}],
         "lost_at": "500 us"}], "links": [
        {"between": ["host", "survivor"], "bandwidth": "1 GB/s"},
        {"between": ["host", "owner"], "bandwidth": "1 GB/s"},
        {"between": ["owner", "survivor"], "connection": "none",
         "imported": "unified"}]})");
    const Simulated machine(file.path(), 1, {}, {}, verified);
    const Runtime runtime(machine.topology(), {.verify_connections = false});
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    host_write(buffer, 0, pattern(size, 8));
    buffer.prefetch(owner);
    CHECK(fill(machine, buffer, {0, 1000}, 1) == PI_SUCCESS);
    REQUIRE(storage.memory_of(survivor) == storage.memory_of(host_place));
    fall(machine, runtime);
    CHECK(fill(machine, buffer, {2000, 3000}, 2) == PI_ERROR_DEVICE_LOST);
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost().empty());
    CHECK(fill(machine, buffer, {1500, 3000}, 3) == PI_SUCCESS);
    std::vector<uint8_t> expected = pattern(size, 8);
    std::fill_n(expected.begin(), 1000, uint8_t{1});
    std::fill_n(expected.begin() + 1500, 1500, uint8_t{3});
    CHECK(host_read(buffer) == expected);
    CHECK(storage.memory_of(survivor) != storage.memory_of(host_place));
}
