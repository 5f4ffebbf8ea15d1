// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/path.hpp"

#include <pi/runtime/route.hpp>

#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <set>
#include <stdexcept>

using namespace pi::runtime;

namespace {

/// Up to six devices with random links between them and links to the host, of random speeds: some
/// direct links are slower than a detour.
struct RandomMachine {
    TopologyDescription topology;
    CostTable costs;

    explicit RandomMachine(std::mt19937 &random) {
        const auto uniform = [&random](double low, double high) {
            return std::uniform_real_distribution<double>(low, high)(random);
        };
        const auto devices = std::uniform_int_distribution<uint32_t>(2, 6)(random);
        topology = unconnected_places(devices);
        CostModel model;
        model.callback_latency = uniform(0, 30e-6);
        costs = CostTable(devices + 1, model);
        for (PlaceIndex from = 0; from <= devices; ++from) {
            topology.places[from].type = PI_DEVICE_TYPE_GPU;
            topology.places[from].maps_in_place = false;
            costs.set_in_host_memory(from, from == host_place || uniform(0, 1) < 0.3);
            for (PlaceIndex to = 0; to <= devices; ++to) {
                const bool to_host = from == host_place || to == host_place;
                if (from == to || (!to_host && uniform(0, 1) < 0.5)) {
                    continue;
                }
                topology.buffers[from * (devices + 1) + to].connection =
                    PI_MEMORY_CONNECTION_MIGRATABLE;
                CostTable::Link link;
                for (LinkCost &cost : link) {
                    cost = {uniform(1e-6, 100e-6), uniform(1e9, 50e9)};
                }
                costs.set_classes(from, to, link);
            }
        }
    }
};

/// The best simple path, tried with every piece size.
double cheapest_by_brute_force(const RandomMachine &machine, PlaceIndex to, uint64_t bytes,
                               std::vector<Hop> &hops, std::set<PlaceIndex> &seen) {
    double best = std::numeric_limits<double>::infinity();
    const PlaceIndex from = hops.empty() ? 1 : hops.back().to;
    if (from == to) {
        if (hops.size() == 1) {
            return machine.costs.seconds(hops[0].from, hops[0].to, bytes);
        }
        const CostModel &model = machine.costs.model();
        for (uint64_t chunk = model.smallest_chunk; chunk <= model.largest_chunk; chunk *= 2) {
            best = std::min(best, pipeline_seconds(machine.costs, hops, bytes, chunk));
        }
        return best;
    }
    for (PlaceIndex next = 0; next < machine.costs.places(); ++next) {
        if (seen.count(next) != 0 || !machine.costs.linked(from, next)) {
            continue;
        }
        hops.push_back({from, next});
        seen.insert(next);
        best = std::min(best, cheapest_by_brute_force(machine, to, bytes, hops, seen));
        seen.erase(next);
        hops.pop_back();
    }
    return best;
}

RouteRequest request(PlaceIndex source, PlaceIndex destination, uint64_t bytes) {
    RouteRequest result;
    result.source = source;
    result.destination = destination;
    result.bytes = bytes;
    result.destination_has_memory = true;
    return result;
}

} // namespace

TEST_CASE("the chosen route is the cheapest that brute force finds", "[runtime]") {
    const auto seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    uint32_t ways_around = 0;
    uint32_t over_devices = 0;
    for (uint32_t round = 0; round < 300; ++round) {
        const RandomMachine machine(random);
        const uint64_t bytes = uint64_t{1} << std::uniform_int_distribution<int>(0, 28)(random);
        std::vector<Hop> hops;
        std::set<PlaceIndex> seen{1};
        const double best = cheapest_by_brute_force(machine, 2, bytes, hops, seen);
        const Candidate chosen =
            candidates(machine.topology, request(1, 2, bytes), machine.costs).front();
        REQUIRE(chosen.possible);
        INFO("round " << round << ", " << bytes << " bytes");
        REQUIRE(chosen.seconds == Approx(best).epsilon(1e-9));
        ways_around += chosen.route.hops.size() > 1;
        over_devices += chosen.route.hops.size() > 1 && chosen.route.kind == RouteKind::migrate;
        REQUIRE(chosen.route.hops.front().from == 1);
        REQUIRE(chosen.route.hops.back().to == 2);
    }
    CHECK(ways_around > 30); // enough detours were tested
    CHECK(over_devices > 10);
}

TEST_CASE("other costs choose another route", "[runtime]") {
    TopologyDescription topology = unconnected_places(3);
    for (PlaceIndex place : {1U, 2U, 3U}) {
        topology.places[place].type = PI_DEVICE_TYPE_GPU;
    }
    for (const Hop hop : {Hop{1, 2}, Hop{1, 3}, Hop{3, 2}}) {
        topology.buffers[hop.from * 4 + hop.to].connection = PI_MEMORY_CONNECTION_MIGRATABLE;
    }
    CostTable costs = CostTable::estimate(topology);
    const auto chosen = [&] {
        return candidates(topology, request(1, 2, 64 << 20), costs)[0].route;
    };
    CHECK(chosen().hops == std::vector<Hop>{{1, 2}});
    // NCCL's report: peers at 10 GB/s, 22 GB/s over the host.
    costs.set(1, 2, {10e-6, 10e9});
    costs.set(1, host_place, {10e-6, 22e9});
    costs.set(host_place, 2, {10e-6, 22e9});
    CHECK(chosen().kind == RouteKind::host_bounce);
    CHECK(chosen().hops == std::vector<Hop>{{1, host_place}, {host_place, 2}});
    // Two fast links over a neighbour.
    costs.set(1, 3, {10e-6, 200e9});
    costs.set(3, 2, {10e-6, 200e9});
    CHECK(chosen().kind == RouteKind::migrate);
    CHECK(chosen().hops == std::vector<Hop>{{1, 3}, {3, 2}});
    CHECK(chosen().chunk > 0);
    CHECK(chosen().chunk < 64 << 20);
}

