// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/planner.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace pi::runtime;

namespace {

constexpr uint64_t size = 1 << 20;
constexpr PlaceIndex one = 1, other = 2;

/// Two GPUs, each with a link to the host, and a storage. No plugin and no runtime.
struct Machine {
    TopologyDescription topology = unconnected_places(2);
    CostTable costs{3};
    Traffic traffic{LinkChannels(topology, {0, 1, 2})};
    std::atomic<uint64_t> bounce_bytes{0};
    MachineModel model{topology, costs, traffic, nullptr, 0, bounce_bytes};
    StorageDescriptor storage;
    Replicas replicas;

    Machine() {
        storage.size = size;
        for (const PlaceIndex gpu : {one, other}) {
            topology.places[gpu].type = PI_DEVICE_TYPE_GPU;
            costs.set(host_place, gpu, {1e-6, 10e9});
            costs.set(gpu, host_place, {1e-6, 10e9});
        }
    }
    void link(PlaceIndex from, PlaceIndex to, double bandwidth) {
        topology.buffers[from * topology.places.size() + to].connection =
            PI_MEMORY_CONNECTION_MIGRATABLE;
        costs.set(from, to, {1e-6, bandwidth});
    }
    ViewId add_view(const View &view, MemoryId memory, const RangeSet &valid = {}) {
        replicas.views.push_back(view);
        const ViewId id = replicas.ledger.add_view(memory, valid);
        if (view.home == host_place) {
            replicas.host_view = id;
        }
        return id;
    }
    /// Adds memory of the place's own with these valid bytes.
    ViewId add_replica(PlaceIndex place, const RangeSet &valid = {}) {
        return add_view({.home = place}, replicas.ledger.add_memory(), valid);
    }
    Planner planner(bool verified_only = false) const {
        return {model, storage, replicas, verified_only};
    }
    std::vector<PlannedPart> plan(ViewId target, const RangeSet &wanted,
                                  const RangeSet &written = {}) const {
        return planner().plan(planner().target_of(target), wanted, written);
    }
};

/// Reports every connection as unknown.
struct NothingVerified final : Verification {
    Verified of(const MemoryPair &) const override { return Verified::unknown; }
    std::string text(const MemoryPair &) const override { return {}; }
};

bool is_by(const Source &source, RouteKind kind, const std::vector<Hop> &hops) {
    return source.candidate.route.kind == kind && source.candidate.route.hops == hops;
}

} // namespace

TEST_CASE("a plan has no part for bytes that are valid at the target", "[runtime]") {
    Machine machine;
    const ViewId view = machine.add_replica(one, {{0, size}});
    CHECK(machine.plan(view, Range{0, size}).empty());
}

TEST_CASE("a plan has no part for bytes that were never written", "[runtime]") {
    Machine machine;
    machine.add_replica(host_place);
    const ViewId view = machine.add_replica(one);
    CHECK(machine.plan(view, Range{0, size}).empty());
}

TEST_CASE("a plan brings only stale bytes, each range from a view where it is valid", "[runtime]") {
    Machine machine;
    const ViewId host = machine.add_replica(host_place, {{0, 1000}, {3000, 4000}});
    const ViewId source = machine.add_replica(one, {{1000, 2000}});
    const ViewId target = machine.add_replica(other, {{3500, 5000}});
    machine.link(one, other, 50e9);

    RangeSet brought;
    for (const PlannedPart &part : machine.plan(target, Range{0, 5000})) {
        REQUIRE_FALSE(part.sources.empty());
        const bool from_host = part.ranges == RangeSet{{0, 1000}, {3000, 3500}};
        CHECK((from_host || part.ranges == RangeSet{{1000, 2000}}));
        CHECK(part.sources.front().view == (from_host ? host : source));
        CHECK(part.sources.front().candidate.possible);
        CHECK_FALSE(brought.overlaps(part.ranges));
        brought.add(part.ranges);
    }
    CHECK(brought == RangeSet{{0, 2000}, {3000, 3500}});
}

