// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One scenario, run again and again with a fault at every call in turn that it makes of a plugin. The
// runtime may answer with an error; it may not lose a byte, or wait for ever.
#include "byte_model.hpp"
#include "equipment.hpp"
#include "soak.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <ranges>
#include <set>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 3000;
/// Smaller than the default's smallest: so a transfer over several links has several pieces under way.
constexpr uint64_t piece = 512;
/// Faults of other kinds, for each choice of ways; and of how many calls in a row one just fails: sanitizers take long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr size_t sample = 20;
constexpr unsigned stride = 5;
#else
constexpr size_t sample = 80;
constexpr unsigned stride = 1;
#endif

/// What the scenario may use, and what the plugins say of it.
struct Ways {
    RouteMask routes;
    StyleMask styles;
    bool in_pieces;                  ///< between devices, whatever they are
    bool stays_at_host;              ///< what goes over the host between devices
    std::vector<uint32_t> may_share; ///< by place, as pi_test::ByteModel takes it
};

template <class Value>
Value device_info(pi_device device, pi_device_info name) {
    Value value{};
    return piDeviceGetInfo(device, name, sizeof value, &value, nullptr) == PI_SUCCESS ? value
                                                                                      : Value{};
}

/// May a place use the memory of another? The host's: if it shares the physical memory and takes its pointers.
bool may_use(const Topology &topology, PlaceIndex place, PlaceIndex owner, RouteMask routes) {
    if (place == host_place) {
        return false;
    }
    const pi_device device = topology.device(place);
    if (owner == host_place) {
        return (routes & mask_of(RouteKind::import)) != 0 &&
               device_info<uint32_t>(device, PI_DEVICE_INFO_INTEGRATED) != 0 &&
               device_info<uint32_t>(device, PI_DEVICE_INFO_HOST_POINTER_IMPORT) != 0;
    }
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    return (routes & mask_of(RouteKind::direct_use)) != 0 &&
           piGetMemoryConnection(topology.device(owner), topology.context(owner), device,
                                 topology.context(place), &connection) == PI_SUCCESS &&
           connection == PI_MEMORY_CONNECTION_UNIFIED;
}

/// With what each place may share memory, over others too.
std::vector<uint32_t> find_may_share(const Topology &topology, RouteMask routes) {
    std::vector<uint32_t> groups(topology.size());
    for (PlaceIndex place = 0; place < topology.size(); ++place) {
        groups[place] = 1U << place;
    }
    for (PlaceIndex place = 0; place < topology.size(); ++place) {
        for (PlaceIndex owner = 0; owner < topology.size(); ++owner) {
            if (place != owner && may_use(topology, place, owner, routes)) {
                const uint32_t joined = groups[place] | groups[owner];
                for (PlaceIndex one = 0; one < topology.size(); ++one) {
                    groups[one] = (joined >> one & 1) != 0 ? joined : groups[one];
                }
            }
        }
    }
    return groups;
}

/// Copies between devices go over the host where they may: in pieces, through its staging memory.
RuntimeOptions options_for(const Topology &topology, bool stays_at_host) {
    CostModel model;
    model.callback_latency = 0;
    model.smallest_chunk = model.largest_chunk = piece;
    RuntimeOptions options;
    options.costs = CostTable::estimate(topology.description(), model);
    if (!stays_at_host) {
        options.bounce_limit = 0;
    }
    options.pool_limit = 0;
    return options;
}

class Scenario {
public:
    Scenario(const Machine &machine, const Ways &ways)
        : machine_(machine),
          runtime_(machine.topology(), options_for(*machine.topology(), ways.stays_at_host)),
          storage_(runtime_, {.size = size, .routes = ways.routes, .styles = ways.styles}),
          model_(size, ways.may_share) {}

    /// The same steps each time, whatever fails.
    void run() {
        std::mt19937 random(20261120);
        write(host_place, {0, size}, 0);
        const uint32_t places = machine_.topology()->size();
        write(places - 1, {1, size}, 1); // then all of it moves between devices
        read(1, {0, size});
        for (int step = 0; step < 24; ++step) {
            const auto place = static_cast<PlaceIndex>(random() % places);
            const uint64_t begin = random() % size;
            const uint64_t length = 1 + random() % (size - begin);
            const auto value = static_cast<uint8_t>(random());
            const Range range{begin, begin + length};
            switch (random() % 5) {
            case 0:
            case 1:
                write(place, range, value);
                break;
            case 2:
            case 3:
                read(place, range);
                break;
            default:
                broadcast(range);
                read(place, range);
            }
        }
        REQUIRE(runtime_.finish(patience));
        check_all();
    }

