// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that migrates as a whole: the machine corrupts bytes on concurrent writes, and the runtime
// must not allow any.
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace runtime_test;

namespace {

constexpr uint64_t half = 3000;

/// Two devices that use each other's memory, which migrates as a whole. The host is far away.
std::string two_devices() {
    std::string json = R"({"pi_machine": 1, "name": "whole objects", "devices": [)";
    for (const char *name : {"a", "b"}) {
        json += *name == 'a' ? "" : ", ";
        json += R"({"name": ")";
        json += name;
        json += R"(", "type": "gpu", "bandwidth": "500 MB/s",
                 "scopes": [{"name": "global", "capacity": "1 MiB"}]})";
    }
    return json + R"(], "links": [
        {"from": "host", "to": "a", "bandwidth": "10 MB/s"}, {"from": "a", "to": "host", "bandwidth": "10 MB/s"},
        {"from": "host", "to": "b", "bandwidth": "10 MB/s"}, {"from": "b", "to": "host", "bandwidth": "10 MB/s"},
        {"between": ["a", "b"], "connection": "unified", "coherence": "coherent",
         "residency": "migrates_whole_object", "bandwidth": "1 GB/s"}]})";
}

Mem make_source(const Simulated &machine, PlaceIndex place, uint8_t value) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    const std::vector<uint8_t> bytes(half, value);
    desc.flags = PI_MEM_COPY_HOST_PTR;
    desc.host_ptr = const_cast<uint8_t *>(bytes.data());
    desc.size = half;
    Mem mem;
    check(piMemBufferCreate(machine.topology()->context(place), machine.topology()->device(place),
                            &desc, mem.out()),
          "piMemBufferCreate");
    return mem;
}

/// Copies bytes of the place's own memory into the acquired buffer.
Event copy(const Simulated &machine, const Mem &source, const Acquisition &use,
           pi_event after = nullptr) {
    std::vector<pi_event> waits = use.events();
    if (after != nullptr) {
        waits.push_back(after);
    }
    const pi_region region = pi_test::range(0, use.offset(), half);
    const pi_buffer_copy_desc desc = pi_test::copy_desc(source.get(), use.mem(), region);
    Event event;
    check(piEnqueueMemBufferCopy(machine.queue(use.place()), &desc,
                                 static_cast<uint32_t>(waits.size()), waits.data(), event.out()),
          "piEnqueueMemBufferCopy");
    return event;
}

bool holds(const std::vector<uint8_t> &bytes, int value) {
    return bytes == std::vector<uint8_t>(half, static_cast<uint8_t>(value));
}

Event make_host_event(const Simulated &machine) {
    Event event;
    check(piEventCreateHost(machine.topology()->context(1), nullptr, event.out()),
          "piEventCreateHost");
    return event;
}

} // namespace

TEST_CASE("two places that write parts of one object at once, which migrates as a whole, lose no "
          "byte",
          "[runtime]") {
    const TextFile file(two_devices());
    const Simulated machine(file.path());
    REQUIRE(machine.topology()->description().buffer(1, 2).residency ==
            PI_RESIDENCY_MIGRATES_WHOLE_OBJECT);
    const Runtime runtime(machine.topology());
    bool shared = false;
    for (uint8_t round = 0; round < 30; ++round) {
        const Storage storage(runtime, {.size = 2 * half});
        host_write(storage.buffer(), 0, std::vector<uint8_t>(2 * half, 0));
        for (uint8_t turn = 1; turn <= 3; ++turn) {
            machine.pass_time();
            const auto write = [&](PlaceIndex place) {
                const auto value = static_cast<uint8_t>(place * 64 + round + turn);
                const Mem source = make_source(machine, place, value);
                Acquisition use =
                    storage.buffer((place - 1) * half, half).acquire(place, Access::read_write);
                const Event done = copy(machine, source, use);
                use.release(done.get());
                return wait(done);
            };
            pi_result second = PI_ERROR_INTERNAL;
            std::thread other([&] { second = write(2); });
            const pi_result first = write(1);
            other.join();
            REQUIRE(first == PI_SUCCESS);
            REQUIRE(second == PI_SUCCESS);
            for (const PlaceIndex place : {1U, 2U}) {
                CHECK(holds(host_read(storage.buffer(), (place - 1) * half, half),
                            static_cast<int>(place) * 64 + round + turn));
            }
        }
        REQUIRE(storage.finish(patience));
        const auto routes = storage.counters();
        shared |= routes.bytes[static_cast<size_t>(RouteKind::migrate)] == 0;
    }
    CHECK(shared); // one was used in place, else nothing was tested
}

TEST_CASE("places that write one object, which migrates as a whole, wait for each other, "
          "whichever asked first",
          "[runtime]") {
    const TextFile file(two_devices());
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = 2 * half});
    host_write(storage.buffer(), 0, std::vector<uint8_t>(2 * half, 0));
    for (uint8_t round = 1; round <= 10; ++round) {
        const Mem one = make_source(machine, 1, round);
        const Mem two = make_source(machine, 2, 100 + round);
        machine.pass_time(); // the host knows what callbacks have reported to the runtime
        // The second acquire comes before the first command begins.
        Acquisition first = storage.buffer(0, half).acquire(1, Access::read_write);
        const Event go = make_host_event(machine);
        const Event written = copy(machine, one, first, go.get());
        const pi_mem first_mem = first.mem();
        first.release(written.get());
        Acquisition second = storage.buffer(half, half).acquire(2, Access::read_write);
        CHECK(first_mem == second.mem()); // else nothing is tested
        const Event also = copy(machine, two, second);
        second.release(also.get());
        check(piEventSignalHost(go.get(), PI_SUCCESS), "piEventSignalHost");
        REQUIRE(wait(written) == PI_SUCCESS);
        REQUIRE(wait(also) == PI_SUCCESS);
        CHECK(holds(host_read(storage.buffer(), 0, half), round));
        CHECK(holds(host_read(storage.buffer(), half, half), 100 + round));
    }
}
