// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The law of the runtime: whatever a program does, each byte is what an array of bytes would hold, and no byte moves
// that need not. Programs are random, on random machines; one that breaks the law is shrunk to the shortest that does.
#include "program.hpp"
#include "round.hpp"
#include "skip.hpp"
#include "soak.hpp"
#include "text_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <random>
#include <thread>

namespace {

using namespace law_test;

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

void compare(const char *what, uint64_t found, const Bounds &expected, const Demand &demand) {
    if (found < expected.least || found > expected.most) {
        const std::string most =
            expected.least != expected.most ? " to " + std::to_string(expected.most) : "";
        throw Failure{std::string(what) + " are " + std::to_string(found) + ", not " +
                      std::to_string(expected.least) + most + " (" + numbers(demand) + ")"};
    }
}

/// What moved over links is what the models say, and the runtime knows what was required. Not `exact`: from any memory
/// that has the bytes, since while copies are under way a source that is busy may cost more than one that is farther.
void check_demand(const Demand &demand, const LiveMachine &machine, const Runtime &runtime,
                  bool exact) {
    const Counters counters = runtime.counters();
    if (!exact) {
        compare("bytes over links", machine.link_bytes(), demand.any_link_bytes, demand);
    } else if (!demand.any_link) {
        compare("bytes over links", machine.link_bytes(), {demand.link_bytes, demand.link_bytes},
                demand);
    }
    const Bounds bytes{demand.bytes, demand.bytes};
    compare("the runtime's bytes required", counters.bytes_required, bytes, demand);
    compare("the runtime's bytes delivered", counters.bytes_delivered, bytes, demand);
}

/// So it is with the bytes of the plugins' commands.
void check_trace(const Demand &demand, const std::string &trace, bool exact) {
    compare("the trace's bytes of reads, writes and copies", traced_bytes(trace),
            exact ? Bounds{demand.command_bytes, demand.command_bytes} : demand.any_command_bytes,
            demand);
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

using WrapTransport = std::function<std::shared_ptr<Transport>(std::shared_ptr<Transport>)>;

/// One program, on one thread. Throws Failure; `text` is what was done until then.
void run_program(Draw &shape, const std::vector<Step> &steps, Trouble trouble,
                 const WrapTransport &wrap, std::string &text) {
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
    {
        const auto set =
            set_up<LiveMachine>(trouble, file, trouble == Trouble::none ? trace.path() : "");
        if (!set) {
            return;
        }
        const LiveMachine &machine = *set;
        RuntimeOptions options;
        options.wrap_transport = wrap;
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
        if (trouble == Trouble::none) {
            demand = actor.demand();
            for (const auto &area : actor.areas()) {
                demand += area->demand;
            }
            check_demand(demand, machine, runtime, patient);
        }
    }
    if (trouble == Trouble::none) {
        check_trace(demand, trace.path(), patient);
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

/// What a thread alone has done determines what must move of its own storage. Of the shared one it is not determined:
/// which place's memory another uses depends on who comes first, and so does what a slice must be brought of. Nor is
/// it over links and by commands: a link that another thread's copies keep busy makes another way cheaper.
void check_own(const Actor &actor) {
    for (const auto &area : actor.areas()) {
        if (area->range.size() == area->storage.size()) {
            const Counters counters = area->storage.counters();
            const Bounds bytes{area->demand.bytes, area->demand.bytes};
            compare(("bytes required of storage " + area->name).c_str(), counters.bytes_required,
                    bytes, area->demand);
            compare(("bytes delivered of storage " + area->name).c_str(), counters.bytes_delivered,
                    bytes, area->demand);
        }
    }
}

/// Programs beside each other, on one storage too. Their bytes are checked, and what moved of a thread's own storages.
void run_threads(Draw &shape, const std::vector<Step> &steps, std::string &text) {
    constexpr uint64_t largest = 8192;
    const Trouble trouble = shape.coin() ? Trouble::pressure : Trouble::none;
    const MachineFile file = MachineFile::draw(shape, trouble, 2 * largest + shape(0, 2 * largest));
    text = "on " + file.words() + ", with " + std::to_string(thread_count) + " threads";
    const LiveMachine machine(file, "");
    RuntimeOptions options;
    options.pool_limit = shape.coin() ? 0 : largest;
    if (trouble == Trouble::none) {
        options.bounce_limit = 0; // as on one thread
    }
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
    for (const Actor &actor : actors) {
        if (trouble == Trouble::none) {
            check_own(actor);
        }
    }
}

/// Rounds, each with a new seed, until the time of --soak is over; or those of the one that --rng-seed gives.
void run_law(const RunProgram &program) {
    const unsigned given = Catch::rngSeed();
    const auto end = std::chrono::steady_clock::now() + pi_test::soak_time();
    const int least = given != 0 ? 1 : rounds;
    for (int round = 0; round < least || std::chrono::steady_clock::now() < end; ++round) {
        const unsigned seed = given != 0 ? given : std::random_device()();
        const Outcome outcome = run_round(program, seed, shrink_time, [&](const std::string &text) {
            std::cerr << "--rng-seed " << seed
                      << " breaks the law; it is shrunk: " << text.substr(text.rfind('\n') + 1)
                      << std::endl;
        });
        if (!outcome.holds) {
            FAIL(outcome.text);
        }
    }
    SUCCEED();
}

RunProgram with(Trouble trouble, const WrapTransport &wrap = {}) {
    return [=](Draw &shape, const std::vector<Step> &steps, std::string &text) {
        run_program(shape, steps, trouble, wrap, text);
    };
}

/// A defect: one byte of the second copy to the host's memory is wrong.
class OneWrongByte final : public Transport {
public:
    explicit OneWrongByte(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}
    void start(const TransferRequest &request, TransferDone done) override {
        const MemoryEnd &to = request.destination;
        if (request.hand_over || to.mem != nullptr || to.host == nullptr || ++copies_ != 2) {
            inner_->start(request, std::move(done));
            return;
        }
        std::byte *const last =
            static_cast<std::byte *>(to.host) + request.ranges.ranges().back().end - 1;
        inner_->start(request, [last, done](pi_result result, const std::string &text) {
            *last ^= std::byte{1};
            done(result, text);
        });
    }

private:
    const std::shared_ptr<Transport> inner_;
    std::atomic<int> copies_{0};
};

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

TEST_CASE("one wrong byte of one copy breaks the law, which tells the seed and a program of a few "
          "steps",
          "[law]") {
    const auto wrap = [](std::shared_ptr<Transport> inner) -> std::shared_ptr<Transport> {
        return std::make_shared<OneWrongByte>(std::move(inner));
    };
#if defined(__SANITIZE_THREAD__)
    return pi_test::skip("shrinking takes a minute and a half under the thread sanitizer");
#endif
    // A seed whose programs are shrunk quickly.
    const unsigned seed = Catch::rngSeed() != 0 ? Catch::rngSeed() : 7;
    // However long it takes: what is tested is the shortest program.
    const Outcome outcome = run_round(with(Trouble::none, wrap), seed, std::chrono::hours(24));
    INFO(outcome.text);
    CHECK_FALSE(outcome.holds);
    CHECK(outcome.steps > 0);
    CHECK(outcome.steps <= 6);
    CHECK_THAT(outcome.text, Catch::StartsWith("--rng-seed " + std::to_string(seed) + ";"));
}
