// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways in which a use ends.
#include "equipment.hpp"
#include "fault_transport.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 4096;

} // namespace

TEST_CASE("a released acquisition can be waited for, and has no memory any more", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    host_write(storage.buffer(), 0, pattern(size, 1));
    const bool abandoned = GENERATE(false, true);
    for (PlaceIndex place = 0; place < machine.topology()->size(); ++place) {
        INFO("place " << place);
        Acquisition use = storage.buffer().acquire(place, Access::read, 64, 128);
        CHECK((use.mem() == nullptr) == (place == host_place));
        CHECK(use.offset() == 64);
        use.wait(patience);
        if (abandoned) {
            use.abandon();
        } else {
            use.release();
        }
        CHECK_THROWS_WITH(use.release(),
                          Catch::Contains("[64, 192) at " + machine.topology()->info(place).name));
        const auto refused = [](auto call) {
            CHECK(code_of(call) == PI_ERROR_INVALID_OPERATION);
            CHECK_THROWS_WITH(call(), Catch::Contains("released or abandoned already"));
        };
        refused([&] { use.mem(); });
        refused([&] { use.offset(); });
        refused([&] { use.argument(); });
        refused([&] { use.lead(); });
        refused([&] { use.events(); });
        refused([&] { use.pointer(); });
        CHECK_THROWS_WITH(use.pointer(), Catch::Contains("pointer()"));
        use.wait(patience);
        std::atomic<int> ready = 0;
        use.on_ready([&](pi_result result, const std::string &) { ready += result == PI_SUCCESS; });
        CHECK(runtime.finish(patience));
        CHECK(ready == 1);
        CHECK(use.place() == place);
        CHECK(use.range() == Range{64, 192});
        CHECK_FALSE(use.held());
    }
}

TEST_CASE("a dropped acquisition is over, and its write failed", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(
        runtime,
        {.size = size, .routes = mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce)});
    const Buffer buffer = storage.buffer();
    const auto bytes = pattern(size, 9);
    host_write(buffer, 0, bytes);
    { Acquisition dropped = buffer.acquire(1, Access::discard_write); }
    CHECK(host_read(buffer) == bytes);
    { Acquisition dropped = buffer.acquire(1, Access::read); }
    CHECK(storage.finish(patience));
    CHECK(host_read(buffer) == bytes);
}

TEST_CASE("an exception of an on_ready callback reaches no other call", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    Acquisition read;
    std::atomic<bool> called = false;
    const auto read_behind = [&](PlaceIndex place) {
        std::thread([&] { // not the writer's thread, which could not wait for itself
            read = buffer.acquire(place, Access::read);
        })
            .join();
        read.on_ready([&called](pi_result, const std::string &) {
            called = true;
            throw std::runtime_error("thrown by a test");
        });
    };
    SECTION("that of one who releases a use") {
        Acquisition write = buffer.acquire(host_place, Access::discard_write);
        read_behind(1);
        CHECK_NOTHROW(write.release());
        CHECK_FALSE(write.held());
    }
    SECTION("that of one who releases a use with an event that is final already") {
        Acquisition write = buffer.acquire(1, Access::discard_write);
        const Event filled = machine.fill(write, 1);
        REQUIRE(wait(filled) == PI_SUCCESS);
        read_behind(host_place);
        CHECK_NOTHROW(write.release(filled.get()));
        CHECK_FALSE(write.held());
    }
    SECTION("the destructor of another acquisition") {
        {
            const Acquisition write = buffer.acquire(host_place, Access::discard_write);
            read_behind(1);
        }
        CHECK_THROWS(read.wait(patience));
    }
    SECTION("on_ready itself, where the bytes are there") {
        read = buffer.acquire(host_place, Access::read);
        CHECK_NOTHROW(read.on_ready([&called](pi_result, const std::string &) {
            called = true;
            throw 1;
        }));
    }
    read.release();
    CHECK(runtime.finish(patience));
    CHECK(called);
}

