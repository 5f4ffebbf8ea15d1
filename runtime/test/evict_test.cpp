// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A place's memory is full; and reuse of pooled memory.
#include "equipment.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

constexpr uint64_t size = 8192;
constexpr PlaceIndex place = 1;

/// A storage that has memory of its own at each place.
Storage make_storage(const Runtime &runtime, uint64_t bytes = size, uint64_t alignment = 0) {
    return Storage(runtime,
                   {.size = bytes,
                    .alignment = alignment,
                    .routes = mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce)});
}

void use(const Machine &machine, const Buffer &buffer, std::vector<uint8_t> *seen = nullptr) {
    std::vector<uint8_t> bytes(buffer.size());
    Acquisition reader = buffer.acquire(place, Access::read);
    const Event read = machine.read(reader, bytes.data());
    reader.release(read.get());
    REQUIRE(wait(read) == PI_SUCCESS);
    if (seen != nullptr) {
        *seen = bytes;
    }
}

void fill(const Machine &machine, const Buffer &buffer, uint64_t offset, uint64_t bytes,
          uint8_t value) {
    Acquisition writer = buffer.acquire(place, Access::write, offset, bytes);
    const Event filled = machine.fill(writer, value);
    writer.release(filled.get());
    REQUIRE(wait(filled) == PI_SUCCESS);
}

/// A machine whose device fails the n-th buffer allocation.
struct Full {
    explicit Full(int n, RuntimeOptions options = {})
        : machine(2, "piMemBufferCreate:" + std::to_string(n) + "=fail(OUT_OF_DEVICE_MEMORY)"),
          runtime(machine.topology(), options) {}
    /// A storage written at the host, then read at the place.
    Storage resident(uint32_t seed) {
        Storage storage = make_storage(runtime);
        host_write(storage.buffer(), 0, pattern(size, seed));
        use(machine, storage.buffer());
        return storage;
    }
    Machine machine;
    Runtime runtime;
};

} // namespace

TEST_CASE("without memory, the least recently used clean replica makes room", "[runtime]") {
    Full full(4);
    const Storage first = full.resident(1);
    const Storage second = full.resident(2);
    const Storage dirty = full.resident(3);
    fill(full.machine, dirty.buffer(), 0, 100, 9);
    use(full.machine, first.buffer()); // now the second is the least recently used
    REQUIRE(full.runtime.finish(patience));

    const Storage fourth = full.resident(4);
    CHECK(second.valid(place).empty());
    CHECK_FALSE(second.memory_of(place));
    CHECK(first.valid(place) == RangeSet({0, size}));
    CHECK(dirty.valid(place) == RangeSet({0, size}));
    CHECK(full.runtime.counters().evictions == 1);
    CHECK(second.counters().evictions == 1);
    CHECK(full.runtime.counters().bytes_written_back == 0);
    for (const auto &[storage, seed] : {std::pair{&first, 1U}, {&second, 2U}, {&fourth, 4U}}) {
        CHECK(host_read(storage->buffer()) == pattern(size, seed));
        std::vector<uint8_t> seen;
        use(full.machine, storage->buffer(), &seen); // evicted bytes are fetched again
        CHECK(seen == pattern(size, seed));
    }
}

TEST_CASE("a copy without memory, at a driver that allocates at the first use, is repeated when "
          "there is room",
          "[runtime]") {
    const std::string no_memory = "=fail(OUT_OF_DEVICE_MEMORY)";
    const uint64_t idle = GENERATE(0, 1);
    // The idle replica takes the first write.
    const Machine machine(2, "piEnqueueMemBufferWrite:" + std::to_string(idle + 1) + no_memory +
                                 ";piEnqueueMemBufferMap:" + std::to_string(idle + 1) + no_memory);
    const Runtime runtime(machine.topology());
    const auto make = [&](uint32_t seed) {
        Storage storage(runtime, {.size = size,
                                  .routes = mask_of(RouteKind::host_bounce),
                                  .styles = mask_of(BounceStyle::write)});
        host_write(storage.buffer(), 0, pattern(size, seed));
        return storage;
    };
    const Storage clean = make(1);
    if (idle != 0) {
        use(machine, clean.buffer());
        REQUIRE(runtime.finish(patience));
    }
    const Storage wanted = make(2);
    const Acquisition reader = wanted.buffer().acquire(place, Access::read);
    CHECK(runtime.finish(patience));
    CHECK(wanted.valid(place).contains({0, size}) == (idle != 0));
    CHECK(clean.valid(place).empty());
    CHECK(runtime.counters().evictions == idle);
    CHECK(runtime.counters().failed_attempts == 1);
}

