// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/route.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace pi::runtime;

namespace {

/// Two GPUs behind links (1, 2) and a CPU device (3) that imports host memory aligned to 64.
TopologyDescription machine() {
    TopologyDescription topology = unconnected_places(3);
    for (PlaceIndex gpu : {1U, 2U}) {
        topology.places[gpu].type = PI_DEVICE_TYPE_GPU;
    }
    topology.places[3].type = PI_DEVICE_TYPE_CPU;
    topology.places[3].host_pointer_import = true;
    topology.places[3].host_pointer_alignment = 64;
    topology.places[3].maps_in_place = true;
    return topology;
}

Connection &connection(TopologyDescription &topology, PlaceIndex src, PlaceIndex dst) {
    return topology.buffers[src * topology.places.size() + dst];
}

RouteRequest request(PlaceIndex source, PlaceIndex destination, uint64_t bytes = 1 << 20) {
    RouteRequest result;
    result.source = source;
    result.destination = destination;
    result.bytes = bytes;
    return result;
}

/// With the costs that the topology reports.
std::vector<Candidate> ways(const TopologyDescription &topology, const RouteRequest &question) {
    return candidates(topology, question, CostTable::estimate(topology));
}

const Candidate &find(const std::vector<Candidate> &candidates, RouteKind kind,
                      BounceStyle style = BounceStyle::none) {
    for (const Candidate &candidate : candidates) {
        if (candidate.route.kind == kind && candidate.route.style == style) {
            return candidate;
        }
    }
    throw std::logic_error("no such candidate");
}

} // namespace

TEST_CASE("bytes that are valid there already need no route", "[runtime]") {
    const auto found = ways(machine(), request(1, 1));
    REQUIRE(found.size() == 1);
    CHECK(found[0].possible);
    CHECK(found[0].route.kind == RouteKind::none_needed);
    CHECK(ways(machine(), request(1, 2, 0)).front().route.kind == RouteKind::none_needed);
}

TEST_CASE("unified memory is used as it is, and only in the direction that is unified",
          "[runtime]") {
    TopologyDescription topology = machine();
    connection(topology, 1, 2).connection = PI_MEMORY_CONNECTION_UNIFIED;
    const auto forth = ways(topology, request(1, 2));
    CHECK(forth.front().route.kind == RouteKind::direct_use);
    CHECK(forth.front().seconds == 0);
    CHECK(forth.front().route.hops.empty());

    const auto back = ways(topology, request(2, 1));
    CHECK(back.front().route.kind == RouteKind::host_bounce);
    CHECK_FALSE(find(back, RouteKind::direct_use).possible);
    CHECK(find(back, RouteKind::direct_use).reason.find("none") != std::string::npos);
}

TEST_CASE("bytes are copied to a place with memory of its own, also when unified", "[runtime]") {
    TopologyDescription topology = machine();
    connection(topology, 1, 2).connection = PI_MEMORY_CONNECTION_UNIFIED;
    RouteRequest question = request(1, 2);
    question.destination_has_memory = true;
    const auto found = ways(topology, question);
    CHECK(found.front().route.kind == RouteKind::migrate);
    CHECK(found.front().route.hops == std::vector<Hop>{{1, 2}});
}

TEST_CASE("the cheaper of a plugin's copy and a bounce is chosen", "[runtime]") {
    TopologyDescription topology = machine();
    Connection &link = connection(topology, 1, 2);
    link.connection = PI_MEMORY_CONNECTION_MIGRATABLE;
    CHECK(ways(topology, request(1, 2, 64 << 20)).front().route.kind == RouteKind::migrate);

    link.bandwidth = 1000000000; // a direct link that is slower than two fast ones
    const auto found = ways(topology, request(1, 2, 64 << 20));
    CHECK(found.front().route.kind == RouteKind::host_bounce);
    CHECK(found.front().route.style == BounceStyle::staged);
    CHECK(found.front().route.hops == std::vector<Hop>{{1, host_place}, {host_place, 2}});
    const Candidate &slow = find(found, RouteKind::migrate);
    CHECK(slow.possible);
    CHECK(slow.seconds > found.front().seconds);
    // A few bytes cross one link faster than two transfers start.
    CHECK(ways(topology, request(1, 2, 64)).front().route.kind == RouteKind::migrate);
}

