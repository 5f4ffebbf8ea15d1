// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine_file.hpp"
#include "timed_machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <random>

using namespace runtime_test;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) // which take ten times as long
const std::vector<uint64_t> sizes_of_routes{65 * KiB, 16 * MiB};
const std::vector<uint64_t> sizes_of_transfers{100 * KiB, 3 * MiB};
#else
const std::vector<uint64_t> sizes_of_routes{4 * KiB, 64 * KiB, 65 * KiB, 300 * KiB, 1 * MiB,
                                            4 * MiB, 5 * MiB,  16 * MiB, 64 * MiB};
const std::vector<uint64_t> sizes_of_transfers{4 * KiB, 100 * KiB, 3 * MiB, 32 * MiB};
#endif

/// Shipped machines. Eight GPUs in two contexts have too many chains of links to try all.
struct Shipped {
    std::string path;
    uint32_t contexts;
};
std::vector<Shipped> shipped_machines() {
    std::vector<Shipped> machines;
    for (const auto &entry : std::filesystem::directory_iterator(PI_TEST_MACHINES)) {
        const std::string path = entry.path();
        if (entry.path().extension() == ".json") {
            machines.push_back({path, MachineFile(path, 1).places() > 4 ? 1U : 2U});
        }
    }
    std::sort(machines.begin(), machines.end(),
              [](const Shipped &a, const Shipped &b) { return a.path < b.path; });
    REQUIRE(machines.size() >= 7);
    return machines;
}

/// Devices in a row, each with links only to its neighbours, and slow links to the host; the first
/// one's host links are less slow.
std::string chain_of_devices() {
    std::string devices, links;
    const auto add = [](std::string &list, const std::string &text) {
        list += (list.empty() ? "{" : ", {") + text + "}";
    };
    const char *rates[] = {"20 GB/s", "10 GB/s", "15 GB/s"};
    for (int device = 0; device < 4; ++device) {
        const std::string name = "\"d" + std::to_string(device) + '"';
        const std::string next = "\"d" + std::to_string(device + 1) + '"';
        const std::string speed = std::string(R"("latency": "5 us", "bandwidth": )") +
                                  (device == 0 ? "\"5 GB/s\"" : "\"1 GB/s\"");
        add(devices, R"("name": )" + name +
                         R"(, "type": "gpu", "scopes": [{"name": "global", "capacity": "1 GiB"}])");
        add(links, R"("from": "host", "to": )" + name + ", " + speed);
        add(links, R"("to": "host", "from": )" + name + ", " + speed);
        if (device < 3) {
            add(links, R"("between": [)" + name + ", " + next +
                           R"(], "connection": "migratable", "latency": "2 us", "bandwidth": ")" +
                           rates[device] + '"');
        }
    }
    return R"({"pi_machine": 1, "name": "chain", "devices": [)" + devices + R"(], "links": [)" +
           links + "]}";
}

} // namespace

TEST_CASE("on every machine each chosen route costs what the best of all ways costs",
          "[runtime][sim]") {
    for (const Shipped &machine : shipped_machines()) {
        const MachineFile file(machine.path, machine.contexts);
        const TimedMachine simulation(machine.path, machine.contexts);
        REQUIRE(simulation.places() == file.places());
        for (PlaceIndex from = 0; from < file.places(); ++from) {
            for (const uint64_t size : sizes_of_routes) {
                const Storage storage = simulation.storage(size, from);
                for (PlaceIndex to = 0; to < file.places(); ++to) {
                    if (to == from) {
                        continue;
                    }
                    INFO(machine.path << ": " << from << " (" << file.name(from) << ") to " << to
                                      << " (" << file.name(to) << "), " << size << " bytes");
                    REQUIRE(TimedMachine::chosen(storage, to).seconds ==
                            Approx(file.cheapest(from, to, size)).epsilon(1e-6));
                }
            }
        }
    }
}

