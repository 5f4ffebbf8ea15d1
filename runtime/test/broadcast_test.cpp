// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes that several places need cross each link once. The simulated machines' links count them,
// and their clocks time them.
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

using namespace runtime_test;

namespace {

constexpr RouteMask copies = mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce);
constexpr uint64_t size = uint64_t{8} << 20;

/// Bandwidth in bytes per second and latency in seconds, from the machine's file.
struct Wire {
    double bandwidth;
    double latency;
    double seconds(double bytes) const { return latency + bytes / bandwidth; }
};
constexpr Wire pcie3{15.75e9, 1.5e-6}, pcie4{31.5e9, 1.5e-6}, pcie5{63e9, 1.5e-6},
    nvlink{450e9, 2e-6}, between_sockets{9e9, 4e-6};

/// `count` cards as in workstation.json.
std::string cards(int count) {
    std::string devices;
    std::string links;
    std::string names;
    for (int index = 0; index < count; ++index) {
        const std::string comma = index == 0 ? "" : ", ";
        const std::string name = "\"gpu" + std::to_string(index) + "\"";
        const std::string wire = R"("bandwidth": "31.5 GB/s", "latency": "1.5 us"})";
        devices += comma + R"({"name": )" + name + R"(, "type": "gpu", "scopes": [{"name":
            "global", "flags": ["poolable"], "capacity": "1 GiB"}]})";
        links += R"({"from": "host", "to": )" + name + ", " + wire +
                 R"(, {"to": "host", "from": )" + name + ", " + wire + ", ";
        names += comma + name;
    }
    return R"({"pi_machine": 1, "name": "cards", "devices": [)" + devices + R"(], "links": [)" +
           links + R"({"between": [)" + names +
           R"(], "connection": "migratable", "path": "staged_by_driver",
            "channels": ["{from} up", "{to} down"]}]})";
}

/// The file's own costs, so that the test does not depend on the topology's estimate.
CostTable costs_of(const Topology &topology, const Wire &host, const Wire &peer) {
    CostModel model;
    model.callback_latency = 0; // the host's work takes no virtual time
    CostTable costs(topology.size(), model);
    const auto count = static_cast<uint32_t>(topology.size());
    for (PlaceIndex from = 0; from < count; ++from) {
        for (PlaceIndex to = 0; to < count; ++to) {
            const bool host_end = from == host_place || to == host_place;
            const bool one_device = topology.same_device(from, to) == SameDevice::yes;
            const Wire wire = host_end ? host : one_device ? Wire{1e12, 1e-6} : peer;
            if (from != to) {
                costs.set(from, to, {wire.latency, wire.bandwidth});
            }
        }
    }
    return costs;
}

/// A storage whose bytes are valid at one device only.
struct Source {
    /// With `later`, the bytes are written when open() is called, so all requests before that are
    /// planned before any copy ends, even on a busy machine.
    Source(const Simulated &on, const Runtime &runtime, RouteMask routes, PlaceIndex place,
           bool later = false)
        : machine(on), storage(runtime, {.size = size, .routes = routes}),
          buffer(storage.buffer()) {
        Acquisition writer = buffer.acquire(place, Access::discard_write);
        check(piEventCreateHost(machine.topology()->context(place), nullptr, gate.out()),
              "piEventCreateHost");
        filled = machine.fill(writer, 42, gate.get());
        writer.release(filled.get());
        if (!later) {
            open();
            REQUIRE(runtime.finish(patience));
        }
    }
    void open() {
        check(piEventSignalHost(gate.get(), PI_SUCCESS), "piEventSignalHost");
        REQUIRE(wait(filled) == PI_SUCCESS);
        begin = machine.end_of(filled);
    }
    /// Seconds until readers at all these places have the bytes.
    double arrival(const std::vector<PlaceIndex> &places) const {
        uint64_t last = 0;
        for (const PlaceIndex place : places) {
            Acquisition reader = buffer.acquire(place, Access::read);
            last = std::max(last, machine.arrival(reader));
        }
        return static_cast<double>(last - begin) * 1e-9;
    }
    void check_bytes(const std::vector<PlaceIndex> &places) const {
        for (const PlaceIndex place : places) {
            std::vector<uint8_t> seen(size);
            Acquisition reader = buffer.acquire(place, Access::read);
            REQUIRE(wait(machine.read(reader, seen.data())) == PI_SUCCESS);
            CHECK((seen == std::vector<uint8_t>(size, 42))); // one value: a short report
        }
    }

