// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one scenario repeatedly, each time with a fault at another of its plugin calls. The runtime
// may report an error; it must not lose a byte or hang.
#include "scenario.hpp"
#include "soak.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <ranges>
#include <set>

using namespace runtime_test;

namespace {

/// Number of faults of other kinds for each choice of routes, and sampling step of the calls that
/// simply fail: sanitizers are slow.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr size_t sample = 20;
constexpr unsigned stride = 5;
#else
constexpr size_t sample = 80;
constexpr unsigned stride = 1;
#endif

/// Functions without injected faults, and the reason.
struct Exception {
    const char *ending; ///< suffix of the name
    const char *reason;
};
constexpr Exception exceptions[] = {
    {"Release",
     "no error is reported: what is not released stays, and each time the loader waits a "
     "second for it"},
    {"piEventSignalHost", "of a host event that is not signalled it cannot fail; its waiters would "
                          "wait for ever, as they must"},
    {"piEventWait", "the test's own, which then does not know whether its command is over"},
};

bool is_command(const std::string &function) {
    return function.starts_with("piEnqueue");
}
bool is_excepted(const std::string &function) {
    return std::any_of(std::begin(exceptions), std::end(exceptions),
                       [&](const Exception &one) { return function.ends_with(one.ending); });
}

/// A plugin call of the scenario.
struct Call {
    std::string function;
    uint64_t number;
};

/// The layer `fault` only counts calls.
constexpr const char *no_fault = "piQueueFinish:1000000=fail(BACKEND)";

/// All calls after the setup, to any plugin, in a run without faults.
std::vector<Call> find_calls(const Ways &ways) {
    const Machine machine(2, no_fault);
    const auto before = machine.calls();
    Scenario<Machine> scenario(machine, ways);
    scenario.run();
    CHECK(scenario.known() == scenario_size);
    const auto log = scenario.log();
    CHECK((!ways.in_pieces || std::any_of(log.begin(), log.end(), [](const TransferRecord &record) {
        return record.pieces > 4;
    })));
    const Topology &topology = *machine.topology();
    const bool over_host = std::any_of(log.begin(), log.end(), [](const TransferRecord &record) {
        return record.reason.find("and stays there") != std::string::npos &&
               record.reason.find("not kept there") == std::string::npos;
    });
    const std::vector<PlaceIndex> places = machine.places();
    const bool all_discrete = std::none_of(places.begin(), places.end(), [&](PlaceIndex place) {
        return topology.info(place).shares_host_memory();
    });
    CHECK((ways.stays_at_host || !over_host));
    CHECK((over_host || !(ways.stays_at_host && ways.in_pieces && all_discrete)));
    const auto after = machine.calls();
    std::set<std::pair<std::string, uint64_t>> found;
    for (size_t plugin = 0; plugin < after.size(); ++plugin) {
        for (const auto &[function, count] : after[plugin]) {
            for (uint64_t call = before[plugin].at(function) + 1; call <= count; ++call) {
                found.emplace(function, call);
            }
        }
    }
    std::vector<Call> calls;
    for (const auto &[function, number] : found) {
        if (!is_excepted(function)) {
            calls.push_back({function, number});
        }
    }
    return calls;
}

/// Returns false if the fault hits the test's own setup or is not reached: thread timing may lead
/// to fewer calls.
bool run_with(const Call &call, const std::string &what, const Ways &ways) {
    const std::string fault = call.function + ":" + std::to_string(call.number) + "=" + what;
    INFO(fault);
    std::unique_ptr<Machine> machine;
    try {
        machine = std::make_unique<Machine>(2, fault);
    } catch (const Error &) {
        return false;
    }
    std::unique_ptr<Scenario<Machine>> scenario;
    try {
        scenario = std::make_unique<Scenario<Machine>>(*machine, ways);
    } catch (const Error &) {
        return true; // no runtime, so no bytes to lose
    }
    scenario->run();
    return machine->calls_of(call.function) >= call.number;
}

Ways draw_ways() {
    constexpr RouteMask bounce = mask_of(RouteKind::host_bounce);
    constexpr RouteMask copies = bounce | mask_of(RouteKind::migrate);
    constexpr StyleMask staged =
        mask_of(BounceStyle::staged) | mask_of(BounceStyle::read) | mask_of(BounceStyle::write);
    Ways ways = GENERATE(values<Ways>({{copies, all_styles, false, false, {}},
                                       {bounce, all_styles, false, false, {}},
                                       {bounce, staged, true, false, {}},
                                       {bounce, staged, true, true, {}},
                                       {all_routes, all_styles, false, true, {}}}));
    ways.may_share = find_may_share(*Machine(2).topology(), ways.routes);
    return ways;
}

/// Other faults of a call.
std::vector<std::string> other_faults(const std::string &function) {
    std::vector<std::string> faults{"fail(DEVICE_LOST)", "fail(OUT_OF_DEVICE_MEMORY)",
                                    "delay(1ms)"};
    if (is_command(function)) {
        faults.insert(faults.end(),
                      {"fail_event(DEVICE_LOST)", "fail_event(OUT_OF_DEVICE_MEMORY)"});
    }
    static constexpr const char *moving[] = {"piEnqueueMemBufferRead", "piEnqueueMemBufferWrite",
                                             "piEnqueueMemBufferCopy", "piEnqueueMemBufferFill"};
    if (std::find(std::begin(moving), std::end(moving), function) != std::end(moving)) {
        faults.insert(faults.end(), {"short", "short(DEVICE_LOST)"});
    }
    return faults;
}

} // namespace

// Sampling: each call fails with BACKEND once, and so does each command's event. With sanitizers it
// is one call in five, or one in three if drivers of several vendors make many places; the seed
// selects the first. Of the other faults (other errors, half of the bytes, delays) at all calls the
// seed draws a number. --soak runs all.
TEST_CASE("a fault at any call loses no byte and blocks no caller", "[runtime]") {
    const Ways ways = draw_ways();
    const unsigned seed = Catch::rngSeed();
    INFO("--rng-seed " << seed << ", routes " << ways.routes << ", styles " << ways.styles);
    const bool all = pi_test::soak_time().count() != 0;
    const unsigned step = Machine(2).topology()->size() > 7 ? 3 * stride : stride;
    uint64_t hits = 0;
    unsigned index = seed;
    std::vector<std::pair<Call, std::string>> others;
    for (const Call &call : find_calls(ways)) {
        if (all || ++index % step == 0) {
            hits += run_with(call, "fail(BACKEND)", ways);
            if (is_command(call.function)) {
                hits += run_with(call, "fail_event(BACKEND)", ways);
            }
        }
        for (const std::string &what : other_faults(call.function)) {
            others.emplace_back(call, what);
        }
    }
    CHECK(hits > 100 / step); // enough calls were hit
    std::shuffle(others.begin(), others.end(), std::mt19937(seed));
    if (!all) {
        others.resize(std::min(others.size(), sample));
    }
    for (const auto &[call, what] : others) {
        run_with(call, what, ways);
    }
}
