// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/traffic.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <random>

using namespace pi::runtime;

namespace {

constexpr PlaceIndex places = 5;

std::vector<PlaceIndex> all_places() {
    std::vector<PlaceIndex> devices;
    for (PlaceIndex place = 0; place < places; ++place) {
        devices.push_back(place);
    }
    return devices;
}

/// Places without known links; `devices` gives the device of each place.
Traffic idle_traffic(const std::vector<PlaceIndex> &devices = all_places()) {
    return Traffic(
        LinkChannels(unconnected_places(static_cast<uint32_t>(devices.size() - 1)), devices));
}

/// Up to four links in a chain, at any speeds.
Load random_load(std::mt19937 &random) {
    const auto uniform = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    std::vector<PlaceIndex> chain = all_places();
    std::shuffle(chain.begin(), chain.end(), random);
    Load load;
    load.pieces = 1 + random() % 20;
    for (size_t hop = 0; hop < 1 + random() % (places - 1); ++hop) {
        load.crossings.push_back(
            {{chain[hop], chain[hop + 1]}, uniform(0, 1) < 0.5 ? 0 : 1e-5, uniform(1e-6, 1e-4)});
    }
    return load;
}

/// Seconds of all pieces on the slowest link.
double on_slowest(const Load &load) {
    double seconds = 0;
    for (const Crossing &crossing : load.crossings) {
        seconds = std::max(seconds, crossing.seconds);
    }
    return seconds * static_cast<double>(load.pieces);
}

} // namespace

TEST_CASE("transfers that have left cause no delay, in whatever order they left", "[runtime]") {
    for (uint32_t seed = 0; seed < 300; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        Traffic traffic = idle_traffic();
        const Load asked = random_load(random), stays = random_load(random);
        CHECK(traffic.delay(asked) == 0);
        Traffic::Entry first;
        traffic.enter(stays, first);
        const double with_one = traffic.delay(asked);
        {
            std::deque<Traffic::Entry> others(random() % 8);
            for (Traffic::Entry &other : others) {
                traffic.enter(random_load(random), other);
                if (random() % 3 == 0) {
                    traffic.enter(random_load(random), other); // replaces an entry
                }
            }
            CHECK(traffic.delay(asked) >= with_one * 0.999999);
            for (Traffic::Entry &other : others) {
                if (random() % 2 == 0) {
                    other.leave();
                }
            }
        }
        CHECK(traffic.delay(asked) == with_one);
        first.leave();
        first.leave();
        CHECK(traffic.delay(asked) == 0);
    }
}

TEST_CASE(
    "equal transfers that begin together end one after the other, paced by their slowest link",
    "[runtime]") {
    for (uint32_t seed = 0; seed < 300; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        Load load = random_load(random);
        for (Crossing &crossing : load.crossings) {
            crossing.pause = 0;
        }
        Traffic traffic = idle_traffic();
        std::deque<Traffic::Entry> under_way;
        for (int before = 0; before < 5; ++before) {
            CHECK(traffic.delay(load) == Approx(before * on_slowest(load)));
            traffic.enter(load, under_way.emplace_back());
        }
    }
}

TEST_CASE("many transfers on a link delay by the sum of their times", "[runtime]") {
    Traffic traffic = idle_traffic();
    Load load;
    load.crossings = {{{1, 2}, 0, 1}};
    std::deque<Traffic::Entry> under_way;
    for (int before = 0; before < 3000; ++before) {
        traffic.enter(load, under_way.emplace_back());
    }
    CHECK(traffic.delay(load) == Approx(3000));
}

TEST_CASE("places of one device share its links, opposite directions share none", "[runtime]") {
    Traffic traffic = idle_traffic({0, 1, 2, 1, 2}); // two devices, each in two contexts
    const auto crossing = [](PlaceIndex from, PlaceIndex to) {
        Load load;
        load.crossings = {{{from, to}, 0, 1}};
        return load;
    };
    Traffic::Entry entry;
    traffic.enter(crossing(1, 4), entry);
    for (PlaceIndex from = 0; from < places; ++from) {
        for (PlaceIndex to = 0; to < places; ++to) {
            const bool same = (from == 1 || from == 3) && (to == 2 || to == 4);
            CHECK(traffic.delay(crossing(from, to)) == (same ? 1 : 0));
        }
    }
}