    std::vector<TransferRecord> log() const { return runtime_.log(); }
    uint64_t known() const { return model_.known(); }

private:
    void write(PlaceIndex place, const Range &range, uint8_t value) {
        bool may_have_run = false;
        pi_result result = PI_SUCCESS;
        try {
            Acquisition use =
                storage_.buffer().acquire(place, Access::discard_write, range.begin, range.size());
            if (place == host_place) {
                std::byte *const bytes = use.pointer();
                may_have_run = true;
                std::fill_n(reinterpret_cast<uint8_t *>(bytes), range.size(), value);
                use.release();
            } else {
                const Event filled = machine_.fill(use, value);
                result = wait(filled);
                may_have_run = result != PI_ERROR_DEPENDENCY_FAILED;
                use.release(filled.get());
            }
        } catch (const Error &error) {
            result = error.code();
        }
        REQUIRE(result != PI_ERROR_TIMEOUT);
        REQUIRE(storage_.finish(patience)); // then it is clear what is where
        if (result == PI_SUCCESS) {
            model_.write(place, range, std::vector<uint8_t>(range.size(), value));
        } else {
            model_.fail_write(place, range, may_have_run);
        }
    }

    /// Whether it succeeds, those who read find out.
    void broadcast(const Range &range) {
        const std::vector<PlaceIndex> places = machine_.places();
        try {
            storage_.buffer().broadcast(places, range.begin, range.size());
        } catch (const Error &error) {
            REQUIRE(error.code() != PI_ERROR_TIMEOUT);
        }
        REQUIRE(storage_.finish(patience));
    }

    void read(PlaceIndex place, const Range &range) {
        std::vector<uint8_t> seen(range.size());
        pi_result result = PI_SUCCESS;
        try {
            Acquisition use =
                storage_.buffer().acquire(place, Access::read, range.begin, range.size());
            if (place == host_place) {
                use.wait(patience);
                std::copy_n(reinterpret_cast<const uint8_t *>(use.pointer()), range.size(),
                            seen.begin());
                use.release();
            } else {
                const Event done = machine_.read(use, seen.data());
                result = wait(done);
                use.release(done.get());
            }
        } catch (const Error &error) {
            result = error.code();
        }
        REQUIRE(result != PI_ERROR_TIMEOUT);
        if (result == PI_SUCCESS) {
            REQUIRE(model_.compare(range, seen) == "");
            model_.read(place, range);
        }
    }

    /// Every byte can be read, at the latest the second time: one call in all fails.
    void check_all() {
        std::vector<uint8_t> seen;
        try {
            seen = host_read(storage_.buffer());
        } catch (const Error &) {
            seen = host_read(storage_.buffer());
        }
        REQUIRE(runtime_.finish(patience)); // before the loader goes
        CHECK(storage_.lost().empty());
        REQUIRE(model_.compare({0, size}, seen) == "");
    }

    const Machine &machine_;
    Runtime runtime_;
    Storage storage_;
    pi_test::ByteModel model_;
};

/// Functions that no fault is planted at, and why.
struct Exception {
    const char *ending; ///< of the name
    const char *reason;
};
constexpr Exception exceptions[] = {
    {"Release", "nobody is told: what is not given back stays, and each time the loader waits a "
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

/// A call that the scenario makes.
struct Call {
    std::string function;
    uint64_t number;
};

/// A loader whose layer counts calls, and does nothing to them.
constexpr const char *no_fault = "piQueueFinish:1000000=fail(BACKEND)";

/// All calls behind the setup, of whatever plugin, in a run without a fault.
std::vector<Call> find_calls(const Ways &ways) {
    const Machine machine(2, no_fault);
    const auto before = machine.calls();
    Scenario scenario(machine, ways);
    scenario.run();
    CHECK(scenario.known() == size);
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

/// False if the fault hits what the test itself sets up, or nothing: threads may make fewer calls.
bool run_with(const Call &call, const std::string &what, const Ways &ways) {
    const std::string fault = call.function + ":" + std::to_string(call.number) + "=" + what;
    INFO(fault);
    std::unique_ptr<Machine> machine;
    try {
        machine = std::make_unique<Machine>(2, fault);
    } catch (const Error &) {
        return false;
    }
    std::unique_ptr<Scenario> scenario;
    try {
        scenario = std::make_unique<Scenario>(*machine, ways);
    } catch (const Error &) {
        return true; // no runtime, and no bytes that it could lose
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

/// What may happen to a call beside failing.
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

// What is sampled: each call fails with BACKEND once, and each command's event (with sanitizers one call in five, and
// where drivers of several vendors make many places one in three of those, from one that the seed says); of the other faults at all calls (other errors, half of the bytes, delays) a number is drawn
// by the seed. With --soak all are taken.
TEST_CASE("a fault at any call loses no byte and holds nobody up", "[runtime]") {
    const Ways ways = draw_ways();
    const unsigned seed = Catch::rngSeed() != 0 ? Catch::rngSeed() : std::random_device()();
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
    CHECK(hits > 100 / step); // the law was put to the test
    std::shuffle(others.begin(), others.end(), std::mt19937(seed));
    if (!all) {
        others.resize(std::min(others.size(), sample));
    }
    for (const auto &[call, what] : others) {
        run_with(call, what, ways);
    }
}