TEST_CASE("a plugin's latency counts", "[runtime]") {
    TopologyDescription topology = machine();
    connection(topology, 1, 2).connection = PI_MEMORY_CONNECTION_MIGRATABLE;
    connection(topology, 1, 2).latency = 5000000; // 5 ms: another machine
    CHECK(ways(topology, request(1, 2, 64)).front().route.kind == RouteKind::host_bounce);
}

TEST_CASE("a bounce maps an end in place before it stages", "[runtime]") {
    const auto from_cpu = ways(machine(), request(3, 1));
    CHECK(from_cpu.front().route.style == BounceStyle::map_source);
    CHECK(from_cpu.front().route.hops == std::vector<Hop>{{3, 1}});
    const auto to_cpu = ways(machine(), request(1, 3));
    CHECK(to_cpu.front().route.style == BounceStyle::map_destination);
    CHECK_FALSE(find(to_cpu, RouteKind::host_bounce, BounceStyle::map_source).possible);

    RouteRequest pieces = request(1, 3);
    pieces.pieces = 2;
    const auto in_pieces = ways(machine(), pieces);
    CHECK(in_pieces.front().route.style == BounceStyle::staged);
    CHECK_FALSE(find(in_pieces, RouteKind::host_bounce, BounceStyle::map_destination).possible);
    // A map covers one range: another command may write the bytes between two pieces.
    pieces = request(3, 1);
    pieces.pieces = 2;
    const auto from_pieces = ways(machine(), pieces);
    CHECK(from_pieces.front().route.style == BounceStyle::staged);
    const Candidate &mapped = find(from_pieces, RouteKind::host_bounce, BounceStyle::map_source);
    CHECK_FALSE(mapped.possible);
    CHECK(mapped.reason.find("2 pieces") == 0);
}

TEST_CASE("the host itself is read and written", "[runtime]") {
    const auto write = ways(machine(), request(host_place, 1));
    CHECK(write.front().route.style == BounceStyle::write);
    CHECK(write.front().route.hops == std::vector<Hop>{{host_place, 1}});
    const auto read = ways(machine(), request(2, host_place));
    CHECK(read.front().route.style == BounceStyle::read);
    CHECK(find(read, RouteKind::migrate).reason.find("host") != std::string::npos);
}

TEST_CASE("host memory is imported where it is aligned, and refused with both numbers",
          "[runtime]") {
    RouteRequest question = request(host_place, 3, 4096);
    question.host_size = 4096;
    question.host_address = 0x10000;
    const auto aligned = ways(machine(), question);
    CHECK(aligned.front().route.kind == RouteKind::import);
    CHECK(aligned.front().route.hops.empty());

    question.host_address = 0x10010;
    const auto misaligned = ways(machine(), question);
    CHECK(misaligned.front().route.style == BounceStyle::write);
    CHECK(find(misaligned, RouteKind::import).reason == "host pointer misaligned: 16 of 64");

    question.host_address = 0x10000;
    question.host_size = 1000;
    CHECK(find(ways(machine(), question), RouteKind::import).reason ==
          "host memory's size misaligned: 1000 is not a multiple of 64");
}

TEST_CASE("a device with memory of its own does not import the host's", "[runtime]") {
    TopologyDescription topology = machine();
    topology.places[1].host_pointer_import = true;
    const auto found = ways(topology, request(host_place, 1));
    CHECK(found.front().route.style == BounceStyle::write);
    CHECK(find(found, RouteKind::import).reason.find("link") != std::string::npos);
}