TEST_CASE("links with a channel of one plugin in common take turns", "[runtime]") {
    TopologyDescription topology = unconnected_places(4);
    for (PlaceIndex place = 1; place <= 4; ++place) {
        topology.places[place].instance = place <= 3 ? 1 : 2;
    }
    const auto channels = [&](PlaceIndex from, PlaceIndex to) -> std::vector<uint64_t> & {
        return topology.buffers[from * topology.places.size() + to].channels;
    };
    channels(1, 2) = {7, 8};
    channels(1, 3) = {7, 9};
    channels(3, 2) = {10, 8};
    channels(2, 3) = {11};
    topology.places[1].host_read_channels = {7};
    topology.places[2].host_write_channels = {8};
    topology.places[4].host_read_channels = {7}; // another plugin's
    Traffic traffic(LinkChannels(topology, all_places()));
    const auto crossing = [](PlaceIndex from, PlaceIndex to, double seconds = 1) {
        Load load;
        load.crossings = {{{from, to}, 0, seconds}};
        return load;
    };
    std::deque<Traffic::Entry> under_way;
    traffic.enter(crossing(1, 2), under_way.emplace_back());
    for (const Hop sharing : {Hop{1, 2}, Hop{1, 3}, Hop{3, 2}, Hop{1, 0}, Hop{0, 2}}) {
        INFO(sharing.from << " to " << sharing.to);
        CHECK(traffic.delay(crossing(sharing.from, sharing.to)) == 1);
    }
    for (const Hop other : {Hop{2, 3}, Hop{4, 0}, Hop{0, 1}, Hop{2, 1}}) {
        INFO(other.from << " to " << other.to);
        CHECK(traffic.delay(crossing(other.from, other.to)) == 0);
    }
    // The earlier transfers on both channels run at the same time: they end with the longer ones.
    traffic.enter(crossing(1, 3, 3), under_way.emplace_back());
    under_way.front().leave();
    traffic.enter(crossing(3, 2, 2), under_way.emplace_back());
    CHECK(traffic.delay(crossing(1, 2)) == 3);
}

TEST_CASE("the load of a transfer has the cost of its pieces on each link", "[runtime]") {
    constexpr uint64_t chunk = 1000;
    CostTable costs(4);
    costs.set_in_host_memory(3, true);
    for (PlaceIndex place = 1; place < 4; ++place) {
        costs.set(host_place, place, {1e-6, 1e9 * place});
        costs.set(place, host_place, {2e-6, 1e9 * place});
        costs.set_callback_seconds(place, 3e-6);
    }
    Candidate candidate;
    candidate.possible = true;
    candidate.route.kind = RouteKind::host_bounce;
    candidate.route.source = 1;
    candidate.route.destination = 2;
    candidate.seconds = 1;
    const auto asked = [&] { return load_of(costs, candidate, 3 * chunk); };

    SECTION("in pieces") {
        candidate.route.style = BounceStyle::staged;
        candidate.route.hops = {{1, 0}, {0, 2}};
        candidate.route.chunk = chunk;
        const Load load = asked();
        CHECK(load.pieces == 3);
        REQUIRE(load.crossings.size() == 2);
        CHECK(load.crossings[0].link == Hop{1, 0});
        CHECK(load.crossings[1].link == Hop{0, 2});
        CHECK(load.crossings[0].pause == 3e-6);
        CHECK(load.crossings[0].seconds == Approx(costs.seconds(1, 0, chunk)));
        CHECK(load.crossings[1].seconds == Approx(costs.seconds(0, 2, chunk)));
    }
    SECTION("in one, for as long as was predicted") {
        candidate.route.hops = {{1, 2}};
        const Load load = asked();
        CHECK(load.pieces == 1);
        REQUIRE(load.crossings.size() == 1);
        CHECK(load.crossings[0].link == Hop{1, 2});
        CHECK(load.crossings[0].seconds == 1);
    }
    SECTION("with a mapped end, of the other end's link") {
        candidate.route.hops = {{1, 2}};
        candidate.route.style = BounceStyle::map_source;
        CHECK(asked().crossings.at(0).link == Hop{0, 2});
        CHECK(asked().crossings.at(0).seconds == costs.seconds(0, 2, 3 * chunk));
        candidate.route.style = BounceStyle::map_destination;
        CHECK(asked().crossings.at(0).link == Hop{1, 0});
        CHECK(asked().crossings.at(0).seconds == costs.seconds(1, 0, 3 * chunk));
    }
    SECTION("of the host's bus all that goes over it") {
        costs.set_in_host_memory(1, true);
        candidate.route.destination = 3;
        candidate.route.style = BounceStyle::staged;
        candidate.route.hops = {{1, 0}, {0, 3}};
        candidate.route.chunk = chunk;
        const Load load = asked();
        REQUIRE(load.crossings.size() == 1);
        CHECK(load.crossings[0].link == Hop{0, 0});
        CHECK(load.crossings[0].pause + load.crossings[0].seconds ==
              Approx(costs.stage_seconds(1, 0, chunk) + costs.stage_seconds(0, 3, chunk)));
    }
    SECTION("in few pieces, that take as long, where there are millions") {
        candidate.route.style = BounceStyle::staged;
        candidate.route.hops = {{1, 0}, {0, 2}};
        candidate.route.chunk = chunk;
        constexpr uint64_t pieces = 3'000'000;
        const Load load = load_of(costs, candidate, pieces * chunk);
        CHECK(load.pieces <= 10'000);
        const auto count = static_cast<double>(load.pieces);
        CHECK(count * load.crossings.at(0).pause == Approx(pieces * 3e-6));
        CHECK(count * load.crossings.at(0).seconds == Approx(pieces * costs.seconds(1, 0, chunk)));
    }
    SECTION("nothing, where no bytes move") {
        candidate.route.kind = RouteKind::import;
        CHECK(asked().crossings.empty());
    }
    SECTION("nothing, where nobody knows what it costs") {
        candidate.route.hops = {{1, 2}};
        candidate.seconds = std::numeric_limits<double>::infinity();
        CHECK(asked().crossings.empty());
    }
}
