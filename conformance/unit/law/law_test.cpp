// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The law of the runtime: whatever a program does, each byte is what an array of bytes would hold, and no byte moves
// that need not. Programs are random, on random machines; one that breaks the law is shrunk to the shortest that does.
#include "program.hpp"
#include "soak.hpp"
#include "text_file.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <random>
#include <thread>

namespace rc {
template <>
struct Arbitrary<law_test::Step> {
    static Gen<law_test::Step> arbitrary() {
        using law_test::Step;
        // Of all sizes from the first program on: the length alone grows.
        return gen::build<Step>(gen::set(
            &Step::numbers, gen::resize(kNominalSize, gen::arbitrary<decltype(Step::numbers)>())));
    }
};
} // namespace rc

namespace {

using namespace law_test;

/// A round has as many programs in every build, up to this length: so a seed is the same programs everywhere.
constexpr int programs = 10;
constexpr int longest = 3000;
constexpr std::chrono::seconds shrink_time{60};
/// Without --soak. Sanitizers take many times as long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 1;
#else
constexpr int rounds = 4;
#endif

std::string numbers(const Demand &demand) {
    return std::to_string(demand.bytes) + " bytes, " + std::to_string(demand.command_bytes) +
           " with all hops, " + std::to_string(demand.link_bytes) + " over links";
}

/// What the plugins moved is what the models say, and the runtime knows it.
void check_demand(const Demand &demand, const LiveMachine &machine, const Runtime &runtime,
                  bool exact) {
    const Counters counters = runtime.counters();
    const auto compare = [&](const char *what, uint64_t found, uint64_t expected) {
        if (found != expected) {
            throw Failure{std::string(what) + " are " + std::to_string(found) + ", not " +
                          std::to_string(expected) + " (" + numbers(demand) + ")"};
        }
    };
    if (!demand.any_link && exact) {
        compare("bytes over links", machine.link_bytes(), demand.link_bytes);
    }
    compare("the runtime's bytes required", counters.bytes_required, demand.bytes);
    compare("the runtime's bytes delivered", counters.bytes_delivered, demand.bytes);
}

void finish(const Runtime &runtime) {
    if (!runtime.finish(patience)) {
        throw Failure{"the runtime is never finished"};
    }
}

/// Nothing if a fault hits what the test itself sets up.
template <class Thing, class... Arguments>
std::unique_ptr<Thing> set_up(Trouble trouble, Arguments &&...arguments) {
    try {
        return std::make_unique<Thing>(std::forward<Arguments>(arguments)...);
    } catch (const Error &) {
        if (trouble != Trouble::faults) {
            throw;
        }
        return nullptr;
    }
}

void tell(const Area &area, std::string &text) {
    text += "\n  storage " + area.name + " of " + std::to_string(area.range.size()) +
            " bytes, routes " + std::to_string(area.routes) +
            (area.host_memory ? ", of the application's memory" : "");
}

/// One program, on one thread. Throws Failure; `text` is what was done until then.
void run_program(Draw &shape, const std::vector<Step> &steps, Trouble trouble, std::string &text) {
    const uint64_t largest = shape(0, 3) == 0 ? 64 : 16384;
    const uint64_t storages = 1 + shape(0, 2);
    const bool patient = shape.coin();
    // Room for one storage at least; for all of them at most.
    const uint64_t capacity = largest + 8192 + shape(0, storages * largest);
    const bool own_costs = shape.coin();
    const MachineFile file = MachineFile::draw(shape, trouble, capacity);
    text = "on " + file.words() + (patient ? ", each step waited for" : "");
    const pi_test::TextFile trace;
    Demand demand;
    bool exact = false;
    {
        const auto set =
            set_up<LiveMachine>(trouble, file, trouble == Trouble::none ? trace.path() : "");
        if (!set) {
            return;
        }
        const LiveMachine &machine = *set;
        RuntimeOptions options;
        options.pool_limit = trouble == Trouble::none ? uint64_t{1} << 30 : 0;
        if (trouble == Trouble::none) {
            options.bounce_limit = 0; // the models know who asked for bytes, not where they came by
        }
        if (own_costs || trouble == Trouble::none) {
            options.costs = file.costs();
        }
        Runtime runtime(machine.topology(), options);
        const Setting setting{file,    machine, runtime, trouble, trouble != Trouble::none,
                              largest, 1,       true};
        std::vector<std::shared_ptr<Area>> areas;
        for (uint64_t index = 0; index < storages; ++index) {
            areas.push_back(
                make_area(setting, shape, std::string(1, static_cast<char>('a' + index))));
            tell(*areas.back(), text);
        }
        const auto set_actor = set_up<Actor>(trouble, setting, std::move(areas), patient);
        if (!set_actor) {
            return;
        }
        Actor &actor = *set_actor;
        const std::string begin = text;
        try {
            for (std::size_t index = 0; index < steps.size(); ++index) {
                actor.step(Draw(steps[index]), index + 1);
            }
            actor.settle();
            finish(runtime);
            actor.check_all();
            finish(runtime);
        } catch (...) {
            text = begin + actor.text();
            throw;
        }
        text = begin + actor.text();
        // While copies are under way, a source that is busy may cost more than one that is farther; and the models
        // do not know in which way bytes come to a device that imports the host's memory.
        exact = trouble == Trouble::none && patient && !file.any_imports();
        if (trouble == Trouble::none) {
            demand = actor.demand();
            for (const auto &area : actor.areas()) {
                demand += area->demand;
            }
            check_demand(demand, machine, runtime, exact);
        }
    }
    const uint64_t traced = exact ? traced_bytes(trace.path()) : 0;
    if (exact && traced != demand.command_bytes) {
        throw Failure{"the trace has " + std::to_string(traced) +
                      " bytes of reads, writes and copies, not " +
                      std::to_string(demand.command_bytes)};
    }
}

constexpr uint64_t thread_count = 3;

/// The areas of each thread: a storage of its own, a slice of one that all share, and what all read of it.
std::vector<std::vector<std::shared_ptr<Area>>> share(const Setting &setting, Draw &shape,
                                                      std::string &text) {
    const auto shared = make_area(setting, shape, "shared");
    const uint64_t part = shared->range.size() / (thread_count + 1) / 64 * 64; // whole flush atoms
    const auto slice = [&](uint64_t index) {
        auto area =
            std::shared_ptr<Area>(new Area{"slice " + std::to_string(index),
                                           shared->storage,
                                           {index * part, (index + 1) * part},
                                           false,
                                           shared->memories,
                                           shared->routes,
                                           shared->host_memory,
                                           shared->contents,
                                           {},
                                           Validity(setting.file, shared->routes, shared->range.end,
                                                    shared->host_memory != nullptr),
                                           {}});
        return area;
    };
    const auto common = slice(thread_count);
    common->read_only = true;
    const std::vector<uint8_t> bytes(part, 200);
    Acquisition first = common->storage.buffer().acquire(host_place, Access::discard_write,
                                                         common->range.begin, part);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t *>(first.pointer()));
    first.release();
    common->contents.write(host_place, common->range, bytes);
    tell(*shared, text);
    std::vector<std::vector<std::shared_ptr<Area>>> areas;
    for (uint64_t index = 0; index < thread_count; ++index) {
        const auto own = make_area(setting, shape, "own " + std::to_string(index));
        tell(*own, text);
        areas.push_back({own, slice(index), common});
    }
    return areas;
}

