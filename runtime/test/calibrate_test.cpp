// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"
#include "temporary.hpp"

#include <pi/runtime/calibrate.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace runtime_test;
using Catch::Matchers::Contains;
using pi_test::TemporaryFile;

namespace {

std::string replaced(std::string text, const std::string &what, const std::string &by) {
    const size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

} // namespace

TEST_CASE("two points of a class give its latency and bandwidth, and noise neither below zero",
          "[runtime]") {
    const LinkCost line = fit(1000, 3, 5000, 7); // 2 s plus 1 ms per byte
    CHECK(line.latency == Approx(2));
    CHECK(line.bandwidth == Approx(1000));
    CHECK(fit(1000, 1, 5000, 5).latency == Approx(0).margin(1e-12));
    CHECK(fit(1000, 1, 5000, 6).latency == 0); // the fitted value would be negative
    CHECK(fit(1000, 1, 5000, 6).bandwidth == Approx(5000.0 / 6));
    const LinkCost faster =
        fit(1000, 9, 5000, 2); // the larger copy was faster: the whole time is overhead
    CHECK(faster.seconds(1) == Approx(2));
    CHECK(faster.seconds(5000) == Approx(2));
    // A transfer of 64 MiB takes 20 ms at any size.
    CHECK(LinkCost{20e-3, 1e15}.large_bandwidth() == Approx((64 << 20) / 20e-3).epsilon(1e-3));
    CHECK(fit(1000, 0, 1000, 0).bandwidth > 0);
}

TEST_CASE("a link's figures are of its own direction", "[runtime]") {
    constexpr double delay = 0.03; // seconds
    const Machine machine(1, "piEnqueueMemBufferWrite:1..100000=delay(30ms)");
    CalibrateOptions options;
    options.repetitions = 1;
    options.largest_bytes = size_class_limits[0];
    const Calibration measured = calibrate(machine.topology(), options);
    CHECK(measured.failures.empty());
    std::map<PlaceIndex, double> least_of_reads;
    for (const LinkMeasurement &each : measured.measurements) {
        if (each.from == host_place) {
            CHECK(each.seconds >= delay);
        } else if (each.to == host_place) {
            double &least = least_of_reads.try_emplace(each.from, each.seconds).first->second;
            least = std::min(least, each.seconds);
        }
    }
    CHECK(least_of_reads.size() == machine.places().size());
    for (const auto &[place, seconds] : least_of_reads) {
        INFO("from place " << place);
        CHECK(seconds < delay);
    }
}

TEST_CASE("every link is measured, and the figures survive their file", "[runtime]") {
    const Machine machine;
    CalibrateOptions options;
    options.repetitions = 1;
    options.largest_bytes = 1 << 20;
    const Calibration measured = calibrate(machine.topology(), options);
    CHECK(measured.failures.empty());
    const TopologyDescription &topology = machine.topology()->description();
    const CostTable estimated = CostTable::estimate(topology);
    uint64_t links = 0;
    for (PlaceIndex from = 0; from < topology.places.size(); ++from) {
        for (PlaceIndex to = 0; to < topology.places.size(); ++to) {
            CHECK(measured.costs.linked(from, to) == estimated.linked(from, to));
            links += estimated.linked(from, to);
        }
    }
    CHECK(measured.measurements.size() == links * 2 * size_class_limits.size());
    for (const LinkMeasurement &each : measured.measurements) {
        CHECK(each.seconds > 0);
        CHECK(each.bytes <= options.largest_bytes);
    }

    const TemporaryFile file;
    save_costs(measured.costs, topology, file.path());
    const LoadedCosts loaded = load_costs(file.path(), topology);
    INFO(loaded.message);
    REQUIRE(loaded.costs);
    CHECK(loaded.message.empty());
    for (PlaceIndex device : machine.places()) {
        for (size_t index = 0; index < size_class_limits.size(); ++index) {
            const auto known = [&](PlaceIndex from, PlaceIndex to) {
                return loaded.costs->link(from, to)[index];
            };
            // Two contexts on one device share a link: the first context's costs apply.
            const auto first = static_cast<PlaceIndex>(1 + (device - 1) % machine.devices().size());
            CHECK(known(device, host_place) == measured.costs.link(first, host_place)[index]);
            CHECK(known(host_place, device) == measured.costs.link(host_place, first)[index]);
        }
    }
    RuntimeOptions with_costs;
    with_costs.costs = loaded.costs;
    const Runtime runtime(machine.topology(), with_costs);
    const Storage storage(runtime, {.size = 1000});
    host_write(storage.buffer(), 0, pattern(1000, 1));
    CHECK(host_read(storage.buffer()) == pattern(1000, 1));
}

TEST_CASE("costs of another machine are not used, with a message", "[runtime]") {
    TopologyDescription here = unconnected_places(2);
    here.places[1].key = "a:device";
    here.places[2].key = "b:device";
    const TemporaryFile file;
    save_costs(CostTable::estimate(here), here, file.path());
    CHECK(load_costs(file.path(), here).costs);
    TopologyDescription there = here;
    there.places[2].key = "c:device";
    const LoadedCosts refused = load_costs(file.path(), there);
    CHECK_FALSE(refused.costs);
    CHECK_THAT(refused.message, Contains("another machine") && Contains("c:device"));
    // The costs also apply to a machine with fewer devices.
    there = unconnected_places(1);
    there.places[1].key = "b:device";
    CHECK(load_costs(file.path(), there).costs);
}

TEST_CASE("a broken file of costs is not used, and the message names the error", "[runtime]") {
    TopologyDescription here = unconnected_places(1);
    here.places[1].key = "a:device";
    const TemporaryFile file;
    save_costs(CostTable::estimate(here), here, file.path());
    const std::string good = file.text();
    const auto message = [&](const std::string &text) {
        file.write(text);
        const LoadedCosts loaded = load_costs(file.path(), here);
        CHECK_FALSE(loaded.costs);
        CHECK_THAT(loaded.message, Contains(file.path()) && Contains("not used"));
        return loaded.message;
    };
    CHECK_THAT(message(""), Contains("parse error"));
    CHECK_THAT(message(good.substr(0, good.size() / 2)), Contains("line"));
    CHECK_THAT(message("[]"), Contains("type"));
    CHECK_THAT(message(replaced(good, "pi costs", "other")), Contains("format"));
    CHECK_THAT(message(replaced(good, "\"version\": 1", "\"version\": 2")), Contains("version"));
    CHECK_THAT(message(replaced(good, "65536", "65537")),
               Contains("class of sizes") && Contains("a:device -> host"));
    CHECK_THAT(message(replaced(good, "\"bandwidth\": ", "\"bandwidth\": -")),
               Contains("bandwidth is -"));
    CHECK_THAT(message(replaced(good, "\"latency\"", "\"delay\"")), Contains("latency"));
    CHECK_THAT(load_costs("/nowhere/costs.json", here).message, Contains("cannot be read"));
    CHECK(code_of([&] { save_costs(CostTable(2), here, "/nowhere/costs.json"); }) ==
          PI_ERROR_INVALID_VALUE);
}

TEST_CASE("links that a file leaves out are estimated, and named", "[runtime]") {
    TopologyDescription here = unconnected_places(2);
    const TemporaryFile file;
    CostTable few(3);
    few.set(1, host_place, {1, 1});
    save_costs(few, here, file.path());
    const LoadedCosts loaded = load_costs(file.path(), here);
    REQUIRE(loaded.costs);
    CHECK(loaded.costs->link(1, host_place)[0] == LinkCost{1, 1});
    CHECK(loaded.costs->link(2, host_place) == CostTable::estimate(here).link(2, host_place));
    CHECK_THAT(loaded.message, Contains("place 2 -> host") && Contains("estimated"));
}

TEST_CASE("a device has the same key in each of its contexts, and no two devices share one",
          "[runtime]") {
    const Machine machine;
    const TopologyDescription &topology = machine.topology()->description();
    for (PlaceIndex a : machine.places()) {
        for (PlaceIndex b : machine.places()) {
            const bool same = machine.topology()->device(a) == machine.topology()->device(b);
            CHECK((topology.place(a).key == topology.place(b).key) == same);
        }
    }
}