TEST_CASE("a storage can forbid routes, each with a reason", "[runtime]") {
    TopologyDescription topology = machine();
    connection(topology, 1, 2).connection = PI_MEMORY_CONNECTION_UNIFIED;
    RouteRequest question = request(1, 2);
    question.allowed = all_routes & ~mask_of(RouteKind::direct_use);
    CHECK(ways(topology, question).front().route.kind == RouteKind::migrate);
    question.allowed = mask_of(RouteKind::host_bounce);
    CHECK(ways(topology, question).front().route.kind == RouteKind::host_bounce);
    question.allowed = 0;
    for (const Candidate &candidate : ways(topology, question)) {
        CHECK_FALSE(candidate.possible);
        CHECK_FALSE(candidate.reason.empty());
    }
    question.allowed = all_routes;
    question.source_scope_0 = false;
    CHECK(ways(topology, question).front().route.kind == RouteKind::host_bounce);
    RouteRequest contiguous = request(host_place, 3);
    contiguous.requires_device_memory = true;
    CHECK_FALSE(find(ways(machine(), contiguous), RouteKind::import).possible);
}

TEST_CASE("imported memory has the connection of imported memory", "[runtime]") {
    TopologyDescription topology = machine();
    connection(topology, 1, 2).connection = PI_MEMORY_CONNECTION_UNIFIED;
    RouteRequest question = request(1, 2);
    question.source_imported = true;
    CHECK_FALSE(find(ways(topology, question), RouteKind::direct_use).possible);
    topology.imported[1 * 4 + 2].connection = PI_MEMORY_CONNECTION_UNIFIED;
    CHECK(ways(topology, question).front().route.kind == RouteKind::direct_use);
}

TEST_CASE("given memory is used in place only where it is the same memory", "[runtime]") {
    TopologyDescription topology = machine();
    connection(topology, 1, 2).connection = PI_MEMORY_CONNECTION_UNIFIED;
    RouteRequest question = request(1, 2);
    question.source_given = true;
    for (const pi_residency residency :
         {PI_RESIDENCY_UNKNOWN, PI_RESIDENCY_REMOTE_ACCESS, PI_RESIDENCY_MIGRATES_WHOLE_OBJECT}) {
        connection(topology, 1, 2).residency = residency;
        CHECK(ways(topology, question).front().route.kind == RouteKind::migrate);
    }
    connection(topology, 1, 2).residency = PI_RESIDENCY_SAME_MEMORY;
    CHECK(ways(topology, question).front().route.kind == RouteKind::direct_use);
}

TEST_CASE("pieces are small enough for the cache in host memory, and larger over links",
          "[runtime]") {
    TopologyDescription topology = machine();
    CostModel model;
    model.command_latency = model.callback_latency = 1e-6;
    const auto piece = [&] {
        const auto found =
            candidates(topology, request(1, 2, 64 << 20), CostTable::estimate(topology, model));
        return find(found, RouteKind::host_bounce, BounceStyle::staged).route.chunk;
    };
    CHECK(piece() > model.cache_bytes);
    topology.places[1].integrated = topology.places[2].integrated = true;
    CHECK(piece() <= model.cache_bytes);
}

TEST_CASE("few bytes go in one piece, and more one_to_two make larger pieces", "[runtime]") {
    const auto piece = [](uint64_t bytes, double latency) {
        CostModel model;
        model.command_latency = latency;
        const auto found =
            candidates(machine(), request(1, 2, bytes), CostTable::estimate(machine(), model));
        return find(found, RouteKind::host_bounce, BounceStyle::staged).route.chunk;
    };
    CHECK(piece(1000, 10e-6) == 1000);
    CHECK(piece(64 << 20, 1e-6) < piece(64 << 20, 1e-3));
}

TEST_CASE("every refused candidate says why, and the possible ones come first by cost",
          "[runtime]") {
    const TopologyDescription topology = machine();
    for (PlaceIndex src = 0; src < 4; ++src) {
        for (PlaceIndex dst = 0; dst < 4; ++dst) {
            const auto found = ways(topology, request(src, dst));
            REQUIRE(found.front().possible);
            for (size_t index = 0; index < found.size(); ++index) {
                CHECK_FALSE(found[index].reason.empty());
                if (index > 0 && found[index].possible) {
                    CHECK(found[index - 1].possible);
                    CHECK(found[index - 1].seconds <= found[index].seconds);
                }
            }
        }
    }
    CHECK_THROWS_AS(ways(topology, request(1, 9)), std::out_of_range);
}

