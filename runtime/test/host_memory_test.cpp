// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device with memory of its own, and a device that uses the host's memory through incoherent
// caches.
#include "fault_transport.hpp"
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>

using namespace runtime_test;

namespace {

constexpr PlaceIndex sharing = 1, own = 2, coarse = 3;
constexpr uint64_t size = 1 << 20;

constexpr const char *machine_file = R"({"pi_machine": 1, "name": "a device on the host's memory",
    "devices": [
        {"name": "sharing", "type": "gpu", "integrated": true, "host_pointer_import": true, "host_pointer_alignment": 4096,
         "scopes": [{"name": "global", "flags": ["host_visible"], "capacity": "64 MiB", "flush_atom": 64}]},
        {"name": "own", "type": "gpu", "scopes": [{"name": "global", "capacity": "64 MiB"}]},
        {"name": "coarse", "type": "gpu", "integrated": true, "host_pointer_import": true, "host_pointer_alignment": 4096,
         "scopes": [{"name": "global", "flags": ["host_visible"], "capacity": "64 MiB", "flush_atom": 256}]}],
    "links": [{"between": ["host", "sharing"], "bandwidth": "10 GB/s", "latency": "10 us"},
              {"between": ["host", "own"], "bandwidth": "10 GB/s", "latency": "10 us"}]})";

/// Fills at a place; updates the expected bytes.
void fill(const Simulated &machine, const Buffer &buffer, std::vector<uint8_t> &expected,
          PlaceIndex place, const Range &range, uint8_t value,
          Access access = Access::discard_write) {
    Acquisition use = buffer.acquire(place, access, range.begin, range.size());
    use.release(machine.fill(use, value).get());
    std::fill(expected.begin() + static_cast<ptrdiff_t>(range.begin),
              expected.begin() + static_cast<ptrdiff_t>(range.end), value);
}

} // namespace

TEST_CASE("bytes that are copied into a cache's unit leave newer bytes of the unit as they are",
          "[runtime]") {
    const TextFile file(machine_file);
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology(), {.bounce_limit = 0});
    const Storage storage(runtime, {.size = 4096});
    const Buffer buffer = storage.buffer();
    std::vector<uint8_t> expected(4096);
    fill(machine, buffer, expected, sharing, {0, 4096}, 1);
    uint8_t value = 2;
    for (uint64_t begin = 0; begin + 200 <= 4096; begin += 200) {
        fill(machine, buffer, expected, sharing, {begin, begin + 70}, value++);
        fill(machine, buffer, expected, own, {begin + 70, begin + 130}, value++);
        fill(machine, buffer, expected, sharing, {begin + 130, begin + 150}, value++);
        const PlaceIndex reader = begin % 400 == 0 ? sharing : own;
        CHECK(device_read(machine, buffer, reader) == expected);
    }
    CHECK(host_read(buffer) == expected);
}

TEST_CASE("bytes that a copy to the host syncs from other caches go on to the cache that it is for",
          "[runtime]") {
    const TextFile file(machine_file);
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology(), {.bounce_limit = 0});
    const Storage storage(runtime, {.size = 4096});
    const Buffer buffer = storage.buffer();
    std::vector<uint8_t> expected(4096);
    fill(machine, buffer, expected, sharing, {0, 4096}, 1);
    fill(machine, buffer, expected, own, {64, 512}, 2);
    // [0, 64) shares a unit with the bytes written now, and is synced to the host before [200,
    // 210).
    fill(machine, buffer, expected, coarse, {200, 210}, 3, Access::read_write);
    CHECK(device_read(machine, buffer, coarse) == expected);
    CHECK(host_read(buffer) == expected);
}

TEST_CASE("a failed copy to the host is not synced to the device on its memory", "[runtime]") {
    const TextFile file(machine_file);
    const Simulated machine(file.path());
    std::atomic<bool> failed = false;
    RuntimeOptions options = failing([&](const TransferRequest &request) {
        return !request.coherence_sync && !failed.exchange(true) ? FaultTransport::Fault::before
                                                                 : FaultTransport::Fault::none;
    });
    options.bounce_limit = 0;
    const Runtime runtime(machine.topology(), options);
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    std::vector<uint8_t> expected(size);
    fill(machine, buffer, expected, sharing, {0, size}, 1);
    fill(machine, buffer, expected, own, {0, size}, 2);
    {
        Acquisition use = buffer.acquire(sharing, Access::read);
        CHECK(code_of([&] { use.wait(patience); }) != PI_SUCCESS);
    }
    CHECK(device_read(machine, buffer, sharing) == expected);
}