TEST_CASE("a plan's first source has the cheapest route, the others follow for when it fails",
          "[runtime]") {
    Machine machine;
    const ViewId host = machine.add_replica(host_place, {{0, size}});
    const ViewId source = machine.add_replica(one, {{0, size}});
    const ViewId target = machine.add_replica(other);
    const bool fast = GENERATE(true, false);
    machine.link(one, other, fast ? 50e9 : 1e9);

    const std::vector<PlannedPart> parts = machine.plan(target, Range{0, size});
    REQUIRE(parts.size() == 1);
    const std::vector<Source> &sources = parts.front().sources;
    REQUIRE(sources.size() >= 2);
    CHECK(sources.front().view == (fast ? source : host));
    CHECK(is_by(sources.front(), fast ? RouteKind::migrate : RouteKind::host_bounce,
                {{fast ? one : host_place, other}}));
    CHECK(std::is_sorted(sources.begin(), sources.end(), [](const Source &a, const Source &b) {
        return a.candidate.seconds < b.candidate.seconds;
    }));
    CHECK(std::any_of(sources.begin(), sources.end(),
                      [&](const Source &each) { return each.view == (fast ? host : source); }));
}

TEST_CASE("a plan by a storage's routes: without one the part says why", "[runtime]") {
    Machine machine;
    machine.add_replica(one, {{0, size}});
    const ViewId target = machine.add_replica(other);
    machine.link(one, other, 50e9);
    machine.storage.routes = mask_of(RouteKind::import);

    const std::vector<PlannedPart> parts = machine.plan(target, Range{0, size});
    REQUIRE(parts.size() == 1);
    CHECK(parts.front().ranges == RangeSet{{0, size}});
    CHECK(parts.front().sources.empty());
    CHECK(std::any_of(
        parts.front().refused.begin(), parts.front().refused.end(), [](const Candidate &candidate) {
            return candidate.route.kind == RouteKind::migrate && !candidate.reason.empty();
        }));
}

TEST_CASE("a plan within one memory is a coherence sync of whole units", "[runtime]") {
    Machine machine;
    const MemoryId memory = machine.replicas.ledger.add_memory();
    const ViewId host = machine.add_view({}, memory, {{0, size}});
    View cached{.home = one, .coherence = PI_COHERENCE_FLUSH_INVALIDATE, .imported = true};
    cached.maps = false;
    const ViewId target = machine.add_view(cached, memory);
    machine.replicas.ledger.set_unit(target, 64);

    SECTION("bytes to read, with the rest of their units") {
        const std::vector<PlannedPart> parts = machine.plan(target, Range{70, 80});
        REQUIRE(parts.size() == 1);
        CHECK(parts.front().coherence_sync);
        CHECK(parts.front().ranges == RangeSet{{64, 128}});
        REQUIRE(parts.front().sources.size() == 1);
        CHECK(parts.front().sources.front().view == host);
        CHECK(is_by(parts.front().sources.front(), RouteKind::import, {}));
    }
    SECTION("the rest of the units that are written") {
        const std::vector<PlannedPart> parts = machine.plan(target, {}, Range{70, 128});
        REQUIRE(parts.size() == 1);
        CHECK(parts.front().coherence_sync);
        CHECK(parts.front().ranges.contains(Range{64, 70}));
    }
}