TEST_CASE("devices are the same by identity and never by name", "[runtime]") {
    DeviceIdentity a;
    DeviceIdentity b;
    CHECK(same_device(a, b) == SameDevice::unknown);
    a.uuid = "0123456789abcdef";
    CHECK(same_device(a, b) == SameDevice::unknown);
    b.uuid = "fedcba9876543210";
    CHECK(same_device(a, b) == SameDevice::no);
    a.pci_address = b.pci_address = "0000:c1:00.0";
    CHECK(same_device(a, b) == SameDevice::yes);
}

namespace {

/// Results that a test sets; all other pairs are unknown.
class MadeUp final : public Verification {
public:
    explicit MadeUp(std::map<MemoryPair, Verified> results) : results_(std::move(results)) {}
    Verified of(const MemoryPair &pair) const override {
        const auto found = results_.find(pair);
        return found == results_.end() ? Verified::unknown : found->second;
    }
    std::string text(const MemoryPair &) const override { return "bytes are stale"; }

private:
    const std::map<MemoryPair, Verified> results_;
};

/// Two GPUs; one uses the other's memory over a link.
TopologyDescription two_peers() {
    TopologyDescription topology = machine();
    connection(topology, 1, 2).connection = PI_MEMORY_CONNECTION_UNIFIED;
    connection(topology, 1, 2).residency = PI_RESIDENCY_REMOTE_ACCESS;
    return topology;
}

const MemoryPair one_to_two{.src = 1, .dst = 2};
const MemoryPair kernels_of_two{.src = 1, .dst = 2, .kernels = true};

} // namespace

TEST_CASE("a connection that lost bytes is not used, and the route instead of it says why",
          "[runtime]") {
    const MadeUp failed({{one_to_two, Verified::failed}});
    RouteRequest question = request(1, 2);
    question.verification = &failed;
    question.verified_only = GENERATE(false, true);
    const auto found = ways(two_peers(), question);
    CHECK(found.front().route.kind == RouteKind::host_bounce);
    CHECK(found.front().reason.find("bytes are stale") != std::string::npos);
    for (const RouteKind kind : {RouteKind::direct_use, RouteKind::migrate}) {
        CHECK_FALSE(find(found, kind).possible);
        CHECK(find(found, kind).verification_failed);
        CHECK(find(found, kind).reason.find("bytes are stale") != std::string::npos);
    }
}

TEST_CASE("memory that kernels read wrongly is copied, not used in place", "[runtime]") {
    const MadeUp failed({{one_to_two, Verified::yes}, {kernels_of_two, Verified::failed}});
    RouteRequest question = request(1, 2);
    question.verification = &failed;
    const auto found = ways(two_peers(), question);
    CHECK_FALSE(find(found, RouteKind::direct_use).possible);
    CHECK(find(found, RouteKind::direct_use).verification_failed);
    CHECK(find(found, RouteKind::migrate).possible);
    CHECK(find(found, RouteKind::migrate).reason.find("bytes are stale") != std::string::npos);
}

TEST_CASE("a candidate names its unverified connections, and is refused where only verified ones "
          "may be used",
          "[runtime]") {
    const MadeUp nothing({});
    RouteRequest question = request(1, 2);
    question.verification = &nothing;
    const auto found = ways(two_peers(), question);
    CHECK(found.front().route.kind == RouteKind::direct_use);
    CHECK(found.front().unverified == std::vector{one_to_two, kernels_of_two});
    CHECK(find(found, RouteKind::migrate).unverified == std::vector{one_to_two});
    CHECK(find(found, RouteKind::host_bounce, BounceStyle::staged).unverified.empty());

    question.verified_only = true;
    const auto verified = ways(two_peers(), question);
    CHECK(verified.front().route.kind == RouteKind::host_bounce);
    CHECK_FALSE(find(verified, RouteKind::direct_use).possible);
    CHECK_FALSE(find(verified, RouteKind::direct_use).verification_failed);
}