TEST_CASE("unified memory is used in place, at no cost", "[runtime][sim]") {
    uint32_t found = 0;
    for (const Shipped &machine : shipped_machines()) {
        const MachineFile file(machine.path, machine.contexts);
        const TimedMachine simulation(machine.path, machine.contexts);
        for (PlaceIndex from = 1; from < file.places(); ++from) {
            const Storage storage =
                simulation.storage(1 * MiB, from, copies | mask_of(RouteKind::direct_use));
            for (PlaceIndex to = 1; to < file.places(); ++to) {
                if (to == from) {
                    continue;
                }
                INFO(machine.path << ": " << from << " to " << to);
                const Candidate chosen = TimedMachine::chosen(storage, to);
                CHECK((chosen.route.kind == RouteKind::direct_use) == file.unified(from, to));
                found += file.unified(from, to) && chosen.seconds == 0;
            }
        }
    }
    CHECK(found >= 56);
}

TEST_CASE("a transfer takes as long on the machine's clock as was predicted", "[runtime][sim]") {
    for (const Shipped &machine : shipped_machines()) {
        const TimedMachine simulation(machine.path, machine.contexts);
        for (PlaceIndex from = 0; from < simulation.places(); ++from) {
            for (PlaceIndex to = 0; to < simulation.places(); ++to) {
                // Actual copies of large ranges between eight equal GPUs would take too long.
                const bool many = simulation.places() > 5 && (from > 1 || to > 2);
                for (const uint64_t size : sizes_of_transfers) {
                    if (to == from || (many && size > 4 * MiB)) {
                        continue;
                    }
                    const Storage storage = simulation.storage(size, from);
                    const Candidate chosen = TimedMachine::chosen(storage, to);
                    INFO(machine.path << ": " << from << " to " << to << ", " << size << " bytes, "
                                      << to_string(chosen.route.kind) << " "
                                      << to_string(chosen.route.style) << ": " << chosen.reason);
                    check_within_5_percent(simulation.read_seconds(storage, to), chosen.seconds);
                }
            }
        }
    }
}

TEST_CASE("a coherence sync takes as long on the machine's clock as was predicted",
          "[runtime][sim]") {
    const auto [name, bandwidth] = // of the maintenance
        GENERATE(table<std::string, double>({{"cma-board", 3.2e9}, {"dsp", 6.4e9}}));
    INFO(name);
    const TimedMachine simulation(shipped_machine(name));
    constexpr PlaceIndex accelerator = 1;
    for (const uint64_t size : {4 * KiB, 100 * KiB + 1, 3 * MiB, 32 * MiB}) {
        INFO(size << " bytes");
        const Storage storage = simulation.storage(size, accelerator, all_routes);
        for (const PlaceIndex reader : {host_place, accelerator}) {
            const Candidate chosen = TimedMachine::chosen(storage, reader);
            CHECK(chosen.route.kind == RouteKind::import);
            CHECK(chosen.seconds > static_cast<double>(size) / bandwidth);
            check_within_5_percent(simulation.read_seconds(storage, reader), chosen.seconds);
            CHECK(storage.counters().bytes_delivered == 0);
            storage.buffer().acquire(host_place, Access::discard_write).release();
        }
    }
}

TEST_CASE("a bounce takes as long as predicted in each of its forms", "[runtime][sim]") {
    uint32_t mapped = 0;
    for (const Shipped &machine : shipped_machines()) {
        const TimedMachine simulation(machine.path, machine.contexts);
        for (PlaceIndex from = 1; from < std::min(4U, simulation.places()); ++from) {
            for (PlaceIndex to = 1; to < std::min(4U, simulation.places()); ++to) {
                for (const BounceStyle style :
                     {BounceStyle::map_source, BounceStyle::map_destination, BounceStyle::staged}) {
                    for (const uint64_t size : {10 * KiB, 1 * MiB, 20 * MiB}) {
                        if (from == to || (style != BounceStyle::staged &&
                                           !simulation.topology().place(from).maps_in_place)) {
                            continue;
                        }
                        const Storage storage = simulation.storage(
                            size, from, mask_of(RouteKind::host_bounce), mask_of(style));
                        const Candidate chosen = TimedMachine::chosen(storage, to);
                        REQUIRE(chosen.route.style == style);
                        mapped += style != BounceStyle::staged;
                        INFO(machine.path << ": " << from << " to " << to << ", " << size
                                          << " bytes, " << to_string(style));
                        check_within_5_percent(simulation.read_seconds(storage, to),
                                               chosen.seconds);
                    }
                }
            }
        }
    }
    CHECK(mapped > 0);
}

