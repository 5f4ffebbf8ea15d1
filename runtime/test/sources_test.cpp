// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sources of bytes when several places each have a different part.
#include "simulated.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;

TEST_CASE("few bytes come from the source that is cheapest for few, not from that for all",
          "[runtime][sim]") {
    constexpr uint64_t size = 1 << 20, few = 4096;
    constexpr PlaceIndex wide = 1, near = 2, rest = 3, reader = 4;
    std::string devices;
    for (const char *name : {"wide", "near", "rest", "reader"}) {
        devices += devices.empty() ? "" : ", ";
        devices += R"({"name": ")" + std::string(name) + R"(", "type": "gpu", "scopes":
            [{"name": "global", "capacity": "64 MiB"}]})";
    }
    const TextFile file(R"({"pi_machine": 1, "name": "three sources", "devices": [)" + devices +
                        R"(], "links": [
        {"between": ["host", "wide"], "bandwidth": "100 MB/s"},
        {"between": ["host", "near"], "bandwidth": "100 MB/s"},
        {"between": ["host", "rest"], "bandwidth": "100 MB/s"},
        {"between": ["host", "reader"], "bandwidth": "100 MB/s"},
        {"between": ["wide", "near"], "connection": "migratable", "bandwidth": "10 GB/s"},
        {"from": "wide", "to": "reader", "connection": "migratable", "bandwidth": "10 GB/s",
         "latency": "100 us"},
        {"from": "near", "to": "reader", "connection": "migratable", "bandwidth": "1 GB/s",
         "latency": "1 us"},
        {"from": "rest", "to": "reader", "connection": "migratable", "bandwidth": "10 GB/s",
         "latency": "1 us"}]})");
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    std::vector<uint8_t> expected = pattern(size, 1);
    host_write(buffer, 0, expected);
    buffer.prefetch(rest);
    Acquisition writer = buffer.acquire(wide, Access::discard_write, 1000, few);
    writer.release(machine.fill(writer, 7).get());
    buffer.prefetch(near, 1000, few);
    REQUIRE(runtime.finish(patience));
    machine.reset_links();

    std::fill_n(expected.begin() + 1000, few, uint8_t{7});
    CHECK(device_read(machine, buffer, reader) == expected);
    auto bytes = machine.link_bytes();
    CHECK(bytes[{near, reader}] == few);
    CHECK(bytes[{rest, reader}] == size - few);
    CHECK(bytes[{wide, reader}] == 0);
}
