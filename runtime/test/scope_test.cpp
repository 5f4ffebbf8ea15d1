// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storages in a scope other than the device's ordinary memory: the connection that the plugin
// reports for that scope applies.
#include "simulated.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 4096;

} // namespace

TEST_CASE("the scratchpad of dsp.json is used as it is in another context", "[runtime]") {
    const Simulated machine(shipped_machine("dsp"));
    const std::vector<std::vector<pi_device>> groups(2, {machine.topology()->device(1)});
    const auto topology = Topology::from_groups(groups);
    const Connection *reported = topology->description().in_scope("dsp.scratchpad", 1, 2);
    REQUIRE(reported != nullptr);
    CHECK(reported->connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(topology->description().in_scope("dsp.scratchpad", 0, 2) == nullptr);
    CHECK(topology->description().in_scope("nothing", 1, 2) == nullptr);
    const Runtime runtime(topology);
    const Storage storage(runtime, {.size = size, .scope = "dsp.scratchpad"});
    const auto bytes = pattern(size, 3);
    host_write(storage.buffer(), 0, bytes);
    for (const PlaceIndex place : {1U, 2U}) {
        Acquisition use = storage.buffer().acquire(place, Access::read_write);
        use.wait(patience);
        use.release();
    }
    CHECK(storage.memory_of(1) == storage.memory_of(2));
    CHECK(storage.memory_of(1) != storage.memory_of(host_place));
    CHECK(host_read(storage.buffer()) == bytes);
    CHECK(storage.counters().bytes_delivered == 2 * size); // once in each direction
}

TEST_CASE("given memory is used from a place with a scope that its own place lacks", "[runtime]") {
    const TextFile file(R"({"pi_machine": 1, "name": "one scratchpad", "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
        {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"},
                                                {"name": "scratchpad", "capacity": "1 MiB"}]}],
        "links": [{"between": ["host", "a"], "bandwidth": "1 GB/s"},
                  {"between": ["host", "b"], "bandwidth": "1 GB/s"}]})");
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    Mem given;
    OK(piMemBufferCreate(machine.topology()->context(1), machine.topology()->device(1), &desc,
                         given.out()));
    const Storage storage(
        runtime, {.size = size, .scope = "scratchpad", .device_memory = given, .device_place = 1});
    const Buffer buffer = storage.buffer();
    {
        Acquisition writer = buffer.acquire(1, Access::discard_write);
        writer.release(machine.fill(writer, 7).get());
    }
    CHECK(buffer.explain(2).bytes_stale == size);
    CHECK(device_read(machine, buffer, 2) == std::vector<uint8_t>(size, 7));
    CHECK(host_read(buffer) == std::vector<uint8_t>(size, 7));
}