TEST_CASE("a staged bounce stays at the host while the bounce limit has room", "[runtime]") {
    Machine machine;
    machine.add_replica(one, {{0, size}});
    const ViewId target = machine.add_replica(other);
    const auto only_part = [&](uint64_t limit) {
        const MachineModel model{machine.topology, machine.costs, machine.traffic,
                                 nullptr,          limit,         machine.bounce_bytes};
        const Planner planner(model, machine.storage, machine.replicas, false);
        std::vector<PlannedPart> parts = planner.plan(planner.target_of(target), Range{0, size});
        REQUIRE(parts.size() == 1);
        CHECK(is_by(parts.front().sources.front(), RouteKind::host_bounce,
                    {{one, host_place}, {host_place, other}}));
        return std::move(parts.front());
    };
    machine.bounce_bytes = 1;
    CHECK_FALSE(only_part(0).stays_at_host);
    CHECK_FALSE(only_part(size).stays_at_host);
    const PlannedPart part = only_part(size + 1);
    CHECK(part.stays_at_host);

    // It is cut into pieces of two copies each: to the host and from the host.
    const ViewId host = machine.add_replica(host_place);
    std::vector<PlannedCopy> copies;
    machine.planner().cut(copies, part, target, nullptr);
    REQUIRE(copies.size() % 2 == 0);
    REQUIRE_FALSE(copies.empty());
    RangeSet brought;
    for (size_t index = 0; index < copies.size(); index += 2) {
        const PlannedCopy &first = copies[index], &second = copies[index + 1];
        CHECK(first.destination == host);
        CHECK(first.part.on_the_way);
        CHECK(second.destination == target);
        CHECK(second.part.sources.front().view == host);
        CHECK(second.part.whole.has_value());
        CHECK(first.part.ranges == second.part.ranges);
        CHECK_FALSE(brought.overlaps(first.part.ranges));
        brought.add(first.part.ranges);
    }
    CHECK(brought == part.ranges);
}

TEST_CASE("a broadcast takes bytes from a view that has not sent them yet", "[runtime]") {
    Machine machine;
    const ViewId first = machine.add_replica(one, {{0, size}});
    const ViewId second = machine.add_replica(other, {{0, size}});
    const ViewId target = machine.add_replica(host_place);
    machine.costs.set(other, host_place, {1e-6, 9e9});
    const Planner planner = machine.planner();
    const auto source = [&](const Spread &spread) {
        return planner.plan(planner.target_of(target), Range{0, size}, {}, &spread)
            .front()
            .sources.front()
            .view;
    };
    CHECK(source({1, {}}) == first);
    CHECK(source({1, {first}}) == second);
    CHECK(source({1, {first, second}}) == first);
}

TEST_CASE("a plan states the connections to verify, and can do without them", "[runtime]") {
    Machine machine;
    machine.add_replica(one, {{0, size}});
    const ViewId target = machine.add_replica(other);
    machine.link(one, other, 50e9);
    const NothingVerified nothing;
    const MachineModel model{machine.topology,    machine.costs, machine.traffic, &nothing, 0,
                             machine.bounce_bytes};
    const auto plan = [&](bool verified_only) {
        const Planner planner(model, machine.storage, machine.replicas, verified_only);
        return planner.plan(planner.target_of(target), Range{0, size});
    };
    std::vector<PlannedPart> parts = plan(false);
    CHECK(is_by(parts.front().sources.front(), RouteKind::migrate, {{one, other}}));
    try {
        Planner::require_verified(parts);
        FAIL("the connection is not verified");
    } catch (const Unverified &needed) {
        CHECK(needed.pairs == std::vector<MemoryPair>{{.src = one, .dst = other}});
    }

    parts = plan(true);
    CHECK_NOTHROW(Planner::require_verified(parts));
    CHECK(is_by(parts.front().sources.front(), RouteKind::host_bounce,
                {{one, host_place}, {host_place, other}}));
}

TEST_CASE("a plan predicts the delay by transfers under way on its links", "[runtime]") {
    Machine machine;
    machine.add_replica(host_place, {{0, size}});
    const ViewId target = machine.add_replica(one);
    std::vector<PlannedPart> parts = machine.plan(target, Range{0, size});
    Source &source = parts.front().sources.front();
    machine.planner().predict_delays(parts.front());
    CHECK(source.candidate.delay == 0);

    Traffic::Entry entry;
    machine.traffic.enter(load_of(machine.costs, source.candidate, size), entry);
    machine.planner().predict_delays(parts.front());
    CHECK(source.candidate.delay == Approx(source.candidate.seconds));
}