/// Programs beside each other, on one storage too. Only their bytes are checked: which memory places share, and so
/// what must move, depends on who comes first.
void run_threads(Draw &shape, const std::vector<Step> &steps, std::string &text) {
    constexpr uint64_t largest = 8192;
    const Trouble trouble = shape.coin() ? Trouble::pressure : Trouble::none;
    const MachineFile file = MachineFile::draw(shape, trouble, 2 * largest + shape(0, 2 * largest));
    text = "on " + file.words() + ", with " + std::to_string(thread_count) + " threads";
    const LiveMachine machine(file, "");
    RuntimeOptions options;
    options.pool_limit = shape.coin() ? 0 : largest;
    Runtime runtime(machine.topology(), options);
    const Setting setting{file, machine, runtime, trouble, true, largest, 256, false};
    std::deque<Actor> actors;
    for (auto &areas : share(setting, shape, text)) {
        actors.emplace_back(setting, std::move(areas), false);
    }
    std::vector<std::string> failures(thread_count);
    std::vector<std::thread> threads;
    for (uint64_t index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            try {
                for (std::size_t step = index; step < steps.size(); step += thread_count) {
                    actors[index].step(Draw(steps[step]), step + 1);
                }
                actors[index].settle();
            } catch (const Failure &failure) {
                failures[index] = failure.text;
            } catch (const Error &error) {
                failures[index] = error.what();
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    std::string all;
    for (uint64_t index = 0; index < thread_count; ++index) {
        text += "\n thread " + std::to_string(index) + actors[index].text();
        all += failures[index];
    }
    if (!all.empty()) {
        throw Failure{all};
    }
    finish(runtime);
    for (Actor &actor : actors) {
        actor.check_all();
    }
    finish(runtime);
}

/// Shrinking took long enough.
struct ShortEnough {};

class Silent final : public rc::detail::TestListener {
public:
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> shrinking_until;

private:
    void onTestCaseFinished(const rc::detail::CaseDescription &) override {}
    void onShrinkTried(const rc::detail::CaseDescription &, bool) override {
        if (Clock::now() > *shrinking_until) {
            throw ShortEnough{}; // all that could be tried of a long program takes hours
        }
    }
    void onTestFinished(const rc::detail::TestMetadata &, const rc::detail::TestResult &) override {
    }
};

using Program = std::function<void(Draw &shape, const std::vector<Step> &steps, std::string &text)>;

/// The programs of one seed.
void run_round(const Program &program, unsigned seed) {
    rc::detail::TestParams params;
    params.seed = seed;
    params.maxSuccess = programs;
    params.maxSize = longest;
    Silent silent;
    std::string shortest; // what fails is shrunk: the last failure is of the shortest program
    const auto note = [&](const std::string &text) {
        shortest = text;
        if (!silent.shrinking_until) {
            std::cerr << "--rng-seed " << seed
                      << " breaks the law; it is shrunk: " << text.substr(text.rfind('\n') + 1)
                      << std::endl;
        }
        silent.shrinking_until =
            silent.shrinking_until.value_or(Silent::Clock::now() + shrink_time);
        RC_FAIL();
    };
    const auto run_one = [&](const Step &first, const std::vector<Step> &steps) {
        std::string text;
        try {
            Draw shape(first);
            program(shape, steps, text);
        } catch (const Failure &failure) {
            note(text + "\n" + failure.text);
        } catch (const Error &error) {
            note(text + "\n" + error.what());
        }
    };
    bool holds = false;
    std::ostringstream text;
    try {
        const auto result =
            rc::detail::checkTestable(run_one, rc::detail::TestMetadata{}, params, silent,
                                      std::unordered_map<std::string, rc::detail::Reproduce>{});
        holds = result.is<rc::detail::SuccessResult>();
        rc::detail::printResultMessage(result, text);
    } catch (const ShortEnough &) {
        // The shortest until then is told.
    }
    if (!holds) {
        FAIL("--rng-seed " << seed << "; the shortest program found that breaks the law, "
                           << (shortest.empty() ? text.str() : shortest));
    }
}

/// Rounds, each with a new seed, until the time of --soak is over; or those of the one that --rng-seed gives.
void run_law(const Program &program) {
    const unsigned given = Catch::rngSeed();
    const auto end = std::chrono::steady_clock::now() + pi_test::soak_time();
    const int least = given != 0 ? 1 : rounds;
    for (int round = 0; round < least || std::chrono::steady_clock::now() < end; ++round) {
        run_round(program, given != 0 ? given : std::random_device()());
    }
    SUCCEED();
}

Program with(Trouble trouble) {
    return [trouble](Draw &shape, const std::vector<Step> &steps, std::string &text) {
        run_program(shape, steps, trouble, text);
    };
}

} // namespace

TEST_CASE("of any program, each byte is what one array of bytes holds, and just the bytes that "
          "must move do, over the cheapest ways",
          "[law]") {
    run_law(with(Trouble::none));
}

TEST_CASE(
    "programs on several threads, on bytes of one storage too, have the bytes that they wrote",
    "[law]") {
    run_law(run_threads);
}

TEST_CASE("programs on machines with too little memory lose no byte", "[law]") {
    run_law(with(Trouble::pressure));
}

TEST_CASE("programs on machines with faults lose no byte, but those that are reported lost",
          "[law]") {
    run_law(with(Trouble::faults));
}
