// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>

using namespace runtime_test;

namespace {

constexpr int thread_count = 4;

/// Adds one to the number in a range, at a place. Returns false on failure. The queue is the
/// thread's own: on a shared in-order queue, a command that waits for another thread's release
/// would block the commands that this thread needs first.
bool increment(const Machine &machine, const Buffer &buffer, PlaceIndex place, pi_queue queue) {
    Acquisition use = buffer.acquire(place, Access::read_write);
    uint64_t value = 0;
    if (place == host_place) {
        use.wait(patience);
        std::memcpy(&value, use.pointer(), sizeof value);
        ++value;
        std::memcpy(use.pointer(), &value, sizeof value);
        use.release();
        return true;
    }
    if (wait(machine.read(use, &value, queue)) != PI_SUCCESS) {
        return false;
    }
    ++value;
    const Event written = machine.write(use, &value, queue);
    use.release(written.get());
    return wait(written) == PI_SUCCESS;
}

} // namespace

TEST_CASE("threads that count at several places at once lose no count", "[runtime]") {
    const Machine machine;
    const RouteMask routes = GENERATE(values<RouteMask>(
        {all_routes, mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce)}));
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = 4096, .routes = routes});
    host_write(storage.buffer(), 0, std::vector<uint8_t>(4096, 0));
    const Buffer shared = storage.buffer(64, sizeof(uint64_t));
    constexpr int each = 60;
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            const Buffer own = storage.buffer(1024 + 8 * index, sizeof(uint64_t));
            std::vector<Queue> queues(machine.topology()->size());
            for (PlaceIndex place : machine.places()) {
                queues[place] = machine.make_queue(place);
            }
            for (int step = 0; step < each; ++step) {
                const auto place =
                    static_cast<PlaceIndex>((index + step) % machine.topology()->size());
                try {
                    failures += increment(machine, shared, place, queues[place].get()) ? 0 : 1;
                    failures += increment(machine, own, place, queues[place].get()) ? 0 : 1;
                } catch (const Error &) {
                    ++failures;
                }
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(failures == 0);
    REQUIRE(runtime.finish(patience));
    const auto number_at = [&](uint64_t offset) {
        const auto bytes = host_read(storage.buffer(), offset, sizeof(uint64_t));
        uint64_t value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    };
    CHECK(number_at(64) == thread_count * each);
    for (int index = 0; index < thread_count; ++index) {
        CHECK(number_at(1024 + 8 * index) == each);
    }
    const Counters counters = storage.counters();
    CHECK(counters.bytes_delivered == counters.bytes_required);
}

TEST_CASE(
    "acquires of many threads, each of a storage of its own, are all counted and logged in order",
    "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology(), {.log_capacity = 1 << 20, .log_up_to_date = true});
    constexpr uint64_t each = 500;
    constexpr uint64_t size = 64;
    std::vector<Storage> storages;
    for (int index = 0; index < thread_count; ++index) {
        storages.emplace_back(runtime,
                              StorageDescriptor{.size = size, .name = std::to_string(index)});
        storages.back().buffer().acquire(PlaceIndex{1}, Access::discard_write).release();
    }
    // The threads take turns, so all threads see the acquisitions in the same order.
    std::atomic<uint64_t> turn{0};
    std::vector<std::thread> threads;
    for (uint64_t index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            const Buffer own = storages[index].buffer();
            for (uint64_t step = 0; step < each; ++step) {
                while (turn.load() % thread_count != index) {
                    std::this_thread::yield();
                }
                own.acquire(PlaceIndex{1}, Access::read).release();
                ++turn;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    REQUIRE(runtime.finish(patience));
    CHECK(runtime.counters().bytes_copy_in_copy_out == thread_count * (each + 1) * size);
    std::vector<TransferRecord> log = runtime.log();
    REQUIRE(log.size() == thread_count * (each + 1));
    std::set<uint64_t> numbers;
    for (size_t index = 0; index < log.size(); ++index) {
        numbers.insert(log[index].acquisition);
        REQUIRE(log[index].storage == std::to_string(index % thread_count));
    }
    CHECK(numbers.size() == log.size());
}

TEST_CASE("storages are made, used and destroyed by many threads", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            for (int step = 0; step < 25; ++step) {
                try {
                    const Storage storage(runtime, {.size = 2048});
                    const Buffer buffer = storage.buffer();
                    const auto place = static_cast<PlaceIndex>(
                        1 + (index + step) % (machine.topology()->size() - 1));
                    Acquisition writer = buffer.acquire(place, Access::discard_write);
                    const Event fill = machine.fill(writer, static_cast<uint8_t>(step));
                    writer.release(fill.get());
                    if (step % 2 == 0) {
                        failures += host_read(buffer) == std::vector<uint8_t>(2048, step) ? 0 : 1;
                    }
                } catch (const Error &) {
                    ++failures;
                }
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(failures == 0);
    CHECK(runtime.finish(patience));
}
