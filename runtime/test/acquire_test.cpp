// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 4096;

Event host_event(const Machine &machine, PlaceIndex place) {
    Event event;
    check(piEventCreateHost(machine.topology()->context(place), nullptr, event.out()),
          "piEventCreateHost");
    return event;
}

constexpr uint64_t large = 64 << 10; // drivers may copy large memory that they import

std::unique_ptr<uint8_t, void (*)(void *)> make_zeros() {
    auto *const bytes = static_cast<uint8_t *>(std::aligned_alloc(4096, large));
    std::fill_n(bytes, large, uint8_t{0});
    return {bytes, &std::free};
}

/// Zeroed host memory and a storage that uses it.
struct Given {
    explicit Given(const Runtime &runtime)
        : storage(runtime, {.size = large, .host_memory = memory.get()}) {}
    const std::unique_ptr<uint8_t, void (*)(void *)> memory = make_zeros();
    const Storage storage;
};

} // namespace

TEST_CASE("bytes that the host wrote are read at every place, and bytes of a place at the host",
          "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    for (PlaceIndex place : machine.places()) {
        const Storage storage(runtime, {.size = size});
        const Buffer buffer = storage.buffer();
        const auto bytes = pattern(size, place);
        host_write(buffer, 0, bytes);
        std::vector<uint8_t> seen(size);
        Acquisition reader = buffer.acquire(place, Access::read);
        const Event read = machine.read(reader, seen.data());
        reader.release(read.get());
        REQUIRE(wait(read) == PI_SUCCESS);
        CHECK(seen == bytes);

        const auto other = pattern(size, place + 100);
        Acquisition writer = buffer.acquire(place, Access::discard_write);
        writer.release(machine.write(writer, other.data()).get());
        CHECK(host_read(buffer) == other);
        CHECK(storage.finish(patience));
    }
}

TEST_CASE("an acquire with a wrong range or place is refused and changes nothing", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer part = storage.buffer(1024, 1024);
    host_write(storage.buffer(), 0, pattern(size, 1));
    const Counters before = storage.counters();

    const auto refused = [&](PlaceIndex place, uint64_t offset, uint64_t bytes) {
        return code_of([&] { part.acquire(place, Access::read_write, offset, bytes); });
    };
    CHECK(refused(1, 0, 0) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(1, 0, 1025) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(1, 1024, 1) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(1, 8, UINT64_MAX - 4) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(1, UINT64_MAX, 2) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(machine.topology()->size(), 0, 8) == PI_ERROR_INVALID_VALUE);
    CHECK(code_of([&] { part.explain(machine.topology()->size()); }) == PI_ERROR_INVALID_VALUE);
    CHECK(code_of([&] { storage.buffer(0, 0); }) == PI_ERROR_INVALID_SIZE);
    CHECK(code_of([&] { storage.buffer(size - 1, 2); }) == PI_ERROR_INVALID_SIZE);
    CHECK(code_of([&] { Buffer().acquire(1, Access::read); }) == PI_ERROR_INVALID_OPERATION);
    CHECK_THROWS_WITH(part.acquire(1, Access::read, 1000, 100),
                      Catch::Contains("1000") && Catch::Contains("100") && Catch::Contains("1024"));
    const auto unknown = [&] { part.acquire(1, static_cast<Access>(9)); };
    CHECK(code_of(unknown) == PI_ERROR_INVALID_VALUE);
    CHECK_THROWS_WITH(unknown(), Catch::Contains("access is 9; there are read (0)"));

    CHECK(storage.counters().bytes_required == before.bytes_required);
    CHECK_FALSE(storage.memory_of(1).has_value());
    CHECK(host_read(storage.buffer()) == pattern(size, 1));
}

