// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Importing devices that keep copies of the host memory, as OpenCL permits for CL_MEM_USE_HOST_PTR:
// only commands transfer between the two, and a discarding map leaves garbage in host memory.
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace runtime_test;

namespace {

constexpr uint64_t storage_size = 64 << 10;
constexpr PlaceIndex copy_1 = 1, copy_2 = 2, cached = 3, far = 4;

std::string machine_text() {
    const auto device = [](const std::string &name, const std::string &members,
                           const std::string &flags) {
        return R"({"name": ")" + name + R"(", "type": "gpu", )" + members +
               R"("scopes": [{"name": "global", "capacity": "64 MiB", "flush_atom": 64, "flags": [)" +
               flags + "]}]}";
    };
    const std::string imports = R"("integrated": true, "host_pointer_import": true, )";
    const std::string copies = imports + R"("host_pointer_copies": true, )";
    return R"({"pi_machine": 1, "name": "copies", "devices": [)" +
           device("copy 1", copies, "\"poolable\"") + ", " +
           device("copy 2", copies, R"("host_visible", "coherent")") + ", " +
           device("cached", imports, R"("host_visible")") + ", " +
           device("far", "", "\"poolable\"") + "]}";
}

struct Free {
    void operator()(uint8_t *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<uint8_t, Free>;

Memory make_memory(uint8_t value = 0) {
    Memory memory(static_cast<uint8_t *>(std::aligned_alloc(4096, storage_size)));
    std::fill_n(memory.get(), storage_size, value);
    return memory;
}

std::vector<uint8_t> all(uint8_t value, uint64_t size = storage_size) {
    return std::vector<uint8_t>(size, value);
}

void fill(const Simulated &machine, const Buffer &buffer, PlaceIndex place, uint64_t offset,
          uint64_t size, uint8_t value, Access access = Access::discard_write) {
    Acquisition use = buffer.acquire(place, access, offset, size);
    use.release(machine.fill(use, value).get());
}

} // namespace

TEST_CASE("host memory that a device copies is stale in no round trip", "[runtime][sim]") {
    const TextFile file(machine_text());
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Memory memory = make_memory();
    const Storage storage(runtime, {.size = storage_size, .host_memory = memory.get()});
    const Buffer buffer = storage.buffer();
    const std::vector<PlaceIndex> places =
        GENERATE(std::vector<PlaceIndex>{copy_1}, std::vector<PlaceIndex>{copy_1, copy_2},
                 std::vector<PlaceIndex>{copy_2, cached, far});
    const Access access = GENERATE(Access::discard_write, Access::read_write);
    int stale = 0;
    for (int round = 0; round < 100; ++round) {
        const auto sent = static_cast<uint8_t>(2 * round + 1);
        const auto returned = static_cast<uint8_t>(sent + 1);
        const PlaceIndex place = places[static_cast<size_t>(round) % places.size()];
        Acquisition writer = buffer.acquire(host_place, access);
        std::fill_n(reinterpret_cast<uint8_t *>(writer.pointer()), storage_size, sent);
        writer.release();
        stale += device_read(machine, buffer, place) != all(sent);
        fill(machine, buffer, place, 0, storage_size, returned);
        stale += device_read(machine, buffer, places.back()) != all(returned);
        stale += host_read(buffer) != all(returned);
        stale += !std::equal(memory.get(), memory.get() + storage_size, all(returned).begin());
    }
    CHECK(stale == 0);
    CHECK(runtime.finish(patience));
    CHECK(storage.memory_of(places.front()) == storage.memory_of(host_place));
    const std::string text = buffer.explain(places.front()).text;
    INFO(text);
    CHECK(text.find("in place") == std::string::npos);
    CHECK(text.find("0 bytes to move") == std::string::npos);
}

TEST_CASE("any program over imported copies has the bytes that one array holds", "[runtime][sim]") {
    const TextFile file(machine_text());
    const uint32_t contexts = GENERATE(1, 2);
    const Simulated machine(file.path(), contexts);
    const unsigned seed = Catch::rngSeed();
    INFO("--rng-seed " << seed);
    std::mt19937 random(seed);
    for (int program = 0; program < 10; ++program) {
        const Runtime runtime(machine.topology());
        const Memory memory = make_memory(7);
        const bool given = program % 2 == 0;
        const Storage storage(
            runtime, {.size = storage_size, .host_memory = given ? memory.get() : nullptr});
        const Buffer buffer = storage.buffer();
        std::vector<uint8_t> model = all(7);
        if (!given) {
            host_write(buffer, 0, model);
        }
        for (int step = 0; step < 80; ++step) {
            const auto place = static_cast<PlaceIndex>(random() % machine.topology()->size());
            const uint64_t offset = random() % storage_size;
            const uint64_t size = 1 + random() % (storage_size - offset);
            const auto begin = model.begin() + static_cast<ptrdiff_t>(offset);
            const auto value = static_cast<uint8_t>(random());
            switch (random() % 4) {
            case 0:
                if (place == host_place) {
                    host_write(buffer, offset, all(value, size));
                } else {
                    fill(machine, buffer, place, offset, size, value);
                }
                std::fill_n(begin, size, value);
                break;
            case 1: // a part of the acquired range
                if (place == host_place) {
                    Acquisition use = buffer.acquire(place, Access::write, offset, size);
                    std::fill_n(reinterpret_cast<uint8_t *>(use.pointer()), size / 2, value);
                    use.release();
                    std::fill_n(begin, size / 2, value);
                } else {
                    buffer.prefetch(place, offset, size);
                }
                break;
            default:
                const std::vector<uint8_t> expected(begin, begin + static_cast<ptrdiff_t>(size));
                INFO("step " << step << ", place " << place << ", offset " << offset);
                REQUIRE((place == host_place
                             ? host_read(buffer, offset, size)
                             : device_read(machine, buffer, place, offset, size)) == expected);
            }
        }
        REQUIRE(host_read(buffer) == model);
        REQUIRE(runtime.finish(patience));
    }
}

TEST_CASE("an acquire at the host of imported copies waits for nothing, and any thread may release "
          "it",
          "[runtime][sim]") {
    const TextFile file(machine_text());
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Memory memory = make_memory(1);
    const Storage storage(runtime, {.size = storage_size, .host_memory = memory.get()});
    const Buffer buffer = storage.buffer();
    Event gate;
    REQUIRE(piEventCreateHost(machine.topology()->context(copy_1), nullptr, gate.out()) ==
            PI_SUCCESS);
    Acquisition filling = buffer.acquire(copy_1, Access::discard_write);
    const Event filled = machine.fill(filling, 2, gate.get());
    filling.release(filled.get());

    Acquisition reader = buffer.acquire(host_place, Access::read); // the fill is held
    CHECK(code_of([&] { reader.wait(std::chrono::milliseconds(1)); }) == PI_ERROR_TIMEOUT);
    REQUIRE(piEventSignalHost(gate.get(), PI_SUCCESS) == PI_SUCCESS);
    const auto *const bytes = reinterpret_cast<const uint8_t *>(reader.pointer());
    CHECK(std::equal(bytes, bytes + storage_size, all(2).begin()));
    // Devices read concurrently with the host.
    CHECK(device_read(machine, buffer, copy_1) == all(2));
    CHECK(device_read(machine, buffer, copy_2) == all(2));
    std::thread([&] { reader.release(); }).join();

    Acquisition writer = buffer.acquire(host_place, Access::discard_write);
    std::fill_n(reinterpret_cast<uint8_t *>(writer.pointer()), storage_size, uint8_t{3});
    std::thread([&] { writer.release(); }).join();
    CHECK(device_read(machine, buffer, copy_2) == all(3));
    CHECK(device_read(machine, buffer, copy_1) == all(3));
    CHECK(runtime.finish(patience));
}

TEST_CASE("an abandoned write at the host leaves imported copies usable", "[runtime][sim]") {
    const TextFile file(machine_text());
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Memory memory = make_memory(1);
    const Storage storage(runtime, {.size = storage_size, .host_memory = memory.get()});
    const Buffer buffer = storage.buffer();
    CHECK(device_read(machine, buffer, copy_1) == all(1));
    CHECK(device_read(machine, buffer, far) == all(1));
    {
        Acquisition abandoned = buffer.acquire(host_place, Access::discard_write, 0, 4096);
        std::fill_n(reinterpret_cast<uint8_t *>(abandoned.pointer()), 4096, uint8_t{9});
    }
    CHECK(runtime.finish(patience));
    for (const PlaceIndex place : {copy_1, copy_2, cached, far}) { // far certainly has the bytes
        CHECK(device_read(machine, buffer, place) == all(1));
    }
    CHECK(host_read(buffer) == all(1));
    fill(machine, buffer, copy_1, 0, 4096, 4);
    CHECK(host_read(buffer, 0, 4096) == all(4, 4096));
    CHECK(host_read(buffer, 4096, 4096) == all(1, 4096));
    CHECK(runtime.finish(patience));
}

TEST_CASE("a command between host memory and a copy that fails is an error, and loses no byte",
          "[runtime][sim]") {
    const TextFile file(machine_text());
    const bool to_host = GENERATE(false, true);
    const std::string function = to_host ? "piEnqueueMemBufferMap" : "piEnqueueMemBufferWrite";
    const std::string how = GENERATE("fail(BACKEND)", "fail_event(BACKEND)");
    const Simulated machine(file.path(), 1, function + ":1=" + how);
    const Runtime runtime(machine.topology());
    const Memory memory = make_memory(1);
    const Storage storage(
        runtime,
        {.size = storage_size, .host_memory = memory.get(), .host_memory_valid = !to_host});
    const Buffer buffer = storage.buffer();
    const PlaceIndex reader = to_host ? host_place : copy_1;
    if (to_host) {
        fill(machine, buffer, copy_1, 0, storage_size, 1);
    }
    Acquisition use = buffer.acquire(reader, Access::read);
    CHECK_THROWS_WITH(use.wait(patience), Catch::Contains(function));
    use.release();
    CHECK(storage.finish(patience));
    CHECK(storage.valid(to_host ? copy_1 : host_place) == RangeSet({0, storage_size}));
    CHECK(storage.valid(reader).empty());
    CHECK((to_host ? host_read(buffer) : device_read(machine, buffer, reader)) == all(1));
    CHECK(runtime.finish(patience));
}
