// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Concurrent transfers: the runtime's prediction at the start of each, and its duration on the
// machine's clock.
#include "timed_machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <thread>

using namespace runtime_test;
using Ended = TimedMachine::Ended;
using Transfer = TimedMachine::Transfer;

namespace {

double predicted_end(const Ended &ended) {
    return ended.predicted.seconds + ended.predicted.delay;
}

std::string text_of(const Ended &ended) {
    const Candidate &candidate = ended.predicted;
    return std::string(to_string(candidate.route.kind)) + " " + to_string(candidate.route.style) +
           ", predicted " + std::to_string(candidate.seconds * 1e6) + " us and " +
           std::to_string(candidate.delay * 1e6) + " us of delay";
}

/// Predicted delay of such a transfer now.
double delay_of(const Storage &storage, PlaceIndex destination) {
    return TimedMachine::chosen(storage, destination).delay;
}

/// All possible routes.
std::vector<Candidate> ways_of(const Storage &storage, PlaceIndex destination) {
    std::vector<Candidate> ways = storage.buffer().explain(destination).parts.at(0).candidates;
    std::erase_if(ways, [](const Candidate &way) { return !way.possible; });
    return ways;
}

/// Two transfers that start together, each from the place where its storage is valid.
struct Pair {
    Ended first, second;
};
Pair run_pair(const TimedMachine &machine, const Transfer &first, const Transfer &second) {
    const std::vector<Ended> ends = machine.read_together({first, second});
    UNSCOPED_INFO(text_of(ends[0]) << "; " << text_of(ends[1]));
    return {ends[0], ends[1]};
}

} // namespace

TEST_CASE("a transfer behind others of its route takes as long as was predicted, on every machine",
          "[runtime][sim]") {
    const uint64_t bounce_limit = GENERATE(uint64_t{0}, 256 * MiB); // staged, or kept at the host
    for (const auto &entry : std::filesystem::directory_iterator(PI_TEST_MACHINES)) {
        const TimedMachine machine(entry.path(), 1, {}, bounce_limit);
        const PlaceIndex places = std::min(4U, machine.places());
        for (const uint64_t size : {4 * KiB, 100 * KiB, 3 * MiB}) {
            for (PlaceIndex from = 0; from < places; ++from) {
                for (PlaceIndex to = 0; to < places; ++to) {
                    for (size_t count = 1; count <= 3 && from != to; ++count) {
                        std::vector<Transfer> transfers;
                        while (transfers.size() < count) {
                            transfers.push_back({machine.storage(size, from), to});
                        }
                        const std::vector<Ended> ends = machine.read_together(transfers);
                        const Ended &last = ends.back();
                        INFO(entry.path() << ": " << from << " to " << to << ", " << size
                                          << " bytes, " << count << ": " << text_of(last));
                        CHECK((last.predicted.delay > 0) == (count > 1));
                        check_within_5_percent(last.seconds, predicted_end(last));
                        CHECK(last.predicted.route.hops == ends.front().predicted.route.hops);
                        CHECK(delay_of(machine.storage(size, from), to) == 0);
                    }
                }
            }
        }
    }
}

TEST_CASE("of two transfers of different sizes and routes the second takes as long as was "
          "predicted behind the first",
          "[runtime][sim]") {
    const std::string name = GENERATE("workstation", "bounce-faster", "dual-socket");
    const auto [first_size, second_size] = GENERATE(
        table<uint64_t, uint64_t>({{100 * KiB, 100 * KiB}, {8 * MiB, MiB}, {MiB, 8 * MiB}}));
    const TimedMachine machine(shipped_machine(name));
    INFO(name << ": " << first_size << " and " << second_size << " bytes");
    const auto whole = [&](uint64_t size, PlaceIndex from, PlaceIndex to) {
        return Transfer{machine.storage(size, from), to};
    };
    const auto staged = [&](uint64_t size, PlaceIndex from, PlaceIndex to) {
        return Transfer{machine.staged(size, from), to};
    };
    const CostTable costs = CostTable::estimate(machine.topology());
    const double link = costs.seconds(0, 2, first_size); // all links to the host are equal
    Ended second;

    SECTION("one over the second one's first link") {
        second = run_pair(machine, whole(first_size, 1, 0), staged(second_size, 1, 2)).second;
        CHECK(second.predicted.delay == Approx(link));
    }
    SECTION("one over its last link, which moves on while the first piece comes") {
        second = run_pair(machine, whole(first_size, 0, 2), staged(second_size, 1, 2)).second;
        CHECK(second.predicted.delay < link);
    }
    SECTION("pieces that come over another link before are behind") {
        second = run_pair(machine, staged(first_size, 1, 2), whole(second_size, 0, 2)).second;
        CHECK(second.predicted.delay == 0);
    }
    SECTION("one piece of many goes before one that is not cut") {
        const Pair pair = run_pair(machine, staged(first_size, 1, 2), whole(second_size, 1, 0));
        second = pair.second;
        CHECK(second.predicted.delay ==
              Approx(costs.seconds(1, 0, pair.first.predicted.route.chunk)));
    }
    SECTION("both in one") {
        second = run_pair(machine, whole(first_size, 0, 1), whole(second_size, 0, 1)).second;
        CHECK(second.predicted.delay == Approx(link));
    }
    SECTION("both in pieces, which take turns") {
        second = run_pair(machine, staged(first_size, 1, 2), staged(second_size, 1, 2)).second;
        CHECK(second.predicted.delay > 0);
    }
    check_within_5_percent(second.seconds, predicted_end(second));
}