TEST_CASE("a storage with a wrong description is refused", "[runtime]") {
    const Runtime runtime(Topology::from_places({}));
    std::vector<uint8_t> memory(size + 64);
    uint8_t *const odd = memory.data() + (reinterpret_cast<uintptr_t>(memory.data()) % 2 ? 0 : 1);
    CHECK(code_of([&] { Storage(runtime, {.size = 0}); }) == PI_ERROR_INVALID_SIZE);
    CHECK(code_of([&] { Storage(runtime, {.size = size, .alignment = 24}); }) ==
          PI_ERROR_INVALID_ALIGNMENT);
    CHECK(code_of([&] { Storage(runtime, {.size = size, .flags = PI_MEM_USE_HOST_PTR}); }) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(code_of([&] { Storage(runtime, {.size = size, .alignment = 64, .host_memory = odd}); }) ==
          PI_ERROR_MISALIGNED_POINTER);
    CHECK(code_of([&] { Storage(runtime, {.size = UINT64_MAX, .host_memory = odd}); }) ==
          PI_ERROR_INVALID_SIZE);
    // The error texts name the argument.
    const auto text_of = [&](StorageDescriptor description) {
        try {
            const Storage storage(runtime, std::move(description));
        } catch (const Error &error) {
            return std::string(error.what());
        }
        return std::string();
    };
    std::ostringstream address;
    address << "at 0x" << std::hex << reinterpret_cast<uintptr_t>(odd) << ",";
    using Catch::Contains;
    CHECK_THAT(text_of({.size = size, .flags = PI_MEM_USE_HOST_PTR | PI_MEM_REQUIRE_PINNED}),
               Contains("flags is 0x28;") && Contains("PINNED (0x30)"));
    CHECK_THAT(text_of({.size = size, .alignment = 64, .host_memory = odd}),
               Contains(address.str()) && Contains("64"));
    CHECK_THAT(text_of({.size = UINT64_MAX, .host_memory = odd}),
               Contains(address.str()) && Contains(std::to_string(UINT64_MAX)));
    const std::string none = "the topology has no devices";
    CHECK_THROWS_WITH(runtime.pool_statistics(1), Contains("place 1: " + none));
}

TEST_CASE("a scope that a place does not have is refused there, naming those that it has",
          "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size, .scope = "nowhere"});
    CHECK_THROWS_WITH(storage.buffer().acquire(1, Access::read),
                      Catch::Contains("nowhere") &&
                          Catch::Contains(machine.topology()->info(1).scopes[0].name));
    CHECK_FALSE(storage.memory_of(1).has_value());
}

TEST_CASE("acquiring never waits: a reader's events follow a writer that has not run yet",
          "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    for (PlaceIndex writer_place : machine.places()) {
        for (PlaceIndex reader_place : machine.places()) {
            const Storage storage(runtime, {.size = size});
            const Buffer buffer = storage.buffer();
            const auto bytes = pattern(size, 5);
            const Event gate = host_event(machine, writer_place);
            Acquisition writer = buffer.acquire(writer_place, Access::discard_write);
            // The write waits for the gate, so no command can be complete yet.
            pi_region region{};
            region.extent[0] = size;
            auto desc = pi::desc<pi_buffer_write_desc>();
            desc.mem = writer.mem();
            desc.host_ptr = bytes.data();
            desc.region_count = 1;
            desc.regions = &region;
            const pi_event waits = gate.get();
            Event written;
            check(piEnqueueMemBufferWrite(machine.queue(writer_place), &desc, 1, &waits,
                                          written.out()),
                  "piEnqueueMemBufferWrite");
            writer.release(written.get());

            std::vector<uint8_t> seen(size);
            Acquisition reader = buffer.acquire(reader_place, Access::read);
            CHECK_FALSE(reader.events().empty());
            // On another queue: the application's queue is in order, after the gated write.
            const Queue queue = machine.make_queue(reader_place);
            auto read = pi::desc<pi_buffer_read_desc>();
            read.mem = reader.mem();
            read.host_ptr = seen.data();
            read.region_count = 1;
            read.regions = &region;
            Event done;
            check(piEnqueueMemBufferRead(queue.get(), &read,
                                         static_cast<uint32_t>(reader.events().size()),
                                         reader.events().data(), done.out()),
                  "piEnqueueMemBufferRead");
            reader.release(done.get());
            CHECK(piEventWait(done.get(), 0) == PI_ERROR_TIMEOUT);
            REQUIRE(piEventSignalHost(gate.get(), PI_SUCCESS) == PI_SUCCESS);
            REQUIRE(wait(done) == PI_SUCCESS);
            CHECK(seen == bytes);
            CHECK(storage.finish(patience));
        }
    }
}