TEST_CASE("the halves of a bounce that stays at the host follow each other on the machine's clock",
          "[runtime][sim]") {
    for (const char *name : {"workstation", "dual-socket"}) {
        const TimedMachine simulation(shipped_machine(name), 1, {}, 64 * MiB);
        for (int round = 0; round < 20; ++round) {
            const uint64_t size = round % 2 == 0 ? 100 * KiB : round % 4 == 1 ? 1 * MiB : 20 * MiB;
            const Storage storage = simulation.storage(size, 1, mask_of(RouteKind::host_bounce));
            const Candidate chosen = TimedMachine::chosen(storage, 2);
            INFO(name << ", " << size << " bytes, round " << round << ": " << chosen.reason);
            CHECK(chosen.reason.find("and stays there") != std::string::npos);
            check_within_5_percent(simulation.read_seconds(storage, 2), chosen.seconds);
        }
    }
}

namespace {

/// Records how many commands each transfer waits for.
class Noting final : public Transport {
public:
    Noting(std::shared_ptr<Transport> inner, std::vector<size_t> &out)
        : inner_(std::move(inner)), out_(out) {}
    void start(const TransferRequest &request, TransferDone done) override {
        out_.push_back(request.after.size());
        inner_->start(request, std::move(done));
    }

private:
    const std::shared_ptr<Transport> inner_;
    std::vector<size_t> &out_;
};

} // namespace

TEST_CASE("a transfer names the commands that it comes after, as far as they succeeded",
          "[runtime][sim]") {
    const Simulated machine(shipped_machine("workstation"));
    std::vector<size_t> after;
    RuntimeOptions options;
    options.wrap_transport = [&](std::shared_ptr<Transport> inner) -> std::shared_ptr<Transport> {
        return std::make_shared<Noting>(std::move(inner), after);
    };
    const Runtime runtime(machine.topology(), options);
    const Storage storage(runtime, {.size = 1000, .routes = mask_of(RouteKind::host_bounce)});
    storage.buffer().acquire(1, Access::discard_write).release();
    storage.buffer().prefetch(2); // to the host, then to place 2
    REQUIRE(runtime.finish(patience));
    CHECK(after == std::vector<size_t>{0, 1});
    for (const pi_result result : {PI_SUCCESS, PI_ERROR_BACKEND}) {
        after.clear();
        Event gate;
        check(piEventCreateHost(machine.topology()->context(1), nullptr, gate.out()),
              "piEventCreateHost");
        storage.buffer().acquire(1, Access::read).release(gate.get());
        const std::vector<uint8_t> bytes = pattern(1000, static_cast<uint32_t>(-result));
        host_write(storage.buffer(), 0, bytes);
        storage.buffer().prefetch(1); // overwrites bytes that are being read there
        check(piEventSignalHost(gate.get(), result), "piEventSignalHost");
        CHECK(device_read(machine, storage.buffer(), 1) == bytes);
        REQUIRE(runtime.finish(patience));
        CHECK(after == std::vector<size_t>{result == PI_SUCCESS ? size_t{1} : 0});
    }
    CHECK(storage.counters().failed_attempts == 0);
}

TEST_CASE("a staged bounce of 64 MiB has nine tenths of the slower link's rate", "[runtime][sim]") {
    for (const char *name : {"workstation", "bounce-faster", "dual-socket", "switch-8gpu"}) {
        INFO(name);
        const MachineFile file(shipped_machine(name), 1);
        const TimedMachine simulation(shipped_machine(name));
        const Storage storage = simulation.staged(64 * MiB, 1);
        const double seconds = simulation.read_seconds(storage, 2);
        const double slower =
            std::max(file.link(1, 0)->seconds_a_byte, file.link(0, 2)->seconds_a_byte);
        CHECK(64 * MiB * slower / seconds >= 0.9);
        CHECK(simulation.link_bytes(1, 0) == 64 * MiB);
        CHECK(simulation.link_bytes(0, 2) == 64 * MiB);
    }
}