TEST_CASE("dirty bytes are written back before their memory goes, and only those", "[runtime]") {
    Full full(2);
    const Storage dirty = full.resident(1);
    fill(full.machine, dirty.buffer(), 1000, 500, 7);
    fill(full.machine, dirty.buffer(), 4000, 10, 8);
    const uint64_t before = full.runtime.counters().bytes_delivered;
    const Storage other = make_storage(full.runtime);
    fill(full.machine, other.buffer(), 0, size, 5);
    CHECK_FALSE(dirty.memory_of(place));
    CHECK(full.runtime.counters().bytes_written_back == 510);
    CHECK(full.runtime.counters().bytes_delivered - before == 510);
    std::vector<uint8_t> expected = pattern(size, 1);
    std::fill_n(expected.begin() + 1000, 500, uint8_t{7});
    std::fill_n(expected.begin() + 4000, 10, uint8_t{8});
    CHECK(host_read(dirty.buffer()) == expected);
    CHECK(host_read(other.buffer()) == std::vector<uint8_t>(size, 5));
}

TEST_CASE("a replica in use is never evicted, and the error says that memory is out", "[runtime]") {
    Full full(2);
    const Storage held = full.resident(1);
    Acquisition reader = held.buffer().acquire(place, Access::read);
    const Storage other = make_storage(full.runtime);
    host_write(other.buffer(), 0, pattern(size, 2));
    CHECK(code_of([&] { other.buffer().acquire(place, Access::read); }) ==
          PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(held.valid(place) == RangeSet({0, size}));
    CHECK(reader.mem() != nullptr);
    reader.release();
    CHECK(host_read(other.buffer()) == pattern(size, 2)); // no byte is lost
    std::vector<uint8_t> seen;
    use(full.machine, other.buffer(), &seen);
    CHECK(seen == pattern(size, 2));
}

TEST_CASE("a replica that cannot be written back stays, with its bytes", "[runtime]") {
    // Copies to the host fail, so the dirty bytes cannot be evicted.
    Full full(2);
    const Storage stuck(full.runtime, {.size = size, .routes = mask_of(RouteKind::migrate)});
    fill(full.machine, stuck.buffer(), 0, size, 3);
    const Storage other = make_storage(full.runtime);
    CHECK(code_of([&] { other.buffer().acquire(place, Access::discard_write); }) ==
          PI_ERROR_OUT_OF_DEVICE_MEMORY);
    std::vector<uint8_t> seen;
    use(full.machine, stuck.buffer(), &seen);
    CHECK(seen == std::vector<uint8_t>(size, 3));
    CHECK(full.runtime.counters().evictions == 0);
}

TEST_CASE("memory of a destroyed storage is reused for the next of its kind", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const auto visit = [&](uint64_t bytes, uint64_t alignment) {
        const Storage storage = make_storage(runtime, bytes, alignment);
        Acquisition writer = storage.buffer().acquire(place, Access::discard_write);
        const pi_mem mem = writer.mem();
        uint64_t host_alignment = 0;
        piMemGetInfo(mem, PI_MEM_INFO_ALIGNMENT, sizeof host_alignment, &host_alignment, nullptr);
        if (alignment != 0) {
            CHECK(host_alignment % alignment == 0);
        }
        writer.release(machine.fill(writer, 1).get());
        REQUIRE(storage.finish(patience));
    };
    const auto statistics = [&] { return runtime.pool_statistics(place); };
    visit(100000, 0);
    REQUIRE(runtime.finish(patience));
    CHECK(statistics().misses == 1);
    CHECK(statistics().bytes_kept == 100000);
    CHECK(statistics().bytes_in_use == 0);
    visit(90000, 0); // slightly less
    CHECK(statistics().hits == 1);
    visit(50000, 0); // much less: a block would waste memory
    CHECK(statistics().misses == 2);
    visit(100001, 0); // more
    CHECK(statistics().misses == 3);
    visit(100000, 4096); // memory with another alignment might not be enough
    CHECK(statistics().misses == 4);
    visit(100000, 4096);
    CHECK(statistics().hits == 2);
    CHECK(statistics().blocks_kept == 4);

    runtime.trim(150000);
    CHECK(statistics().bytes_kept <= 150000);
    visit(100000, 4096); // the newest blocks are kept
    CHECK(statistics().hits == 3);
    runtime.trim();
    CHECK(statistics().bytes_kept == 0);
    CHECK(statistics().blocks_kept == 0);
    CHECK(statistics().dropped == 4);
    CHECK(code_of([&] { (void)runtime.pool_statistics(host_place); }) == PI_ERROR_INVALID_VALUE);
}

TEST_CASE("a pool keeps no more than its limit, and none when that is 0", "[runtime]") {
    const Machine machine;
    for (const uint64_t limit : {uint64_t{0}, uint64_t{20000}}) {
        RuntimeOptions options;
        options.pool_limit = limit;
        const Runtime runtime(machine.topology(), options);
        {
            std::vector<Storage> storages;
            for (int index = 0; index < 5; ++index) {
                storages.push_back(make_storage(runtime));
                storages.back().buffer().acquire(place, Access::discard_write).release();
            }
            CHECK(runtime.pool_statistics(place).bytes_in_use == 5 * size);
        }
        CHECK(runtime.pool_statistics(place).bytes_kept == limit / size * size);
        CHECK(runtime.pool_statistics(place).bytes_in_use == 0);
    }
}

TEST_CASE("idle memory is freed before anything is evicted", "[runtime]") {
    Full full(3);
    const Storage kept = full.resident(1);
    {
        const Storage gone = make_storage(full.runtime, 3 * size);
        gone.buffer().acquire(place, Access::discard_write).release();
    }
    CHECK(full.runtime.pool_statistics(place).bytes_kept == 3 * size);
    const Storage next = full.resident(2);
    CHECK(full.runtime.pool_statistics(place).bytes_kept == 0);
    CHECK(full.runtime.counters().evictions == 0);
    CHECK(kept.memory_of(place));
}

TEST_CASE("a device has one memory for all its contexts", "[runtime]") {
    Full full(2);
    const auto devices = static_cast<PlaceIndex>(full.machine.devices().size());
    const Storage first = full.resident(1);
    fill(full.machine, first.buffer(), 0, 100, 9);
    const Storage other = make_storage(full.runtime);
    // The same device in the second context: the replica in the first context is evicted.
    other.buffer().acquire(place + devices, Access::discard_write).release();
    CHECK_FALSE(first.memory_of(place));
    CHECK(full.runtime.counters().bytes_written_back == 100);
    std::vector<uint8_t> expected = pattern(size, 1);
    std::fill_n(expected.begin(), 100, uint8_t{9});
    CHECK(host_read(first.buffer()) == expected);
}

TEST_CASE("idle memory of another context of the device is freed when memory is out", "[runtime]") {
    Full full(2);
    const auto devices = static_cast<PlaceIndex>(full.machine.devices().size());
    {
        const Storage gone = make_storage(full.runtime);
        gone.buffer().acquire(place, Access::discard_write).release();
    }
    CHECK(full.runtime.pool_statistics(place).bytes_kept == size);
    const Storage other = make_storage(full.runtime);
    other.buffer().acquire(place + devices, Access::discard_write).release();
    CHECK(full.runtime.pool_statistics(place).bytes_kept == 0);
}