TEST_CASE("pieces wait on the way for a busy last link, as many as have room", "[runtime][sim]") {
    const TextFile file(R"({"pi_machine": 1, "name": "uneven", "devices": [
        {"name": "source", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 GiB"}]},
        {"name": "target", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 GiB"}]}],
        "links": [
        {"from": "host", "to": "source", "bandwidth": "5 GB/s", "latency": "1 us"},
        {"from": "source", "to": "host", "bandwidth": "5 GB/s", "latency": "1 us"},
        {"from": "host", "to": "target", "bandwidth": "10 GB/s", "latency": "1 us"},
        {"from": "target", "to": "host", "bandwidth": "10 GB/s", "latency": "1 us"}]})");
    const TimedMachine machine(file.path());
    const Ended second = run_pair(machine, {machine.storage(16 * MiB, host_place), 2},
                                  {machine.staged(8 * MiB, 1), 2})
                             .second;
    // With room for all of them there would be almost no delay: the first link is the slower one.
    CHECK(second.predicted.delay > 0.7 * second.predicted.seconds);
    check_within_5_percent(second.seconds, predicted_end(second));
}

TEST_CASE("transfers over different links, or in opposite directions, do not count each other",
          "[runtime][sim]") {
    const std::string name = GENERATE("workstation", "bounce-faster");
    const TimedMachine machine(shipped_machine(name));
    const auto [first, second] = GENERATE(
        table<Hop, Hop>({{{1, 2}, {2, 1}}, {{0, 1}, {0, 2}}, {{0, 1}, {1, 0}}, {{1, 0}, {0, 1}}}));
    INFO(name << ": " << first.from << " to " << first.to << ", " << second.from << " to "
              << second.to);
    const auto transfer = [&](const Hop &hop) {
        return Transfer{machine.storage(16 * MiB, hop.from, mask_of(RouteKind::host_bounce)),
                        hop.to};
    };
    const Pair pair = run_pair(machine, transfer(first), transfer(second));
    for (const Ended &ended : {pair.first, pair.second}) {
        CHECK(ended.predicted.delay == 0);
        check_within_5_percent(ended.seconds, predicted_end(ended));
    }
}

TEST_CASE(
    "transfers over different links that share a port or a slot take as long as was predicted",
    "[runtime][sim]") {
    struct Case {
        const char *machine;
        Hop first, second;
        bool shared;
    };
    const Case one = GENERATE(values<Case>({
        {"switch-8gpu", {1, 2}, {1, 3}, true}, // the outgoing port
        {"switch-8gpu", {1, 2}, {3, 2}, true}, // the incoming port
        {"switch-8gpu", {1, 2}, {3, 4}, false},
        {"switch-8gpu", {1, 2}, {2, 1}, false},
        {"switch-8gpu", {1, 2}, {2, 3}, false},
        {"workstation", {1, 2}, {1, 0}, true}, // the driver stages the first over the host
        {"workstation", {1, 2}, {0, 2}, true},
        {"workstation", {1, 0}, {1, 2}, true},
        {"workstation", {1, 2}, {0, 1}, false},
    }));
    const TimedMachine machine(shipped_machine(one.machine));
    const auto [first_size, second_size] = GENERATE(
        table<uint64_t, uint64_t>({{16 * MiB, 16 * MiB}, {64 * MiB, MiB}, {MiB, 64 * MiB}}));
    INFO(one.machine << ": " << first_size << " bytes " << one.first.from << " to " << one.first.to
                     << ", " << second_size << " bytes " << one.second.from << " to "
                     << one.second.to);
    const auto transfer = [&](const Hop &hop, uint64_t size) {
        const bool between = hop.from != host_place && hop.to != host_place;
        return Transfer{
            machine.storage(size, hop.from, between ? mask_of(RouteKind::migrate) : copies),
            hop.to};
    };
    const Pair pair =
        run_pair(machine, transfer(one.first, first_size), transfer(one.second, second_size));
    CHECK(pair.first.predicted.delay == 0);
    CHECK((pair.second.predicted.delay > 0) == one.shared);
    check_within_5_percent(pair.second.seconds, predicted_end(pair.second));
}

TEST_CASE("a device's links are the same in all its contexts", "[runtime][sim]") {
    const TimedMachine machine(shipped_machine("workstation"), 2);
    REQUIRE(machine.places() == 5);
    const auto transfer = [&](PlaceIndex to) {
        return Transfer{machine.storage(8 * MiB, host_place), to};
    };
    const Ended other = run_pair(machine, transfer(1), transfer(3)).second;
    CHECK(other.predicted.delay > 0);
    check_within_5_percent(other.seconds, predicted_end(other));
}

namespace {

/// Holds all requests until the test releases them.
class Holding final : public Transport {
public:
    explicit Holding(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}
    void start(const TransferRequest &request, TransferDone done) override {
        held_.push_back({request, std::move(done)});
        if (throws) {
            held_.pop_back();
            throw Error(PI_ERROR_BACKEND, "made to throw");
        }
    }
    size_t count() const { return held_.size(); }
    const Route &route() const { return held_.back().request.route; }
    void let_go() {
        const Held held = take();
        inner_->start(held.request, held.done);
    }
    void fail() { take().done(PI_ERROR_BACKEND, "made to fail"); }

    bool throws = false;

private:
    struct Held {
        TransferRequest request;
        TransferDone done;
    };
    Held take() {
        Held last = std::move(held_.back());
        held_.pop_back();
        return last;
    }
    const std::shared_ptr<Transport> inner_;
    std::vector<Held> held_;
};

/// A runtime on a machine, with storages.
struct Held {
    explicit Held(const std::string &path, uint64_t bounce_limit = 0) : machine(path) {
        RuntimeOptions options;
        options.bounce_limit = bounce_limit;
        options.wrap_transport = [this](std::shared_ptr<Transport> inner) {
            return transport = std::make_shared<Holding>(std::move(inner));
        };
        runtime.emplace(machine.topology(), options);
    }
    Storage storage(PlaceIndex source, uint64_t size = 3 * MiB) const {
        Storage storage(*runtime, {.size = size, .routes = copies});
        storage.buffer().acquire(source, Access::discard_write).release();
        return storage;
    }

    Simulated machine;
    std::shared_ptr<Holding> transport;
    std::optional<Runtime> runtime;
};

} // namespace

TEST_CASE("explain reports the delay, and so does the log", "[runtime][sim]") {
    Held held(shipped_machine("workstation"));
    const Storage first = held.storage(host_place), second = held.storage(host_place);
    CHECK_THAT(second.buffer().explain(1).text, !Catch::Contains("delay"));
    first.buffer().prefetch(1);
    const Candidate chosen = TimedMachine::chosen(second, 1);
    CHECK(chosen.delay == Approx(chosen.seconds));
    CHECK_THAT(second.buffer().explain(1).text,
               Catch::Contains(" us of delay by transfers under way"));
    second.buffer().prefetch(1);
    held.transport->let_go();
    held.transport->let_go();
    REQUIRE(held.runtime->finish(patience));
    std::vector<double> delays;
    for (const TransferRecord &record : held.runtime->log()) {
        if (record.bytes != 0) {
            CHECK(record.predicted == chosen.seconds);
            delays.push_back(record.predicted_delay);
        }
    }
    std::sort(delays.begin(), delays.end());
    CHECK(delays == std::vector<double>{0, chosen.delay});
    CHECK_THAT(held.storage(host_place).buffer().explain(1).text, !Catch::Contains("delay"));
}

TEST_CASE("a bounce that stays at the host is logged with its delay, once", "[runtime][sim]") {
    const TimedMachine machine(shipped_machine("workstation"), 1, {}, 256 * MiB);
    const auto bounce = [&] {
        return Transfer{machine.storage(3 * MiB, 1, mask_of(RouteKind::host_bounce)), 2};
    };
    const Ended second = run_pair(machine, bounce(), bounce()).second;
    std::vector<double> delays;
    for (const TransferRecord &record : machine.runtime().log()) {
        if (record.bytes != 0) {
            CHECK(record.predicted == Approx(second.predicted.seconds));
            delays.push_back(record.predicted_delay);
        }
    }
    std::sort(delays.begin(), delays.end());
    CHECK(delays == std::vector<double>{0, second.predicted.delay});
}

TEST_CASE("a transfer that waits for a kernel is not under way yet", "[runtime][sim]") {
    Held held(shipped_machine("workstation"));
    const Storage first = held.storage(host_place), second = held.storage(host_place);
    Event kernel;
    check(piEventCreateHost(held.machine.topology()->context(1), nullptr, kernel.out()),
          "piEventCreateHost");
    first.buffer().acquire(host_place, Access::discard_write).release(kernel.get());
    first.buffer().prefetch(1);
    CHECK(delay_of(second, 1) == 0);
    check(piEventSignalHost(kernel.get(), PI_SUCCESS), "piEventSignalHost");
    REQUIRE(held.transport->count() == 1);
    CHECK(delay_of(second, 1) > 0);
    held.transport->let_go();
    REQUIRE(held.runtime->finish(patience));
    CHECK(delay_of(second, 1) == 0);
}

TEST_CASE("of a failing transfer only the route being tried is under way, and at last none",
          "[runtime][sim]") {
    Held held(shipped_machine("bounce-faster")); // whose routes share no link
    const bool throws = GENERATE(false, true);
    const Storage storage = held.storage(1), other = held.storage(1);
    const std::vector<Candidate> ways = ways_of(storage, 2);
    REQUIRE(ways.size() >= 2);
    REQUIRE(ways[0].route.hops != ways[1].route.hops);
    storage.buffer().prefetch(2);
    for (const Candidate &way : ways) {
        REQUIRE(held.transport->count() == 1);
        CHECK(held.transport->route().hops == way.route.hops);
        for (const Candidate &same : ways_of(other, 2)) {
            CHECK((same.delay > 0) == (same.route.hops == way.route.hops));
        }
        held.transport->throws = throws;
        held.transport->fail();
        if (throws) {
            break; // all others have been tried by now
        }
    }
    REQUIRE(held.runtime->finish(patience));
    CHECK(storage.counters().failed_attempts == ways.size());
    for (const Candidate &way : ways_of(other, 2)) {
        CHECK(way.delay == 0);
    }
}

TEST_CASE("a transfer ended by a fault or a lost device is not under way any more",
          "[runtime][sim]") {
    const auto [device, faults] = GENERATE(table<std::string, std::string>(
        {{R"("lost_at": "500 us")", ""},
         {R"("lost_at": "never")",
          R"({"function": "piEnqueueMemBufferWrite", "result": "backend"})"},
         {R"("lost_at": "never")", R"({"function": "piEnqueueMemBufferWrite", "part": 0.5})"}}));
    const bool lost = faults.empty();
    const TextFile file(R"({"pi_machine": 1, "name": "failing", "devices": [{"name": "gpu",
        "type": "gpu", "scopes": [{"name": "global", "capacity": "1 GiB"}])" +
                        (lost ? ", " + device : std::string()) + R"(}], "links": [
        {"from": "host", "to": "gpu", "bandwidth": "1 GB/s"},
        {"from": "gpu", "to": "host", "bandwidth": "1 GB/s"}], "faults": [)" +
                        faults + "]}");
    INFO(device << ", " << faults);
    Held held(file.path());
    const Storage storage = held.storage(host_place), other = held.storage(host_place);
    Acquisition use = storage.buffer().acquire(1, Access::read);
    CHECK(delay_of(other, 1) > 0);
    held.transport->let_go();
    CHECK(code_of([&] { use.wait(patience); }) == (lost ? PI_ERROR_DEVICE_LOST : PI_ERROR_BACKEND));
    CHECK(delay_of(other, 1) == 0);
    REQUIRE(held.runtime->finish(patience));
}

TEST_CASE("links are idle after the transfers of many threads", "[runtime][sim]") {
    const Simulated machine(shipped_machine("workstation"));
    const Runtime runtime(machine.topology());
    std::vector<std::thread> threads;
    for (PlaceIndex first = 0; first < 4; ++first) {
        threads.emplace_back([&, first] {
            const Storage storage(runtime, {.size = 300 * KiB, .routes = copies});
            for (PlaceIndex step = first; step < first + 60; ++step) {
                storage.buffer().acquire(step % 3, Access::discard_write).release();
                const PlaceIndex to = (step + 1 + first % 2) % 3;
                storage.buffer().prefetch(to);
                storage.buffer().explain((to + 1) % 3);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    REQUIRE(runtime.finish(patience));
    for (PlaceIndex from = 0; from < 3; ++from) {
        const Storage storage(runtime, {.size = 300 * KiB, .routes = copies});
        storage.buffer().acquire(from, Access::discard_write).release();
        for (const PlaceIndex to : {(from + 1) % 3, (from + 2) % 3}) {
            for (const Candidate &way : ways_of(storage, to)) {
                CHECK(way.delay == 0);
            }
        }
    }
}
