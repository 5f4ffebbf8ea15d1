// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accelerators that use one host allocation in place without cache coherence: simulated ones, which
// return old bytes until a flush or an invalidate. Two contexts of an accelerator are two
// independent places.
#include "equipment.hpp"
#include "fault_transport.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 8192;
constexpr uint64_t unit = 64; // flush_atom in cma-board.json
/// A fault that never occurs; it makes the layer count calls.
const std::string count_calls = "piQueueFinish:1000000=fail(BACKEND)";

/// Page-aligned memory, which can be imported.
class Pages {
public:
    Pages() { std::fill_n(data(), size, uint8_t{0}); }
    uint8_t *data() { return memory_.get(); }

private:
    struct Free {
        void operator()(uint8_t *memory) const { std::free(memory); }
    };
    std::unique_ptr<uint8_t, Free> memory_{static_cast<uint8_t *>(std::aligned_alloc(4096, size))};
};

std::vector<uint8_t> read_at(const Machine &machine, const Buffer &buffer, PlaceIndex place,
                             uint64_t offset, uint64_t length) {
    return place == host_place ? host_read(buffer, offset, length)
                               : device_read(machine, buffer, place, offset, length);
}

void fill_at(const Machine &machine, const Buffer &buffer, PlaceIndex place, uint64_t offset,
             uint64_t length, uint8_t value) {
    if (place == host_place) {
        host_write(buffer, offset, std::vector<uint8_t>(length, value));
        return;
    }
    Acquisition use = buffer.acquire(place, Access::discard_write, offset, length);
    use.release(machine.fill(use, value).get()); // no wait: events order the uses
}

} // namespace

TEST_CASE("memory without coherence is used in place: caches are synced, no byte is copied",
          "[runtime]") {
    const Machine machine(2, count_calls);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    auto model = pattern(size, 1);
    host_write(buffer, 0, model);
    uint64_t reads = 0;
    uint64_t fills = 0;
    for (const PlaceIndex place : {1U, 2U, 1U, 1U, 2U, 2U, 1U}) {
        CHECK(device_read(machine, buffer, place, 0, size) == model);
        const uint64_t offset = 128 * (1 + reads);
        fill_at(machine, buffer, place, offset, 128, static_cast<uint8_t>(place));
        std::fill_n(model.begin() + static_cast<ptrdiff_t>(offset), 128,
                    static_cast<uint8_t>(place));
        ++reads;
        ++fills;
    }
    CHECK(host_read(buffer) == model);
    REQUIRE(runtime.finish(patience));
    CHECK(storage.memory_of(1) == storage.memory_of(host_place));
    CHECK(storage.memory_of(2) == storage.memory_of(host_place));
    const Counters counters = storage.counters();
    CHECK(counters.bytes_required == 0);
    CHECK(counters.bytes_delivered == 0);
    CHECK(counters.link_bytes.empty());
    CHECK(counters.coherence_syncs > 5);
    // Only the test's own commands.
    CHECK(machine.calls_of("piEnqueueMemBufferRead") == reads);
    CHECK(machine.calls_of("piEnqueueMemBufferFill") == fills);
    for (const char *function : {"piEnqueueMemBufferWrite", "piEnqueueMemBufferCopy",
                                 "piEnqueueMemBufferMap", "piEnqueueMemUnmap"}) {
        INFO(function);
        CHECK(machine.calls_of(function) == 0);
    }
    CHECK(machine.calls_of("piMemFlush") > 0);
    CHECK(machine.calls_of("piMemInvalidate") > 0);
    const std::string text = buffer.explain(1).text;
    INFO(text);
    CHECK(text.find("flush and invalidate in units of 64 bytes") != std::string::npos);
}

TEST_CASE("only written bytes are flushed and invalidated", "[runtime]") {
    // Bytes changed outside the runtime arrive only if it syncs unnecessarily.
    const Machine machine;
    const Runtime runtime(machine.topology());
    Pages memory;
    auto model = pattern(size, 2);
    std::copy(model.begin(), model.end(), memory.data());
    const Storage storage(runtime, {.size = size, .host_memory = memory.data()});
    const Buffer buffer = storage.buffer();
    REQUIRE(device_read(machine, buffer, 1, 0, size) == model);

    host_write(buffer, 1024, std::vector<uint8_t>(512, 3));
    host_write(buffer, 4096, std::vector<uint8_t>(64, 4));
    std::fill_n(model.begin() + 1024, 512, uint8_t{3});
    std::fill_n(model.begin() + 4096, 64, uint8_t{4});
    for (const uint64_t planted : {0U, 1023U, 1536U, 4095U, 4160U, 8191U}) {
        memory.data()[planted] ^= 0xFF;
    }
    CHECK(device_read(machine, buffer, 1, 0, size) == model);

    fill_at(machine, buffer, 1, 2048, 640, 5);
    std::fill_n(model.begin() + 2048, 640, uint8_t{5});
    auto host = host_read(buffer);
    for (const uint64_t planted : {0U, 1023U, 1536U, 4095U, 4160U, 8191U}) {
        CHECK(host[planted] == (model[planted] ^ 0xFF));
        host[planted] = model[planted];
    }
    CHECK(host == model);
    CHECK(storage.counters().bytes_delivered == 0);
}