TEST_CASE("a failed write is an error for its waiters, and loses no byte", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    for (PlaceIndex place : machine.places()) {
        const Storage storage(
            runtime, {.size = size,
                      .routes = mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce)});
        const Buffer buffer = storage.buffer();
        const auto bytes = pattern(size, 3);
        host_write(buffer, 0, bytes);
        Acquisition writer = buffer.acquire(place, Access::discard_write);
        const Event gate = host_event(machine, place);
        writer.release(gate.get());
        Acquisition reader = buffer.acquire(host_place, Access::read);
        CHECK(code_of([&] { reader.wait(std::chrono::milliseconds(5)); }) == PI_ERROR_TIMEOUT);
        REQUIRE(piEventSignalHost(gate.get(), PI_ERROR_OUT_OF_RESOURCES) == PI_SUCCESS);
        CHECK(code_of([&] { reader.wait(patience); }) != PI_SUCCESS);
        reader.release();
        REQUIRE(storage.finish(patience));
        CHECK(storage.valid(host_place) == RangeSet({0, size}));
        CHECK(host_read(buffer) == bytes);
    }
}

TEST_CASE("an acquire that would wait for this thread's own is refused, another thread's waits",
          "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    host_write(buffer, 0, pattern(size, 1));
    Acquisition held = buffer.acquire(host_place, Access::read_write, 0, 100);
    CHECK(code_of([&] { buffer.acquire(host_place, Access::read, 50, 100); }) ==
          PI_ERROR_INVALID_OPERATION);
    CHECK(code_of([&] { buffer.acquire(1, Access::read, 0, 8); }) == PI_ERROR_INVALID_OPERATION);
    const auto valid_before = storage.valid(1);
    const Counters before = storage.counters();
    for (const Access access : {Access::write, Access::read_write, Access::discard_write}) {
        CHECK_THROWS_WITH(buffer.acquire(1, access, 50, 100),
                          Catch::Contains("acquiring [50, 150)") &&
                              Catch::Contains("the acquisition of [0, 100)") &&
                              Catch::Contains("release that one first"));
    }
    CHECK(storage.valid(1) == valid_before);
    CHECK(storage.valid(host_place) == RangeSet({0, size}));
    CHECK(storage.counters().bytes_required == before.bytes_required);
    buffer.acquire(host_place, Access::read_write, 100, 100).release();

    std::thread other([&] {
        Acquisition reader = buffer.acquire(host_place, Access::read, 50, 100);
        CHECK(code_of([&] { reader.wait(std::chrono::milliseconds(20)); }) == PI_ERROR_TIMEOUT);
        held.release();
        CHECK(code_of([&] { reader.wait(patience); }) == PI_SUCCESS);
        reader.release();
    });
    other.join();
    CHECK(code_of([&] { held.release(); }) == PI_ERROR_INVALID_OPERATION);
}

TEST_CASE("an acquire that would wait for this thread's own in a roundabout way is refused",
          "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size, .routes = mask_of(RouteKind::host_bounce)});
    const Buffer buffer = storage.buffer();
    host_write(buffer, 0, pattern(size, 1));
    Acquisition held = buffer.acquire(1, Access::read_write);
    // The copy waits for the held acquisition, and a wait at the host would deadlock.
    std::thread([&] { buffer.prefetch(host_place); }).join();
    CHECK_THROWS_WITH(buffer.acquire(host_place, Access::read),
                      Catch::Contains("acquiring [0, 4096) at host") &&
                          Catch::Contains("the acquisition of [0, 4096)") &&
                          Catch::Contains("release that one first"));
    held.release();
    CHECK(code_of([&] { buffer.acquire(host_place, Access::read).wait(patience); }) == PI_SUCCESS);
    CHECK(storage.finish(patience));
}

TEST_CASE("an acquisition of a thread that has ended is not another thread's own", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    Acquisition given;
    std::thread([&] { given = buffer.acquire(host_place, Access::discard_write); }).join();
    // The system often reuses the id of a thread that has ended.
    for (int thread = 0; thread < 8; ++thread) {
        std::thread([&] {
            Acquisition later;
            CHECK(code_of([&] { later = buffer.acquire(host_place, Access::read); }) == PI_SUCCESS);
        }).join();
    }
    given.release();
    CHECK(storage.finish(patience));
}

TEST_CASE("several readers are held at the same time", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    host_write(storage.buffer(), 0, pattern(size, 1));
    std::vector<Acquisition> readers;
    for (PlaceIndex place = 0; place < machine.topology()->size(); ++place) {
        readers.push_back(storage.buffer().acquire(place, Access::read));
        readers.back().wait(patience);
    }
    for (Acquisition &reader : readers) {
        reader.release();
    }
    CHECK(storage.finish(patience));
}

