// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reused memory matches the request: scope, alignment and requirements, on a simulated machine that
// has scopes of every kind.
#include "simulated.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;

namespace {

constexpr PlaceIndex place = 1;
constexpr uint64_t size = 64 << 10;

constexpr const char *scopes_of_every_kind = R"({"pi_machine": 1, "name": "scopes", "devices": [
    {"name": "gpu", "type": "gpu", "scopes": [
        {"name": "global", "flags": ["poolable"], "capacity": "8 MiB"},
        {"name": "host.pinned", "flags": ["host_visible", "coherent", "poolable", "pinned"],
         "capacity": "8 MiB", "memory": "host"},
        {"name": "dma", "flags": ["contiguous", "poolable"], "capacity": "8 MiB",
         "bus_address": 4096},
        {"name": "scratchpad", "flags": ["pinned"], "capacity": "8 MiB"}]}]})";

/// Allocates, uses and frees memory of such a kind once.
void visit(const Runtime &runtime, const StorageDescriptor &kind) {
    const Storage storage(runtime, kind);
    Acquisition writer = storage.buffer().acquire(place, Access::discard_write);
    uint64_t alignment = 0;
    check(piMemGetInfo(writer.mem(), PI_MEM_INFO_ALIGNMENT, sizeof alignment, &alignment, nullptr),
          "piMemGetInfo(ALIGNMENT)");
    if (kind.alignment != 0) {
        CHECK(alignment % kind.alignment == 0);
    }
    writer.release();
}

} // namespace

TEST_CASE("memory of one scope, alignment or requirement never serves another", "[runtime][pool]") {
    const TextFile file(scopes_of_every_kind);
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const std::vector<StorageDescriptor> kinds{
        {.size = size},
        {.size = size, .alignment = 4096},
        {.size = size, .alignment = 65536},
        {.size = size, .scope = "host.pinned"},
        {.size = size, .scope = "host.pinned", .flags = PI_MEM_REQUIRE_PINNED},
        {.size = size, .scope = "dma"},
        {.size = size, .scope = "dma", .flags = PI_MEM_REQUIRE_CONTIGUOUS},
    };
    const auto statistics = [&] { return runtime.pool_statistics(place); };
    for (size_t round = 0; round < 3; ++round) {
        for (size_t index = 0; index < kinds.size(); ++index) {
            INFO("round " << round << ", kind " << index);
            visit(runtime, kinds[index]);
            CHECK(statistics().misses == (round == 0 ? index + 1 : kinds.size()));
            CHECK(statistics().hits == (round == 0 ? 0 : (round - 1) * kinds.size() + index + 1));
        }
    }
    CHECK(statistics().blocks_kept == kinds.size());
    CHECK(statistics().bytes_kept == kinds.size() * size);
    CHECK(statistics().unpooled == 0);
    runtime.trim();
    CHECK(statistics().bytes_kept == 0);
    CHECK(statistics().dropped == kinds.size());
    visit(runtime, kinds[0]); // nothing was cached
    CHECK(statistics().misses == kinds.size() + 1);
}

TEST_CASE("memory of one place never serves another", "[runtime][pool]") {
    const Simulated machine(shipped_machine("workstation"));
    const Runtime runtime(machine.topology());
    constexpr PlaceIndex other = 2;
    visit(runtime, {.size = size});
    REQUIRE(runtime.pool_statistics(place).blocks_kept == 1);
    Storage(runtime, {.size = size}).buffer().acquire(other, Access::discard_write).release();
    CHECK(runtime.pool_statistics(place).hits == 0);
    CHECK(runtime.pool_statistics(place).blocks_kept == 1);
    CHECK(runtime.pool_statistics(other).hits == 0);
    CHECK(runtime.pool_statistics(other).misses == 1);
}