TEST_CASE(
    "a flush that would block inside a callback runs on a thread, and its failure is reported",
    "[runtime]") {
    const bool from_host = GENERATE(true, false);
    const std::string refused = from_host ? "piMemFlush" : "piMemInvalidate";
    const bool fails_again = GENERATE(false, true);
    CAPTURE(refused, fails_again);
    const Machine machine(2, refused + ":1=fail(WOULD_BLOCK)" +
                                 (fails_again ? "; " + refused + ":2=fail(BACKEND)" : ""));
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    fill_at(machine, buffer, from_host ? host_place : 1, 0, size, 7);
    const std::vector<uint8_t> all(size, 7);
    const auto read = [&] { return read_at(machine, buffer, from_host ? 1 : host_place, 0, size); };
    if (fails_again) {
        CHECK(code_of([&] {
                  Acquisition use = buffer.acquire(from_host ? 1 : host_place, Access::read);
                  use.wait(patience);
              }) != PI_SUCCESS);
        REQUIRE(runtime.finish(patience));
    }
    CHECK(read() == all);
    CHECK(storage.counters().bytes_delivered == 0);
    CHECK(machine.calls_of(refused) >= (fails_again ? 3 : 2));
    CHECK(runtime.finish(patience));
}

TEST_CASE("a unit is flushed or invalidated only once", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    const bool from_host = GENERATE(true, false);
    const PlaceIndex writer = from_host ? host_place : 1;
    const PlaceIndex reader = from_host ? 1 : host_place;
    fill_at(machine, buffer, writer, 0, size, 1);
    REQUIRE(storage.finish(patience)); // the bytes of a pending write are not synced along
    for (const uint64_t offset : {10, 20, 0, 50}) {
        CHECK(read_at(machine, buffer, reader, offset, 10) == std::vector<uint8_t>(10, 1));
        CHECK(storage.counters().coherence_syncs == 1);
    }
    CHECK(read_at(machine, buffer, reader, unit, 1) == std::vector<uint8_t>(1, 1));
    CHECK(storage.counters().coherence_syncs == 2);
}

TEST_CASE("bytes of one unit that several places write in turn are all kept", "[runtime]") {
    const Machine machine;
    const unsigned seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const RouteMask routes = GENERATE(
        values<RouteMask>({all_routes, mask_of(RouteKind::import) | mask_of(RouteKind::host_bounce),
                           mask_of(RouteKind::host_bounce)}));
    const Runtime runtime(machine.topology());
    for (int program = 0; program < 20; ++program) {
        const Storage storage(runtime, {.size = 5 * unit, .routes = routes});
        const Buffer buffer = storage.buffer();
        std::vector<uint8_t> model(5 * unit, 0);
        // Half of the programs start with bytes that were never written and have no value.
        std::vector<bool> known(model.size(), program % 2 == 0);
        if (program % 2 == 0) {
            host_write(buffer, 0, model);
        }
        for (int step = 0; step < 60; ++step) {
            const auto place = static_cast<PlaceIndex>(random() % machine.topology()->size());
            const uint64_t offset = random() % model.size();
            const uint64_t length =
                1 + random() % std::min<uint64_t>(model.size() - offset, 1 + random() % 70);
            const auto kind = random() % 5;
            if (kind == 0) { // to all places at once, without a wait
                buffer.broadcast(machine.places(), offset, length);
                continue;
            }
            if (kind < 3) {
                const auto value = static_cast<uint8_t>(random());
                fill_at(machine, buffer, place, offset, length, value);
                std::fill_n(model.begin() + static_cast<ptrdiff_t>(offset), length, value);
                std::fill_n(known.begin() + static_cast<ptrdiff_t>(offset), length, true);
                continue;
            }
            const auto seen = read_at(machine, buffer, place, offset, length);
            for (uint64_t byte = 0; byte < length; ++byte) {
                INFO("step " << step << ", byte " << offset + byte << " at place " << place);
                REQUIRE((!known[offset + byte] || seen[byte] == model[offset + byte]));
            }
        }
        REQUIRE(storage.finish(patience));
        const Counters counters = storage.counters();
        CHECK(counters.bytes_delivered == counters.bytes_required);
    }
}