    const Simulated &machine;
    Storage storage;
    Buffer buffer;
    Event gate, filled;
    uint64_t begin = 0;
};

uint64_t from(const std::map<std::pair<PlaceIndex, PlaceIndex>, uint64_t> &bytes,
              PlaceIndex place) {
    uint64_t sum = 0;
    for (const auto &[link, moved] : bytes) {
        sum += link.first == place ? moved : 0;
    }
    return sum;
}

/// The shortest time for bytes over a chain of `links` links, in equal pieces of any size.
double best_pipeline(const Wire &wire, int links) {
    double best = 1;
    for (int pieces = 1; pieces <= 4096; ++pieces) {
        best =
            std::min(best, (pieces + links - 1) * wire.seconds(static_cast<double>(size) / pieces));
    }
    return best;
}

/// Usually within 1.08. But the real machine decides which thread runs a step, and so the virtual
/// time at which the step starts: a piece may be late. Halves in sequence would take 1.7.
constexpr double near = 1.4;

enum class Manner { one_after_the_other, all_at_once, broadcast };

void bring(const Runtime &runtime, Source &source, const std::vector<PlaceIndex> &places,
           Manner manner) {
    if (manner == Manner::broadcast) {
        source.buffer.broadcast(places);
        return;
    }
    for (const PlaceIndex place : places) {
        source.buffer.prefetch(place);
        if (manner == Manner::one_after_the_other) {
            REQUIRE(runtime.finish(patience));
        }
    }
    if (manner == Manner::all_at_once) {
        source.open();
    }
}

} // namespace

TEST_CASE("without peer access the source is read once, whatever the number of readers",
          "[runtime][broadcast]") {
    const Manner manner =
        GENERATE(Manner::one_after_the_other, Manner::all_at_once, Manner::broadcast);
    const TextFile file(cards(4));
    const Simulated machine(file.path());
    RuntimeOptions options;
    options.costs = costs_of(*machine.topology(), pcie4, {pcie4.bandwidth / 2, 3e-6});
    const Runtime runtime(machine.topology(), options);
    Source source(machine, runtime, copies, 1, manner == Manner::all_at_once);
    const std::vector<PlaceIndex> readers{2, 3, 4};
    bring(runtime, source, readers, manner);
    const double seconds = source.arrival(readers);
    REQUIRE(runtime.finish(patience));
    auto bytes = machine.link_bytes();
    CHECK(bytes[std::pair(1U, host_place)] == size);
    for (const PlaceIndex reader : readers) {
        CHECK(bytes[std::pair(host_place, reader)] == size);
    }
    CHECK(machine.moved() == 4 * size);
    if (manner != Manner::one_after_the_other) {
        // The halves overlap, and each reader has its own link.
        CHECK(seconds <= near * best_pipeline(pcie4, 2));
    }
    const Counters counters = source.storage.counters();
    CHECK(counters.bytes_required == 3 * size);
    CHECK(counters.bytes_delivered == 3 * size);
    uint64_t staged = 0;
    for (const TransferRecord &record : runtime.log()) {
        staged += record.style == BounceStyle::staged ? 1 : 0;
        CHECK((record.bytes == 0 || record.bytes == size)); // pieces are one line
    }
    CHECK(staged == 1);
    source.check_bytes(readers);
}

