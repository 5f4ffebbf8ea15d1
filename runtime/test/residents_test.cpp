// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "coherence/lost_places.hpp"
#include "coherence/residents.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace pi::runtime;

namespace {

/// The host; a device in two contexts (places 1 and 3); and another device (place 2).
const std::vector<PlaceIndex> device_of{0, 1, 2, 1};

/// Each device has two memories of different capacity.
TopologyDescription machine() {
    TopologyDescription topology = unconnected_places(3);
    for (PlaceIndex place = 1; place < topology.places.size(); ++place) {
        pi_memory_scope global{}, scratchpad{};
        std::string("global").copy(global.name, sizeof global.name - 1);
        std::string("scratchpad").copy(scratchpad.name, sizeof scratchpad.name - 1);
        global.capacity = 1 << 20;
        scratchpad.capacity = 1 << 10;
        topology.places[place].scopes = {global, scratchpad};
    }
    return topology;
}

struct FakeStorage final : Resident {
    std::optional<Replica> replica(PlaceIndex place) override {
        const auto found = replicas.find(place);
        return found == replicas.end() ? std::nullopt : std::optional(found->second);
    }
    bool await_uses(PlaceIndex place) override {
        ++waits;
        replicas.at(place).busy = false;
        return !held;
    }
    bool evict(PlaceIndex place) override { return replicas.erase(place) != 0; }

    virtual ~FakeStorage() = default;

    std::map<PlaceIndex, Replica> replicas;
    bool held = false;
    int waits = 0;
};

struct Storages {
    TopologyDescription topology = machine();
    Residents residents{topology, device_of};
    std::vector<std::shared_ptr<FakeStorage>> all;

    FakeStorage &add(PlaceIndex place, const Resident::Replica &replica) {
        all.push_back(std::make_shared<FakeStorage>());
        all.back()->replicas[place] = replica;
        residents.add(place, *all.back());
        return *all.back();
    }
    /// The replicas that an acquire at the place could evict, for a storage that has no memory
    /// there.
    std::vector<Residents::Replica> replicas(PlaceIndex place, uint32_t scope = 0) {
        return residents.replicas(place, scope, FakeStorage());
    }
};

} // namespace

TEST_CASE("the replica that was used longest ago is evicted first", "[runtime]") {
    Storages s;
    FakeStorage &newest = s.add(1, {.last_use = 3}), &oldest = s.add(1, {.last_use = 1});
    FakeStorage &middle = s.add(1, {.last_use = 2});
    for (FakeStorage *next : {&oldest, &middle, &newest}) {
        std::vector<Residents::Replica> replicas = s.replicas(1);
        CHECK(Residents::evict_idle(replicas));
        CHECK(next->replicas.empty());
    }
    std::vector<Residents::Replica> none = s.replicas(1);
    CHECK_FALSE(Residents::evict_idle(none));
}

TEST_CASE("a clean replica is evicted before a dirty one of about the same time", "[runtime]") {
    Storages s;
    FakeStorage &dirty = s.add(1, {.dirty = 1, .last_use = 1}), &clean = s.add(1, {.last_use = 2});
    for (uint64_t use = 10; use < 14; ++use) {
        s.add(1, {.last_use = use});
    }
    std::vector<Residents::Replica> replicas = s.replicas(1);
    CHECK(Residents::evict_idle(replicas));
    CHECK(clean.replicas.empty());
    CHECK_FALSE(dirty.replicas.empty());
}

TEST_CASE("a replica in use is never evicted, but waited for", "[runtime]") {
    Storages s;
    FakeStorage &held = s.add(1, {.busy = true, .last_use = 1});
    FakeStorage &used = s.add(1, {.busy = true, .last_use = 2});
    held.held = true;
    std::vector<Residents::Replica> replicas = s.replicas(1);
    CHECK_FALSE(Residents::evict_idle(replicas));
    CHECK(Residents::await_uses(replicas));
    CHECK(held.waits == 1);
    CHECK(used.waits == 1);
}

TEST_CASE("replicas of a device are found from each of its contexts, those of others are not",
          "[runtime]") {
    Storages s;
    s.add(1, {.last_use = 1});
    s.add(2, {.last_use = 1});
    s.add(3, {.scope = 1, .last_use = 1});
    CHECK(s.replicas(3).size() == 1);
    CHECK(s.replicas(3).front().place == 1);
    CHECK(s.replicas(1, 1).size() == 1);
    CHECK(s.replicas(1, 1).front().place == 3);
    CHECK(s.replicas(2).size() == 1);
}

TEST_CASE("a storage's own replica makes no room for itself at the same place", "[runtime]") {
    Storages s;
    const FakeStorage &own = s.add(1, {.last_use = 1});
    CHECK(s.residents.replicas(1, 0, own).empty());
    CHECK(s.residents.replicas(3, 0, own).size() == 1);
}

TEST_CASE("a removed or destroyed storage has no replicas", "[runtime]") {
    Storages s;
    const FakeStorage &removed = s.add(1, {.last_use = 1});
    s.add(1, {.last_use = 2});
    s.residents.remove(1, &removed);
    CHECK(s.replicas(1).size() == 1);
    s.all.pop_back();
    CHECK(s.replicas(1).empty());
}

TEST_CASE("uses in a row of one memory get one number", "[runtime]") {
    Storages s;
    const uint64_t first = s.residents.use(1, 0);
    CHECK(s.residents.use(1, first) == first);
    const uint64_t other = s.residents.use(3, 0); // of the same device
    CHECK(other > first);
    CHECK(s.residents.use(1, first) > other);
}

TEST_CASE("with a lost device all its places are lost", "[runtime]") {
    LostPlaces lost(device_of);
    CHECK(lost.count() == 0);
    lost.mark(3);
    CHECK(lost.count() == 1);
    CHECK(lost.is_lost(1));
    CHECK(lost.is_lost(3));
    CHECK_FALSE(lost.is_lost(host_place));
    CHECK_FALSE(lost.is_lost(2));
}