TEST_CASE("a release with an event that refuses callbacks ends when the event is complete",
          "[runtime]") {
    const Machine machine(1, "piEventSetCallback:1..1000=fail(BACKEND)");
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    Event gate;
    REQUIRE(piEventCreateHost(machine.topology()->context(1), nullptr, gate.out()) == PI_SUCCESS);
    Acquisition writer = storage.buffer().acquire(1, Access::discard_write);
    REQUIRE(wait(machine.fill(writer, 7)) == PI_SUCCESS);
    CHECK_NOTHROW(writer.release(gate.get()));
    CHECK_FALSE(writer.held());
    CHECK(storage.valid(1).empty());
    REQUIRE(piEventSignalHost(gate.get(), PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(runtime.finish(patience));
    CHECK(storage.valid(1) == RangeSet({0, size}));
    CHECK(host_read(storage.buffer()) == std::vector<uint8_t>(size, 7));
}

TEST_CASE("only an event of the place's plugin instance ends a use there", "[runtime]") {
    const Machine machine;
    const Loader other_loader = make_loader();
    const pi_device device = host_device(other_loader);
    const auto another = Topology::from_devices(std::vector<pi_device>{device});
    Event event;
    REQUIRE(piEventCreateHost(another->context(1), nullptr, event.out()) == PI_SUCCESS);

    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    Acquisition writer = storage.buffer().acquire(1, Access::discard_write);
    CHECK(code_of([&] { writer.release(event.get()); }) == PI_ERROR_INVALID_EVENT);
    CHECK(writer.held());
    CHECK(writer.mem() != nullptr);
    writer.release();
    // The host accepts any event: a bridge.
    Acquisition host = storage.buffer().acquire(host_place, Access::read_write);
    host.wait(patience);
    host.release(event.get());
    Acquisition next = storage.buffer().acquire(1, Access::read);
    CHECK(next.events().size() == 1);
    CHECK(piEventWait(next.events()[0], 0) == PI_ERROR_TIMEOUT);
    REQUIRE(piEventSignalHost(event.get(), PI_SUCCESS) == PI_SUCCESS);
    CHECK(piEventWait(next.events()[0], std::chrono::nanoseconds(patience).count()) == PI_SUCCESS);
    next.release();
    CHECK(runtime.finish(patience));
}

TEST_CASE("a write that is released before its fetched bytes are there is valid when they are",
          "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size, .routes = mask_of(RouteKind::host_bounce)});
    const Buffer buffer = storage.buffer();
    const bool succeeds = GENERATE(true, false);
    const auto bytes = pattern(size, 5);
    Event end;
    REQUIRE(piEventCreateHost(machine.topology()->context(1), nullptr, end.out()) == PI_SUCCESS);
    host_write(buffer, 0, bytes);
    Acquisition first = buffer.acquire(host_place, Access::read_write);
    first.wait(patience);
    first.release(end.get());
    Acquisition second = buffer.acquire(1, Access::write);
    second.release();
    CHECK_FALSE(second.held());
    CHECK(storage.valid(1).empty());
    REQUIRE(piEventSignalHost(end.get(), succeeds ? PI_SUCCESS : PI_ERROR_BACKEND) == PI_SUCCESS);
    REQUIRE(storage.finish(patience));
    CHECK(storage.valid(1) == (succeeds ? RangeSet({0, size}) : RangeSet()));
    CHECK(storage.valid(host_place) == (succeeds ? RangeSet() : RangeSet({0, size})));
    CHECK(host_read(buffer) == bytes);
}

TEST_CASE("a write that is released fails if its fetched bytes did not arrive", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology(), failing([](const TransferRequest &) {
                              return FaultTransport::Fault::before;
                          }));
    const Storage storage(runtime, {.size = size, .routes = mask_of(RouteKind::host_bounce)});
    const Buffer buffer = storage.buffer();
    const auto bytes = pattern(size, 6);
    host_write(buffer, 0, bytes);
    Acquisition writer = buffer.acquire(1, Access::write, 0, 100);
    REQUIRE(runtime.finish(patience));
    writer.release();
    CHECK(storage.valid(1).empty());
    CHECK(host_read(buffer) == bytes);
}