TEST_CASE("workstation, dual-socket: a link between sockets or cards is crossed once",
          "[runtime][broadcast]") {
    const Manner manner =
        GENERATE(Manner::one_after_the_other, Manner::all_at_once, Manner::broadcast);
    for (const std::string name : {"workstation", "dual-socket"}) {
        INFO(name);
        const Simulated machine(shipped_machine(name), 3); // three places on each card
        const Wire host = name == "workstation" ? pcie4 : pcie3;
        const Wire peer = name == "workstation" ? Wire{host.bandwidth / 2, 3e-6} : between_sockets;
        RuntimeOptions options;
        options.costs = costs_of(*machine.topology(), host, peer);
        const Runtime runtime(machine.topology(), options);
        Source source(machine, runtime, copies, 1, manner == Manner::all_at_once);
        const std::vector<PlaceIndex> readers{2, 3, 4, 5, 6};
        bring(runtime, source, readers, manner);
        const double seconds = source.arrival(readers);
        REQUIRE(runtime.finish(patience));
        auto bytes = machine.link_bytes();
        CHECK(bytes[std::pair(1U, host_place)] == size);
        CHECK(bytes[std::pair(host_place, 2U)] == size);
        CHECK(machine.moved() == 2 * size); // bytes between places of one card cross no link
        if (manner != Manner::one_after_the_other) {
            CHECK(seconds <= near * best_pipeline(host, 2));
        }
        source.check_bytes(readers);
    }
}

TEST_CASE("switch-8gpu: a broadcast leaves and enters each GPU once", "[runtime][broadcast]") {
    const Simulated machine(shipped_machine("switch-8gpu"));
    RuntimeOptions options;
    options.costs = costs_of(*machine.topology(), pcie5, nvlink);
    const Runtime runtime(machine.topology(), options);
    const Source source(machine, runtime, copies, 1);
    const std::vector<PlaceIndex> readers{2, 3, 4, 5, 6, 7, 8};
    source.buffer.broadcast(readers);
    const double seconds = source.arrival(readers);
    REQUIRE(runtime.finish(patience));
    const auto bytes = machine.link_bytes();
    CHECK(machine.moved() == readers.size() * size);
    CHECK(from(bytes, 1) == size);
    for (const PlaceIndex reader : readers) {
        CHECK(from(bytes, reader) <= size);
    }
    CHECK(seconds <= 2 * best_pipeline(nvlink, 7)); // one sender for all would take 2.4
    source.check_bytes(readers);
}

TEST_CASE("switch-8gpu: readers that come one by one share the sending", "[runtime][broadcast]") {
    const Simulated machine(shipped_machine("switch-8gpu"));
    RuntimeOptions options;
    options.costs = costs_of(*machine.topology(), pcie5, nvlink);
    const Runtime runtime(machine.topology(), options);
    Source source(machine, runtime, copies, 1, true);
    const std::vector<PlaceIndex> readers{2, 3, 4, 5, 6, 7, 8};
    bring(runtime, source, readers, Manner::all_at_once);
    const double seconds = source.arrival(readers);
    REQUIRE(runtime.finish(patience));
    CHECK(machine.moved() == readers.size() * size);
    // Whole copies: a tree of four levels instead of one sender for seven readers.
    CHECK(from(machine.link_bytes(), 1) <= 4 * size);
    CHECK(seconds <= near * 4 * nvlink.seconds(size));
    source.check_bytes(readers);
}

TEST_CASE("bounces stay at the host only within the limit", "[runtime][broadcast]") {
    const TextFile file(cards(3));
    const Simulated machine(file.path());
    RuntimeOptions options;
    options.costs = costs_of(*machine.topology(), pcie4, {pcie4.bandwidth / 2, 3e-6});
    options.bounce_limit = size;
    const Runtime runtime(machine.topology(), options);
    {
        const Source kept(machine, runtime, copies, 1);
        CHECK(kept.buffer.explain(2).text.find("and stays there") != std::string::npos);
        kept.arrival({2});
        const Source staged(machine, runtime, copies, 1);
        CHECK(staged.buffer.explain(2).text.find("bounce_limit is reached") != std::string::npos);
        staged.arrival({2});
        CHECK(kept.buffer.explain(3).parts.at(0).candidates.at(0).route.source == host_place);
        staged.check_bytes({2, 3});
        kept.check_bytes({2, 3});
        REQUIRE(runtime.finish(patience));
    }
    const Source next(machine, runtime, copies,
                      1); // destroyed storages no longer count
    CHECK(next.buffer.explain(2).text.find("and stays there") != std::string::npos);
}