TEST_CASE("over several devices a transfer takes as long as predicted", "[runtime][sim]") {
    const TextFile machine(chain_of_devices());
    const MachineFile file(machine.path(), 1);
    const TimedMachine simulation(machine.path());
    for (PlaceIndex from = 0; from < simulation.places(); ++from) {
        for (PlaceIndex to = 0; to < simulation.places(); ++to) {
            for (const uint64_t size : {4 * KiB, 1 * MiB, 30 * MiB}) {
                if (from == to) {
                    continue;
                }
                const Storage storage = simulation.storage(size, from);
                const Candidate chosen = TimedMachine::chosen(storage, to);
                INFO(from << " to " << to << ", " << size << " bytes: " << chosen.reason);
                CHECK(chosen.seconds == Approx(file.cheapest(from, to, size)).epsilon(1e-6));
                check_within_5_percent(simulation.read_seconds(storage, to), chosen.seconds);
                for (const Hop &hop : chosen.route.hops) {
                    CHECK(simulation.link_bytes(hop.from, hop.to) == size);
                }
            }
        }
    }
    const Candidate longest = TimedMachine::chosen(simulation.storage(30 * MiB, 1), 4);
    CHECK(longest.route.hops == std::vector<Hop>{{1, 2}, {2, 3}, {3, 4}});
    const Candidate from_host = TimedMachine::chosen(simulation.storage(30 * MiB, host_place), 3);
    CHECK(from_host.route.hops == std::vector<Hop>{{host_place, 1}, {1, 2}, {2, 3}});
}

TEST_CASE("where direct copies are slower than the bounce, the bounce is used", "[runtime][sim]") {
    const TimedMachine simulation(shipped_machine("bounce-faster"));
    const Storage storage = simulation.storage(64 * MiB, 1);
    const Candidate chosen = TimedMachine::chosen(storage, 2);
    CHECK(chosen.route.kind == RouteKind::host_bounce);
    CHECK(chosen.route.hops == std::vector<Hop>{{1, host_place}, {host_place, 2}});
    CHECK(simulation.read_seconds(storage, 2) < 64e6 / 9.9e9);
    CHECK(simulation.link_bytes(1, 2) == 0);
}

TEST_CASE("a shuffled table of costs changes the routes that are taken", "[runtime][sim]") {
    std::mt19937 random(1);
    for (const char *name : {"bounce-faster", "workstation", "switch-8gpu"}) {
        const TimedMachine estimated(shipped_machine(name));
        const auto before = TimedMachine::chosen(estimated.storage(1 * MiB, 1), 2).route.hops;
        uint32_t changed = 0;
        for (int round = 0; round < 20; ++round) {
            // Each link gets the costs of another one, up to a hundred times slower.
            CostTable costs = CostTable::estimate(estimated.topology());
            std::vector<Hop> links;
            for (PlaceIndex from = 0; from < costs.places(); ++from) {
                for (PlaceIndex to = 0; to < costs.places(); ++to) {
                    if (costs.linked(from, to)) {
                        links.push_back({from, to});
                    }
                }
            }
            std::vector<Hop> shuffled = links;
            std::shuffle(shuffled.begin(), shuffled.end(), random);
            const CostTable original = costs;
            for (size_t index = 0; index < links.size(); ++index) {
                LinkCost cost = original.link(shuffled[index].from, shuffled[index].to)[0];
                cost.bandwidth /= std::uniform_real_distribution<>(1, 100)(random);
                costs.set(links[index].from, links[index].to, cost);
            }
            const TimedMachine simulation(shipped_machine(name), 1, costs);
            const Storage storage = simulation.storage(1 * MiB, 1);
            const auto way = TimedMachine::chosen(storage, 2).route.hops;
            changed += way != before;
            simulation.read_seconds(storage, 2);
            for (PlaceIndex from = 0; from < simulation.places(); ++from) {
                for (PlaceIndex to = 0; to < simulation.places(); ++to) {
                    const bool on_the_way =
                        std::find(way.begin(), way.end(), Hop{from, to}) != way.end();
                    // A link without a bandwidth of its own goes over the host, whatever the table
                    // says.
                    if (from != to && std::string(name) != "workstation") {
                        INFO(name << ": " << from << " to " << to);
                        CHECK(simulation.link_bytes(from, to) == (on_the_way ? 1 * MiB : 0));
                    }
                }
            }
        }
        INFO(name);
        CHECK(changed > 0);
    }
}