namespace {

/// Transfers do not start while it is closed.
class Gate final : public Transport {
public:
    explicit Gate(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}
    void start(const TransferRequest &request, TransferDone done) override {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) {
                waiting_.emplace_back(request, std::move(done));
                return;
            }
        }
        inner_->start(request, std::move(done));
    }
    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    void open() {
        std::vector<std::pair<TransferRequest, TransferDone>> waiting;
        {
            const std::lock_guard lock(mutex_);
            closed_ = false;
            waiting.swap(waiting_);
        }
        for (auto &[request, done] : waiting) {
            inner_->start(request, std::move(done));
        }
    }

private:
    const std::shared_ptr<Transport> inner_;
    std::mutex mutex_;
    bool closed_ = false;
    std::vector<std::pair<TransferRequest, TransferDone>> waiting_;
};

} // namespace

TEST_CASE("the host may write a transfer's source only after the transfer", "[runtime]") {
    const Machine machine;
    std::shared_ptr<Gate> gate;
    RuntimeOptions options;
    options.wrap_transport = [&](std::shared_ptr<Transport> inner) {
        return gate = std::make_shared<Gate>(std::move(inner));
    };
    const Runtime runtime(machine.topology(), options);
    for (const PlaceIndex place : machine.places()) {
        const Storage storage(runtime, {.size = size, .routes = mask_of(RouteKind::host_bounce)});
        const Buffer buffer = storage.buffer();
        const auto bytes = pattern(size, place), other = pattern(size, place + 100);
        host_write(buffer, 0, bytes);
        gate->close();
        std::vector<uint8_t> seen(size);
        Acquisition reader = buffer.acquire(place, Access::read);
        const Event read = machine.read(reader, seen.data());
        reader.release(read.get());
        Acquisition writer = buffer.acquire(host_place, Access::discard_write);
        CHECK(code_of([&] { writer.wait(std::chrono::milliseconds(5)); }) == PI_ERROR_TIMEOUT);
        gate->open();
        writer.wait(patience);
        std::copy(other.begin(), other.end(), reinterpret_cast<uint8_t *>(writer.pointer()));
        writer.release();
        REQUIRE(wait(read) == PI_SUCCESS);
        CHECK(seen == bytes);
        CHECK(host_read(buffer) == other);
    }
    CHECK(runtime.finish(patience));
}

TEST_CASE("a storage may be destroyed while copies and commands use it", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const auto bytes = pattern(1 << 20, 4);
    for (PlaceIndex place : machine.places()) {
        std::vector<uint8_t> seen(bytes.size());
        Event read;
        const Event gate = host_event(machine, 1);
        {
            const Storage storage(
                runtime, {.size = bytes.size(), .routes = mask_of(RouteKind::host_bounce)});
            Acquisition host = storage.buffer().acquire(host_place, Access::discard_write);
            std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t *>(host.pointer()));
            host.release(gate.get()); // so the copy starts only after the storage is destroyed
            Acquisition reader = storage.buffer().acquire(place, Access::read);
            read = machine.read(reader, seen.data());
            reader.release(read.get());
        }
        CHECK_FALSE(runtime.finish(std::chrono::milliseconds(1)));
        REQUIRE(piEventSignalHost(gate.get(), PI_SUCCESS) == PI_SUCCESS);
        REQUIRE(wait(read) == PI_SUCCESS);
        CHECK(seen == bytes);
        CHECK(runtime.finish(patience));
    }
}

TEST_CASE("application memory is used in place, also where it cannot be imported", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    for (const uint64_t shift : {0U, 16U, 1U}) {
        std::vector<uint8_t> memory(size + 8192);
        const auto address = reinterpret_cast<uintptr_t>(memory.data());
        uint8_t *const bytes = memory.data() + (4096 - address % 4096) + shift;
        const auto first = pattern(size, 11);
        std::copy(first.begin(), first.end(), bytes);
        {
            const Storage storage(runtime, {.size = size, .host_memory = bytes});
            for (PlaceIndex place : machine.places()) {
                std::vector<uint8_t> seen(size);
                Acquisition reader = storage.buffer().acquire(place, Access::read);
                const Event read = machine.read(reader, seen.data());
                reader.release(read.get());
                REQUIRE(wait(read) == PI_SUCCESS);
                CHECK(seen == first);
            }
            Acquisition writer = storage.buffer().acquire(1, Access::read_write, 8, 100);
            writer.release(machine.fill(writer, 0xAB).get());
            Acquisition host = storage.buffer().acquire(host_place, Access::read);
            host.wait(patience);
            CHECK(reinterpret_cast<uint8_t *>(host.pointer()) == bytes);
            CHECK(bytes[7] == first[7]);
            CHECK(bytes[8] == 0xAB);
            CHECK(bytes[107] == 0xAB);
            CHECK(bytes[108] == first[108]);
            host.release();
            REQUIRE(storage.finish(patience));
            const Counters counters = storage.counters();
            CHECK(counters.bytes_delivered == counters.bytes_required);
        }
        CHECK(runtime.finish(patience));
    }
}