TEST_CASE("threads that write neighbours in one unit, each at another place, lose no write",
          "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    host_write(storage.buffer(), 0, std::vector<uint8_t>(size, 0));
    constexpr uint64_t each = 24; // so that units have two or three owners
    constexpr uint32_t thread_count = 4;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (uint32_t index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            const Buffer own = storage.buffer(index * each, each);
            std::vector<Queue> queues(machine.topology()->size());
            for (const PlaceIndex place : machine.places()) {
                queues[place] = machine.make_queue(place);
            }
            for (uint32_t step = 0; step < 60; ++step) {
                const PlaceIndex place = (index + step) % machine.topology()->size();
                Acquisition use = own.acquire(place, Access::read_write);
                std::vector<uint8_t> bytes(each);
                if (place == host_place) {
                    std::memcpy(bytes.data(), use.pointer(), each);
                } else if (wait(machine.read(use, bytes.data(), queues[place].get())) !=
                           PI_SUCCESS) {
                    ++wrong;
                }
                wrong += bytes != std::vector<uint8_t>(each, static_cast<uint8_t>(step));
                bytes.assign(each, static_cast<uint8_t>(step + 1));
                if (place == host_place) {
                    std::memcpy(use.pointer(), bytes.data(), each);
                    use.release();
                    continue;
                }
                const Event written = machine.write(use, bytes.data(), queues[place].get());
                use.release(written.get());
                wrong += wait(written) != PI_SUCCESS;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
    const auto all = host_read(storage.buffer());
    CHECK(std::vector<uint8_t>(all.begin(), all.begin() + thread_count * each) ==
          std::vector<uint8_t>(thread_count * each, 60));
    REQUIRE(runtime.finish(patience));
}

TEST_CASE("a failed flush or invalidate is an error that names it, and loses no byte",
          "[runtime]") {
    const bool flush = GENERATE(true, false);
    const std::string function = flush ? "piMemFlush" : "piMemInvalidate";
    const PlaceIndex writer = flush ? host_place : 1;
    const PlaceIndex reader = flush ? 1 : host_place;
    // The first calls succeed: the bytes of the other end come first.
    const Machine machine(2, function + ":2=fail(BACKEND)");
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    fill_at(machine, buffer, writer, 0, size, 1);
    REQUIRE(read_at(machine, buffer, reader, 0, size) == std::vector<uint8_t>(size, 1));
    fill_at(machine, buffer, writer, 100, 1000, 2);
    auto model = std::vector<uint8_t>(size, 1);
    std::fill_n(model.begin() + 100, 1000, uint8_t{2});

    Acquisition use = buffer.acquire(reader, Access::read);
    CHECK_THROWS_WITH(use.wait(patience), Catch::Contains(function + " of [") &&
                                              Catch::Contains("sim:0:0") &&
                                              Catch::Contains("fault"));
    if (reader != host_place) {
        std::vector<uint8_t> seen(size);
        CHECK(wait(machine.read(use, seen.data())) == PI_ERROR_DEPENDENCY_FAILED);
    }
    use.release();
    REQUIRE(storage.finish(patience));
    CHECK(storage.valid(writer) == RangeSet({0, size}));
    CHECK_FALSE(storage.valid(reader).overlaps(Range{100, 1100}));
    CHECK(storage.counters().failed_attempts == 1);
    CHECK(read_at(machine, buffer, reader, 0, size) == model);
    CHECK(read_at(machine, buffer, writer, 0, size) == model);
}

TEST_CASE("a write keeps the rest of its unit, even if a write elsewhere that supersedes it fails",
          "[runtime]") {
    const bool is_over_before = GENERATE(false, true); // whether the successful write ends first
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    std::vector<PlaceIndex> cached;
    std::vector<PlaceIndex> apart;
    host_write(buffer, 0, std::vector<uint8_t>(size, 1));
    for (const PlaceIndex place : machine.places()) {
        device_read(machine, buffer, place);
        (storage.memory_of(place) == storage.memory_of(host_place) ? cached : apart)
            .push_back(place);
    }
    if (apart.empty()) {
        return; // the place uses only the host's memory
    }
    for (const PlaceIndex place : cached) {
        INFO("place " << place);
        fill_at(machine, buffer, place, 0, 256, 0xBB); // its caches keep these bytes
        std::vector<uint8_t> model(size, 1);
        host_write(buffer, 0, model);
        device_read(machine, buffer, apart.front());

        Acquisition failing = buffer.acquire(apart.front(), Access::discard_write, 0, 256);
        REQUIRE(wait(machine.fill(failing, 0xEE)) == PI_SUCCESS);
        fill_at(machine, buffer, place, 100, 10, 2);
        fill_at(machine, buffer, place, 130, 10, 3);
        if (is_over_before) {
            CHECK(storage.finish(patience));
        }
        failing.abandon();
        std::fill_n(model.begin() + 100, 10, uint8_t{2});
        std::fill_n(model.begin() + 130, 10, uint8_t{3});
        CHECK(device_read(machine, buffer, place) == model);
        CHECK(host_read(buffer) == model);
        for (const PlaceIndex other : machine.places()) {
            CHECK(device_read(machine, buffer, other) == model);
        }
    }
    CHECK(runtime.finish(patience));
}

TEST_CASE("a write is kept if another one in its unit fails", "[runtime]") {
    const bool is_over_before = GENERATE(false, true); // whether the successful write ends first
    const Machine machine(2, count_calls);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    host_write(buffer, 0, std::vector<uint8_t>(size, 1));
    device_read(machine, buffer, 1);
    host_write(buffer, 0, std::vector<uint8_t>(8, 2)); // newer than the cached bytes
    Acquisition failing = buffer.acquire(1, Access::discard_write, 0, 8);
    fill_at(machine, buffer, 1, 8, 8, 3);
    if (is_over_before) {
        check(piQueueFinish(machine.queue(1)), "piQueueFinish");
    }
    failing.abandon();
    std::vector<uint8_t> model(unit - 8, 1);
    std::fill_n(model.begin(), 8, uint8_t{3});
    for (const PlaceIndex place : {PlaceIndex{1}, host_place, PlaceIndex{2}, PlaceIndex{1}}) {
        const auto seen =
            read_at(machine, buffer, place, 0, unit); // the first 8 bytes may have any value
        CHECK(std::vector<uint8_t>(seen.begin() + 8, seen.end()) == model);
    }
    host_write(buffer, 0, std::vector<uint8_t>(8, 4));
    CHECK(read_at(machine, buffer, 1, 0, 8) == std::vector<uint8_t>(8, 4));
}

TEST_CASE("a write in shared units that fails before its turn ends in its turn", "[runtime]") {
    const Machine machine(2, count_calls);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    Event gate;
    REQUIRE(piEventCreateHost(machine.topology()->context(2), nullptr, gate.out()) == PI_SUCCESS);
    Acquisition earlier = buffer.acquire(2, Access::discard_write, 0, 8);
    earlier.release(gate.get());
    Acquisition failing = buffer.acquire(1, Access::discard_write, 0, 8);
    Event failed;
    SECTION("as it is abandoned") {
        failing.abandon();
    }
    SECTION("as its event fails") {
        REQUIRE(piEventCreateHost(machine.topology()->context(1), nullptr, failed.out()) ==
                PI_SUCCESS);
        failing.release(failed.get());
        REQUIRE(piEventSignalHost(failed.get(), PI_ERROR_BACKEND) == PI_SUCCESS);
    }
    Acquisition reader = buffer.acquire(host_place, Access::read, 0, 8);
    CHECK(code_of([&] { reader.wait(std::chrono::milliseconds(5)); }) == PI_ERROR_TIMEOUT);
    REQUIRE(piEventSignalHost(gate.get(), PI_SUCCESS) == PI_SUCCESS);
    CHECK(code_of([&] { reader.wait(patience); }) == PI_ERROR_DEPENDENCY_FAILED);
    reader.release();
    CHECK(storage.finish(patience));
    CHECK(storage.valid(2) == RangeSet({0, 8}));
}

TEST_CASE("a write does not begin if newer bytes of its unit could not be synced", "[runtime]") {
    const Machine machine(2, "piMemFlush:2=fail(BACKEND)");
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    host_write(buffer, 0, std::vector<uint8_t>(size, 1));
    REQUIRE(device_read(machine, buffer, 1, 0, size) == std::vector<uint8_t>(size, 1));
    host_write(buffer, 0, std::vector<uint8_t>(50, 2));
    Acquisition use = buffer.acquire(1, Access::discard_write, 50, 14);
    const Event fill = machine.fill(use, 3);
    use.release(fill.get());
    CHECK(wait(fill) == PI_ERROR_DEPENDENCY_FAILED);
    REQUIRE(storage.finish(patience));
    std::vector<uint8_t> model(size, 1);
    std::fill_n(model.begin(), 50, uint8_t{2});
    CHECK(host_read(buffer) == model);
    fill_at(machine, buffer, 1, 50, 14, 3);
    std::fill_n(model.begin() + 50, 14, uint8_t{3});
    CHECK(host_read(buffer) == model);
}