TEST_CASE("memory outside scope 0 uses the host for its first and last hop", "[runtime]") {
    TopologyDescription topology = unconnected_places(3);
    for (Connection &connection : topology.buffers) {
        connection.connection = PI_MEMORY_CONNECTION_MIGRATABLE;
    }
    CostTable costs = CostTable::estimate(topology);
    for (PlaceIndex device : {1U, 2U, 3U}) {
        costs.set(host_place, device, {1e-3, 1e6}); // so that any other path would be cheaper
        costs.set(device, host_place, {1e-3, 1e6});
    }
    RouteRequest question = request(1, 2, 1 << 20);
    question.source_scope_0 = false;
    Route route = candidates(topology, question, costs)[0].route;
    CHECK(route.hops.front() == Hop{1, host_place});
    question.destination_scope_0 = false;
    route = candidates(topology, question, costs)[0].route;
    CHECK(route.hops == std::vector<Hop>{{1, host_place}, {host_place, 2}});
}

TEST_CASE("a pipeline costs the time to fill it, and its slowest stage for every further piece",
          "[runtime]") {
    CostModel model;
    model.callback_latency = 0;
    CostTable costs(4, model);
    costs.set(1, 3, {1, 100}); // 1 s and 100 bytes per second
    costs.set(3, 2, {2, 50});
    // 1000 bytes in pieces of at most 300: four of 250. 3.5 s on the first link, 7 s on the second.
    CHECK(pipeline_seconds(costs, {{1, 3}, {3, 2}}, 1000, 300) == Approx(3.5 + 7 + 3 * 7));
    CHECK(even_piece(1000, 300) == 250);
    CHECK(even_piece(1001, 300) == 251);
    CHECK(even_piece(10, 300) == 10);
}

TEST_CASE("stages in host memory take turns, and other stages run at the same time", "[runtime]") {
    CostModel model;
    model.callback_latency = 0;
    CostTable costs(4, model);
    costs.set(1, host_place, {1, 100});
    costs.set(host_place, 2, {1, 50});
    costs.set(2, 3, {4, 50});
    const std::vector<Hop> bounce{{1, host_place}, {host_place, 2}};
    // 1000 bytes in four pieces: 3.5 s on the first link, 6 s on the second, 9 s on the third.
    CHECK(pipeline_seconds(costs, bounce, 1000, 300) == Approx(3.5 + 6 + 3 * 6));
    costs.set_in_host_memory(2, true);
    CHECK(pipeline_seconds(costs, bounce, 1000, 300) == Approx(3.5 + 6 + 3 * 6));
    costs.set_in_host_memory(1, true);
    CHECK(pipeline_seconds(costs, bounce, 1000, 300) == Approx(4 * (3.5 + 6)));
    CHECK(pipeline_seconds(costs, bounce, 1000, 300, 2) == Approx(6 * (3.5 + 6)));
    const std::vector<Hop> longer{{1, host_place}, {host_place, 2}, {2, 3}};
    CHECK(pipeline_seconds(costs, longer, 1000, 300) == Approx(3.5 + 6 + 9 + 3 * 9.5));
}

TEST_CASE("costs depend on classes of size, and a missing link costs infinitely much",
          "[runtime]") {
    CostTable costs(3);
    CHECK(costs.seconds(1, 2, 1) == std::numeric_limits<double>::infinity());
    CHECK_FALSE(costs.linked(1, 2));
    costs.set_classes(1, 2, CostTable::Link{{{1, 1}, {2, 1}, {3, 1}}});
    CHECK(costs.linked(1, 2));
    CHECK_FALSE(costs.linked(2, 1));
    CHECK(costs.seconds(1, 2, 64 << 10) == 1 + (64 << 10));
    CHECK(costs.seconds(1, 2, (64 << 10) + 1) == 2 + (64 << 10) + 1);
    CHECK(costs.seconds(1, 2, (4 << 20) + 1) == 3 + (4 << 20) + 1);
    CHECK_THROWS_AS(costs.seconds(1, 3, 1), std::out_of_range);
}

TEST_CASE("speeds that a plugin reports go before the model's", "[runtime]") {
    TopologyDescription topology = unconnected_places(2);
    topology.places[1].type = topology.places[2].type = PI_DEVICE_TYPE_GPU;
    Connection &reported = topology.buffers[1 * 3 + 2];
    reported.connection = PI_MEMORY_CONNECTION_MIGRATABLE;
    const CostModel model;
    CHECK(CostTable::estimate(topology).link(1, 2)[0] ==
          LinkCost{model.command_latency, model.link_bandwidth});
    reported.bandwidth = 5000;
    reported.latency = 7;
    CHECK(CostTable::estimate(topology).link(1, 2)[2].latency == Approx(7e-9));
    CHECK(CostTable::estimate(topology).link(1, 2)[2].bandwidth == 5000);
    CHECK_FALSE(CostTable::estimate(topology).linked(2, 1));
    topology.places[1].integrated = true;
    CHECK(CostTable::estimate(topology).link(1, host_place)[1].bandwidth == model.host_bandwidth);
}
