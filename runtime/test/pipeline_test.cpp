// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routes of several hops, and the staging memory on their way.
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace runtime_test;

namespace {

constexpr RouteMask copies = mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce);

/// Costs that route bytes over these places in sequence, in pieces of at most `chunk` bytes;
/// optionally in both directions.
CostTable only_over(const Topology &topology, const std::vector<PlaceIndex> &stations,
                    uint64_t chunk, bool both_ways = false) {
    CostModel model;
    model.callback_latency = 0;
    model.smallest_chunk = model.largest_chunk = chunk;
    CostTable costs(topology.size(), model);
    const LinkCost slow{1, 1};
    const LinkCost fast{1e-9, 1e12};
    for (PlaceIndex from = 0; from < topology.size(); ++from) {
        for (PlaceIndex to = 0; to < topology.size(); ++to) {
            const bool host_end = from == host_place || to == host_place;
            if (host_end ||
                topology.description().buffer(from, to).connection != PI_MEMORY_CONNECTION_NONE) {
                costs.set(from, to, slow);
            }
        }
    }
    for (size_t station = 0; station + 1 < stations.size(); ++station) {
        costs.set(stations[station], stations[station + 1], fast);
        if (both_ways) {
            costs.set(stations[station + 1], stations[station], fast);
        }
    }
    return costs;
}

Buffer written_at(const Machine &machine, const Storage &storage, PlaceIndex place,
                  const std::vector<uint8_t> &bytes) {
    const Buffer buffer = storage.buffer();
    Acquisition writer = buffer.acquire(place, Access::discard_write);
    const Event written = machine.write(writer, bytes.data());
    writer.release(written.get());
    REQUIRE(wait(written) == PI_SUCCESS);
    return buffer;
}

/// All chains of three devices, and chains with the host second or third, as far as their links
/// exist.
std::vector<std::vector<PlaceIndex>> chains(const Topology &topology) {
    const CostTable links = CostTable::estimate(topology.description());
    std::vector<std::vector<PlaceIndex>> found;
    for (PlaceIndex first = 1; first < topology.size(); ++first) {
        for (PlaceIndex last = 1; last < topology.size(); ++last) {
            for (PlaceIndex middle = 0; middle < topology.size(); ++middle) {
                if (first != last && middle != first && middle != last &&
                    links.linked(first, middle) && links.linked(middle, last)) {
                    found.push_back({first, middle, last});
                    if (middle != host_place) {
                        found.push_back({first, middle, host_place, last});
                    }
                }
            }
        }
    }
    return found;
}

bool pins(pi_device device) {
    uint64_t capabilities = 0;
    REQUIRE(piDeviceGetInfo(device, PI_DEVICE_INFO_CAPABILITIES, sizeof capabilities, &capabilities,
                            nullptr) == PI_SUCCESS);
    return (capabilities & PI_CAPABILITY_USM_REGISTER) != 0;
}

} // namespace

TEST_CASE("a route over several places brings every byte, whole and in pieces", "[runtime]") {
    const Machine machine(3);
    const uint64_t chunk = GENERATE(uint64_t{1} << 20, uint64_t{4096});
    // Not a multiple of a piece.
    const uint64_t size = 50001;
    const std::vector<uint8_t> bytes = pattern(size, 5);
    for (const std::vector<PlaceIndex> &stations : chains(*machine.topology())) {
        RuntimeOptions options;
        options.costs = only_over(*machine.topology(), stations, chunk);
        const Runtime runtime(machine.topology(), options);
        const Storage storage(runtime, {.size = size, .routes = copies});
        const Buffer buffer = written_at(machine, storage, stations.front(), bytes);
        std::vector<Hop> hops;
        for (size_t station = 0; station + 1 < stations.size(); ++station) {
            hops.push_back({stations[station], stations[station + 1]});
        }
        const Explanation explanation = buffer.explain(stations.back());
        INFO(explanation.text);
        REQUIRE(explanation.parts.at(0).candidates.at(0).route.hops == hops);
        CHECK(device_read(machine, buffer, stations.back()) == bytes);
        REQUIRE(runtime.finish(patience));
        const Counters counters = storage.counters();
        CHECK(counters.failed_attempts == 0);
        CHECK(counters.bytes_delivered == size);
        CHECK(counters.link_bytes.size() == hops.size());
        for (const Hop &hop : hops) {
            CHECK(counters.link_bytes.at({hop.from, hop.to}) == size);
        }
    }
}