TEST_CASE("given host memory is stale in no round trip, at any device", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Given given(runtime);
    const Buffer buffer = given.storage.buffer();
    const std::vector<PlaceIndex> places = machine.places();
    int stale = 0;
    for (int round = 0; round < 100; ++round) {
        const PlaceIndex place = places[static_cast<size_t>(round) % places.size()];
        const std::vector<uint8_t> sent(large, static_cast<uint8_t>(2 * round + 1));
        const std::vector<uint8_t> returned(large, static_cast<uint8_t>(2 * round + 2));
        host_write(buffer, 0, sent);
        stale += device_read(machine, buffer, place) != sent;
        Acquisition filling = buffer.acquire(place, Access::discard_write);
        filling.release(machine.fill(filling, returned.front()).get());
        stale += host_read(buffer) != returned;
    }
    CHECK(stale == 0);
    CHECK(runtime.finish(patience));
}

TEST_CASE(
    "given host memory keeps the bytes that the host reads, while a device writes next to them",
    "[runtime]") {
    constexpr uint64_t half = large / 2;
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Given given(runtime);
    const Buffer buffer = given.storage.buffer();
    for (const PlaceIndex place : machine.places()) {
        const auto value = static_cast<uint8_t>(3 * place);
        const Event gate = host_event(machine, place);
        Acquisition first = buffer.acquire(place, Access::discard_write);
        const Event filled = enqueue_fill(machine.queue(place), first, value, {gate.get()});
        first.release(filled.get());
        Acquisition reader = buffer.acquire(host_place, Access::read, 0, half); // pending
        const auto write_elsewhere = [&](uint64_t begin, uint8_t written) {
            Event done;
            std::thread([&] { // not the reader's thread, which could not wait for itself
                Acquisition use = buffer.acquire(place, Access::discard_write, begin, half);
                done = machine.fill(use, written);
                use.release(done.get());
            })
                .join();
            return done;
        };
        const Event beside = write_elsewhere(half, value + 1);
        const Event over = write_elsewhere(0, value + 2);
        REQUIRE(piEventSignalHost(gate.get(), PI_SUCCESS) == PI_SUCCESS);
        CHECK(wait(beside) == PI_SUCCESS);
        const auto *const bytes = reinterpret_cast<const uint8_t *>(reader.pointer());
        const std::vector<uint8_t> before(half, value);
        for (int time = 0; time < 3; ++time) {
            CHECK(std::equal(before.begin(), before.end(), bytes));
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        reader.release();
        CHECK(wait(over) == PI_SUCCESS);
        CHECK(host_read(buffer, 0, half) == std::vector<uint8_t>(half, value + 2));
        CHECK(host_read(buffer, half, half) == std::vector<uint8_t>(half, value + 1));
    }
    CHECK(runtime.finish(patience));
}

TEST_CASE("an acquisition calls back when it is ready", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    Acquisition writer = storage.buffer().acquire(1, Access::discard_write);
    const Event gate = host_event(machine, 1);
    writer.release(gate.get());
    Acquisition host = storage.buffer().acquire(host_place, Access::read);
    std::atomic<int> calls{0};
    std::atomic<pi_result> seen{PI_ERROR_INTERNAL};
    host.on_ready([&](pi_result result, const std::string &) {
        seen = result;
        ++calls;
    });
    CHECK(calls == 0);
    REQUIRE(piEventSignalHost(gate.get(), PI_SUCCESS) == PI_SUCCESS);
    host.wait(patience);
    host.release();
    REQUIRE(runtime.finish(patience));
    CHECK(calls == 1);
    CHECK(seen == PI_SUCCESS);
    CHECK(code_of([&] { storage.buffer().acquire(1, Access::read).pointer(); }) ==
          PI_ERROR_INVALID_OPERATION);
}