TEST_CASE("a scope that says no pooling is never pooled", "[runtime][pool]") {
    const TextFile file(scopes_of_every_kind);
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    for (uint64_t round = 1; round <= 3; ++round) {
        visit(runtime, {.size = size, .scope = "scratchpad"});
        const PoolStatistics statistics = runtime.pool_statistics(place);
        CHECK(statistics.hits == 0);
        CHECK(statistics.misses == round);
        CHECK(statistics.unpooled == round);
        CHECK(statistics.bytes_kept == 0);
        CHECK(statistics.bytes_in_use == 0);
        CHECK(statistics.dropped == round);
    }
}

TEST_CASE("growing requests use few blocks, and idle blocks make no request fail",
          "[runtime][pool]") {
    constexpr uint64_t step = 64 << 10, capacity = 64 << 20;
    const TextFile file(R"({"pi_machine": 1, "name": "one memory", "devices": [
        {"name": "gpu", "type": "gpu",
         "scopes": [{"name": "global", "flags": ["poolable"], "capacity": "64 MiB"}]}]})");
    const Simulated machine(file.path(), 2);
    const Runtime runtime(machine.topology());
    for (uint64_t count = 1; count <= 64; ++count) {
        visit(runtime, {.size = count * step});
    }
    const PoolStatistics statistics = runtime.pool_statistics(place);
    CHECK(statistics.misses <= 16 + 8 * 2); // 1 to 16 steps, and eight sizes each up to 32 and 64
    CHECK(statistics.hits == 64 - statistics.misses);
    CHECK(statistics.bytes_in_use == 0);
    CHECK(statistics.bytes_kept <= 64 << 20);
    const auto code_of_use = [&](uint64_t size, PlaceIndex where) {
        const Storage storage(runtime, {.size = size});
        return code_of([&] { storage.buffer().acquire(where, Access::discard_write); });
    };
    SECTION("in the same context") {
        CHECK(code_of_use(capacity, place) == PI_SUCCESS);
    }
    SECTION("in another context of the device") {
        CHECK(code_of_use(capacity, place + 1) == PI_SUCCESS);
    }
    SECTION("although it is more than a size that pools like") {
        const Storage other(runtime, {.size = 3 << 20});
        const Acquisition held = other.buffer().acquire(place, Access::discard_write);
        CHECK(code_of_use(capacity - (3 << 20) - (1 << 19), place) == PI_SUCCESS);
    }
}

TEST_CASE("freed blocks between used ones are all reused, and all freed before memory is out",
          "[runtime][pool]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr size_t holes = 4096; // each block is a mapping; a process may have 65530
#else
    constexpr size_t holes = 65536;
#endif
    constexpr uint64_t small = 64, in_holes = holes * small;
    const TextFile file(R"({"pi_machine": 1, "name": "one memory", "devices": [
        {"name": "gpu", "type": "gpu", "scopes": [{"name": "global", "flags": ["poolable"],
         "capacity": )" +
                        std::to_string(2 * in_holes) + "}]}]}");
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const auto make = [&](uint64_t bytes) {
        Storage storage(runtime, {.size = bytes});
        storage.buffer().acquire(place, Access::discard_write).release();
        return storage;
    };
    const auto statistics = [&] { return runtime.pool_statistics(place); };
    std::vector<Storage> kept;
    std::vector<Storage> freed;
    for (size_t index = 0; index < holes; ++index) {
        kept.push_back(make(small));
        freed.push_back(make(small));
    }
    for (int round = 0; round < 2; ++round) {
        CHECK(statistics().misses == 2 * holes);
        CHECK(statistics().hits == round * holes);
        CHECK(statistics().bytes_in_use == 2 * in_holes); // all of the memory
        freed.clear();
        CHECK(statistics().blocks_kept == holes);
        CHECK(statistics().bytes_kept == in_holes);
        while (round == 0 && freed.size() < holes) {
            freed.push_back(make(small));
        }
    }
    const Storage large = make(in_holes);
    CHECK(statistics().blocks_kept == 0);
    CHECK(statistics().bytes_in_use == 2 * in_holes);
    CHECK(runtime.counters().evictions == 0);
}