TEST_CASE("many small ranges go through staging in few calls and land where they belong",
          "[runtime]") {
    const Machine machine(2, "piQueueFinish:1000000=fail(BACKEND)"); // counts calls
    RuntimeOptions options;
    options.costs = only_over(*machine.topology(), {1, host_place, 2}, 4096);
    const Runtime runtime(machine.topology(), options);
    const uint64_t size = 64 << 10;
    const Storage storage(runtime, {.size = size, .routes = copies});
    std::vector<uint8_t> expected = pattern(size, 6);
    const Buffer buffer = written_at(machine, storage, 1, expected);
    CHECK(device_read(machine, buffer, 2) == expected);
    // Rewrites 100 of every 300 bytes at the first place.
    uint64_t rewritten = 0;
    for (uint64_t begin = 0; begin + 100 <= size; begin += 300) {
        Acquisition writer = buffer.acquire(1, Access::discard_write, begin, 100);
        writer.release(machine.fill(writer, static_cast<uint8_t>(begin / 300)).get());
        std::fill_n(expected.begin() + static_cast<ptrdiff_t>(begin), 100,
                    static_cast<uint8_t>(begin / 300));
        rewritten += 100;
    }
    const auto calls = [&] {
        return std::pair(machine.calls_of("piEnqueueMemBufferRead"),
                         machine.calls_of("piEnqueueMemBufferWrite"));
    };
    const auto before = calls();
    CHECK(device_read(machine, buffer, 2) == expected);
    REQUIRE(runtime.finish(patience));
    CHECK(storage.counters().bytes_delivered == size + rewritten);
    const auto after = calls();
    const uint64_t pieces = (rewritten + 4095) / 4096; // of more than 200 ranges
    CHECK(after.first - before.first <= pieces + 1);   // plus the test's own read
    CHECK(after.second - before.second <= pieces);
}

TEST_CASE("transfers that need more staging memory than there is wait, and all arrive",
          "[runtime]") {
    const Machine machine(3);
    // Alternating device and host stations, so that transfers need memory at two places at once.
    const auto all = chains(*machine.topology());
    const auto longest = std::max_element(
        all.begin(), all.end(), [](const auto &a, const auto &b) { return a.size() < b.size(); });
    REQUIRE(longest->size() == 4);
    RuntimeOptions options;
    options.costs = only_over(*machine.topology(), *longest, 8192, true);
    options.staging_limit = GENERATE(uint64_t{1}, uint64_t{32} << 10, uint64_t{1} << 20);
    const Runtime runtime(machine.topology(), options);
    const uint64_t size = 100000;
    constexpr int count = 12;
    std::vector<Storage> storages;
    std::vector<Buffer> buffers;
    const auto end = [&](bool first) { return first ? longest->front() : longest->back(); };
    for (int index = 0; index < count; ++index) { // every other one in the opposite direction
        storages.emplace_back(runtime, StorageDescriptor{.size = size, .routes = copies});
        buffers.push_back(
            written_at(machine, storages.back(), end(index % 2 == 0), pattern(size, index)));
    }
    std::vector<Acquisition> readers;
    std::vector<std::vector<uint8_t>> seen(count, std::vector<uint8_t>(size));
    std::vector<Event> events;
    for (int index = 0; index < count; ++index) {
        readers.push_back(buffers[index].acquire(end(index % 2 != 0), Access::read));
        events.push_back(machine.read(readers.back(), seen[index].data())); // all are in flight
        readers.back().release(events.back().get());
    }
    for (int index = 0; index < count; ++index) {
        REQUIRE(wait(events[index]) == PI_SUCCESS);
        CHECK(seen[index] == pattern(size, index));
    }
    REQUIRE(runtime.finish(patience));
    CHECK(runtime.counters().failed_attempts == 0);
}

TEST_CASE(
    "staging memory at the host is pinned once for each end that can, and unpinned in the end",
    "[runtime]") {
    const bool refused = GENERATE(false, true);
    INFO((refused ? "no context pins anything" : "all contexts pin"));
    const Machine machine(3, refused ? "piUsmHostRegister:1..99999=fail(OUT_OF_RESOURCES)"
                                     : "piQueueFinish:1000000=fail(BACKEND)");
    std::vector<PlaceIndex> pinning;
    for (const PlaceIndex place : machine.places()) {
        if (pins(machine.topology()->device(place))) {
            pinning.push_back(place);
        }
    }
    REQUIRE(pinning.size() >= 2); // at least the host plugin's
    const uint64_t size = 50001, slots = 2, rounds = 5;
    {
        RuntimeOptions options;
        options.costs = only_over(*machine.topology(), {pinning[0], host_place, pinning[1]}, 4096);
        const Runtime runtime(machine.topology(), options);
        const Storage storage(runtime, {.size = size, .routes = copies});
        for (uint64_t round = 0; round < rounds; ++round) {
            const std::vector<uint8_t> bytes = pattern(size, static_cast<uint32_t>(round));
            const Buffer buffer = written_at(machine, storage, pinning[0], bytes);
            CHECK(device_read(machine, buffer, pinning[1]) == bytes);
        }
        REQUIRE(runtime.finish(patience));
        CHECK(runtime.counters().failed_attempts == 0);
        CHECK(machine.calls_of("piUsmHostRegister") == 2 * slots);
    }
    CHECK(machine.calls_of("piUsmHostUnregister") == (refused ? 0 : 2 * slots));
}

TEST_CASE("costs of other places, and no staging memory at all, are refused", "[runtime]") {
    const Machine machine;
    RuntimeOptions options;
    options.costs = CostTable(machine.topology()->size() + 1);
    CHECK(code_of([&] { Runtime(machine.topology(), options); }) == PI_ERROR_INVALID_VALUE);
    options.costs.reset();
    options.staging_limit = 0;
    CHECK(code_of([&] { Runtime(machine.topology(), options); }) == PI_ERROR_INVALID_VALUE);
}