TEST_CASE("a connection that was verified is used as before", "[runtime]") {
    const MadeUp verified({{one_to_two, Verified::yes}, {kernels_of_two, Verified::yes}});
    RouteRequest question = request(1, 2);
    question.verification = &verified;
    question.verified_only = true;
    const auto found = ways(two_peers(), question), believed = ways(two_peers(), request(1, 2));
    REQUIRE(found.size() == believed.size());
    for (std::size_t index = 0; index < found.size(); ++index) {
        CHECK(found[index].route.kind == believed[index].route.kind);
        CHECK(found[index].possible == believed[index].possible);
        CHECK(found[index].reason == believed[index].reason);
        CHECK(found[index].unverified.empty());
    }
}

TEST_CASE("a connection is verified for the memory that uses it", "[runtime]") {
    TopologyDescription topology = two_peers();
    topology.imported[1 * topology.places.size() + 2].connection = PI_MEMORY_CONNECTION_UNIFIED;
    const MadeUp buffers_alone({{one_to_two, Verified::yes}});
    RouteRequest question = request(1, 2);
    question.verification = &buffers_alone;
    question.source_imported = true;
    const std::vector<MemoryPair> imported{{.src = 1, .dst = 2, .imported = true},
                                           {.src = 1, .dst = 2, .imported = true, .kernels = true}};
    CHECK(ways(topology, question).front().unverified == imported);

    topology.scoped["scratch"] = topology.buffers;
    for (const PlaceIndex place : {1U, 2U}) {
        topology.places[place].scopes.resize(2);
        std::copy_n("scratch", 8, std::begin(topology.places[place].scopes[1].name));
    }
    question = request(1, 2);
    question.verification = &buffers_alone;
    question.source_scope_0 = question.destination_scope_0 = false;
    question.scope = "scratch";
    CHECK(find(ways(topology, question), RouteKind::migrate).unverified ==
          std::vector<MemoryPair>{{.src = 1, .dst = 2, .scope = "scratch"}});
}

TEST_CASE("host memory is imported where the import was verified", "[runtime]") {
    const MemoryPair import{.src = 3, .dst = 3, .imported = true};
    const MadeUp nothing({}), failed({{import, Verified::failed}});
    RouteRequest question = request(host_place, 3);
    question.verification = &nothing;
    CHECK(find(ways(machine(), question), RouteKind::import).unverified == std::vector{import});
    question.verification = &failed;
    CHECK_FALSE(find(ways(machine(), question), RouteKind::import).possible);
    CHECK(ways(machine(), question).front().route.style == BounceStyle::write);
}

TEST_CASE("a path over several devices avoids a link that lost bytes", "[runtime]") {
    // 1 and 4 are connected over 2, and over 3, which is slower.
    TopologyDescription topology = unconnected_places(4);
    for (PlaceIndex place = 1; place <= 4; ++place) {
        topology.places[place].type = PI_DEVICE_TYPE_GPU;
    }
    const auto join = [&](PlaceIndex from, PlaceIndex to, uint64_t bandwidth) {
        Connection &link = connection(topology, from, to);
        link.connection = PI_MEMORY_CONNECTION_MIGRATABLE;
        link.bandwidth = bandwidth;
    };
    join(1, 2, 100'000'000'000);
    join(2, 4, 100'000'000'000);
    join(1, 3, 50'000'000'000);
    join(3, 4, 50'000'000'000);
    RouteRequest question = request(1, 4, 256 << 20);
    const MadeUp nothing({}), failed({{{.src = 2, .dst = 4}, Verified::failed}});
    question.verification = &nothing;
    const Candidate first = ways(topology, question).front();
    CHECK(first.route.hops == std::vector<Hop>{{1, 2}, {2, 4}});
    CHECK(first.unverified == std::vector<MemoryPair>{{.src = 1, .dst = 2}, {.src = 2, .dst = 4}});
    question.verification = &failed;
    CHECK(ways(topology, question).front().route.hops == std::vector<Hop>{{1, 3}, {3, 4}});
}