namespace {

/// Holds copies to one place until release(), and fails the plugin's copies to another.
class HoldingTransport final : public Transport {
public:
    HoldingTransport(std::shared_ptr<Transport> inner, PlaceIndex held, PlaceIndex failed)
        : inner_(std::move(inner)), held_(held), failed_(failed) {}

    void start(const TransferRequest &request, TransferDone done) override {
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
            requests_.back().after.clear(); // events, which must not outlive the loader
            if (holds_ && request.route.destination == held_) {
                waiting_.emplace_back(request, std::move(done));
                return;
            }
        }
        if (request.route.kind == RouteKind::migrate && request.route.destination == failed_) {
            done(PI_ERROR_BACKEND, "made to fail");
            return;
        }
        inner_->start(request, std::move(done));
    }
    void release() {
        std::vector<std::pair<TransferRequest, TransferDone>> waiting;
        {
            const std::lock_guard lock(mutex_);
            holds_ = false;
            waiting.swap(waiting_);
        }
        for (auto &[request, done] : waiting) {
            inner_->start(request, std::move(done));
        }
    }
    std::vector<TransferRequest> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

private:
    const std::shared_ptr<Transport> inner_;
    const PlaceIndex held_, failed_;
    mutable std::mutex mutex_;
    bool holds_ = true;
    std::vector<TransferRequest> requests_;
    std::vector<std::pair<TransferRequest, TransferDone>> waiting_;
};

} // namespace

TEST_CASE("a piece with a hole is not mapped, even if its part could be", "[runtime][broadcast]") {
    const TextFile file(R"({"pi_machine": 1, "name": "one that maps", "devices": [
        {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
        {"name": "c", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB",
            "flags": ["host_visible", "coherent", "maps_in_place"]}]}],
        "links": [{"between": ["b", "c"], "connection": "migratable", "bandwidth": "40 GB/s"},
            {"from": "host", "to": "b", "bandwidth": "10 GB/s"}, {"from": "b", "to": "host", "bandwidth": "10 GB/s"},
            {"from": "host", "to": "c", "bandwidth": "10 GB/s"}, {"from": "c", "to": "host", "bandwidth": "10 GB/s"}]})");
    const Simulated machine(file.path());
    std::shared_ptr<HoldingTransport> transport;
    RuntimeOptions options;
    options.wrap_transport = [&](std::shared_ptr<Transport> inner) {
        transport = std::make_shared<HoldingTransport>(std::move(inner), 1, 2);
        return transport;
    };
    {
        const Runtime runtime(machine.topology(), options);
        constexpr uint64_t third = 4096;
        const Storage storage(runtime, {.size = 3 * third});
        const Buffer buffer = storage.buffer();
        std::vector<uint8_t> bytes = pattern(3 * third, 1);
        host_write(buffer, 0, bytes);
        Acquisition middle = buffer.acquire(1, Access::discard_write, third, third);
        middle.release(machine.fill(middle, 2).get());
        std::fill_n(bytes.begin() + third, third, uint8_t{2});
        REQUIRE(runtime.finish(patience));
        buffer.prefetch(1); // both ends, whose copies are held
        Acquisition all = buffer.acquire(2, Access::read);
        transport->release();
        all.wait(patience);
        all.release();
        CHECK(device_read(machine, buffer, 2) == bytes);
        REQUIRE(runtime.finish(patience));
        bool mapped = false;
        for (const TransferRequest &request : transport->requests()) {
            if (request.route.style == BounceStyle::map_destination) {
                mapped = true;
                CHECK(request.ranges.ranges().size() == 1);
            }
        }
        CHECK(mapped); // the bytes came in one range
    }
}
