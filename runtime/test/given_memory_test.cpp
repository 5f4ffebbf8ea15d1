// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory that the application passes to a storage: the reported connections describe memory
// that the plugins allocate, and this memory may differ.
#include "simulated.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;

namespace {

constexpr PlaceIndex owner = 1, peer = 2, twin = 3;
constexpr uint64_t size = 4096;

/// A device that imports the host's memory, one that uses its buffers over a link, and one that has
/// the same memory.
std::string three_devices(const std::string &imported) {
    return R"({"pi_machine": 1, "name": "three", "devices": [
        {"name": "owner", "type": "gpu", "integrated": true, "host_pointer_import": true, "host_pointer_alignment": 64,
         "scopes": [{"name": "global", "capacity": "1 MiB"}]},
        {"name": "peer", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
        {"name": "twin", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
        "links": [
        {"from": "owner", "to": "peer", "connection": "unified", "residency": "remote_access", "coherence": "coherent",
         "imported": ")" +
           imported + R"(", "bandwidth": "10 GB/s"},
        {"from": "owner", "to": "twin", "connection": "unified", "residency": "same_memory", "coherence": "coherent"},
        {"from": "host", "to": "peer", "bandwidth": "10 GB/s"}]})";
}

/// A storage on the owner's memory, which contains a pattern.
Storage storage_around(const Runtime &runtime, Mem mem) {
    const Storage storage(runtime,
                          {.size = size, .device_memory = std::move(mem), .device_place = owner});
    CHECK(storage.valid(owner) == RangeSet({0, size}));
    return storage;
}

Mem make_buffer(const Topology &topology) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    auto bytes = pattern(size, 5);
    desc.flags = PI_MEM_COPY_HOST_PTR;
    desc.size = size;
    desc.host_ptr = bytes.data();
    Mem mem;
    OK(piMemBufferCreate(topology.context(owner), topology.device(owner), &desc, mem.out()));
    return mem;
}

} // namespace

TEST_CASE("given memory is used in place by its own device alone, and copied for others",
          "[runtime]") {
    const TextFile file(three_devices("unified"));
    const Simulated machine(file.path(), 2);
    const PlaceIndex again = owner + 3; // the owner in another context
    const Runtime runtime(machine.topology());
    const Storage storage = storage_around(runtime, make_buffer(*machine.topology()));
    const Buffer buffer = storage.buffer();
    CHECK_THAT(buffer.explain(peer).text, Catch::Contains("the memory was given"));
    for (const PlaceIndex place : {peer, twin, again}) {
        INFO(place);
        CHECK(device_read(machine, buffer, place) == pattern(size, 5));
        CHECK((storage.memory_of(place) == storage.memory_of(owner)) == (place != peer));
    }
    // The connection applies to the runtime's own allocation.
    const Storage own(runtime, {.size = size});
    own.buffer().acquire(owner, Access::discard_write).release();
    own.buffer().acquire(peer, Access::read).release();
    CHECK(own.memory_of(peer) == own.memory_of(owner));
}

TEST_CASE("given memory that was imported is used in place where imported memory is", "[runtime]") {
    const std::string imported = GENERATE("unified", "none");
    const TextFile file(three_devices(imported));
    const Simulated machine(file.path());
    const Topology &topology = *machine.topology();
    struct alignas(64) {
        uint8_t bytes[size];
    } host;
    const auto bytes = pattern(size, 6);
    std::copy(bytes.begin(), bytes.end(), host.bytes);
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = size;
    desc.handle.type = PI_EXTERNAL_HOST_POINTER;
    desc.handle.pointer = host.bytes;
    Mem mem;
    OK(piMemImport(topology.context(owner), topology.device(owner), &desc, mem.out()));
    const Runtime runtime(machine.topology());
    const Storage storage = storage_around(runtime, std::move(mem));
    CHECK(device_read(machine, storage.buffer(), peer) == bytes);
    CHECK((storage.memory_of(peer) == storage.memory_of(owner)) == (imported == "unified"));
    CHECK(host_read(storage.buffer()) == bytes);
    REQUIRE(runtime.finish(patience));
}
