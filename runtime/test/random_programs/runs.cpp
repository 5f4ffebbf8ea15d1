// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runs.hpp"

#include "actor.hpp"
#include "temporary.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>

namespace random_programs {
namespace {

std::string numbers(const Bounds &bounds) {
    return std::to_string(bounds.least) +
           (bounds.least != bounds.most ? " to " + std::to_string(bounds.most) : "");
}

void compare(const std::string &what, uint64_t found, const Bounds &expected,
             const Demand &demand) {
    if (found < expected.least || found > expected.most) {
        throw Failure{what + " are " + std::to_string(found) + ", not " + numbers(expected) +
                      " (of " + numbers(demand.bytes) + " bytes, " + numbers(demand.command_bytes) +
                      " with all hops, " + numbers(demand.link_bytes) + " over links)"};
    }
}

/// The runtime's counters have the required bytes, and as many delivered bytes.
void check_counters(const std::string &of, const Counters &counters, const Demand &demand) {
    compare("the bytes required" + of, counters.bytes_required, demand.bytes, demand);
    compare("the bytes delivered" + of, counters.bytes_delivered,
            {counters.bytes_required, counters.bytes_required}, demand);
}

void finish(const Runtime &runtime) {
    if (!runtime.finish(patience)) {
        throw Failure{"the runtime is never finished"};
    }
}

/// Returns null if a fault hits the test's own setup.
template <class Make>
auto set_up(Trouble trouble, Make make) -> decltype(make()) {
    try {
        return make();
    } catch (const Error &) {
        if (!has_faults(trouble)) {
            throw;
        }
        return nullptr;
    }
}

RuntimeOptions options_for(const Limits &limits, const MachineFile &file) {
    RuntimeOptions options;
    options.bounce_limit = limits.bounce;
    options.staging_limit = limits.staging;
    // Verification would move bytes that no program moves, and known machines report true
    // connections.
    options.verify_connections = !file.is_known();
    return options;
}

void append(const Limits &limits, std::string &text) {
    text += ", bounce limit " + std::to_string(limits.bounce) + ", staging limit " +
            std::to_string(limits.staging);
}

void append(const Area &area, std::string &text) {
    text += "\n  storage " + area.name + " of " + std::to_string(area.range.size()) +
            " bytes, routes " + std::to_string(area.routes) +
            (area.host_memory ? ", of the application's memory" : "");
}

/// Demand of the actor's storages, including destroyed ones.
Demand demand_of(const Actor &actor) {
    Demand demand = actor.demand();
    for (const auto &area : actor.areas()) {
        demand += area->demand;
    }
    return demand;
}

/// Checks the bytes that each step moves, if each step is waited for. The bounds of a whole program
/// are the sum over its steps, so one step's tolerance would hide excess bytes of another.
class StepCheck {
public:
    StepCheck(const Setting &setting, const Actor &actor)
        : setting_(setting), actor_(actor), before_(now()) {}

    void check(std::size_t step) {
        const Moved after = now();
        const auto difference = [](const Bounds &a, const Bounds &b) {
            return Bounds{a.least - b.least, a.most - b.most};
        };
        Demand demand;
        demand.bytes = difference(after.demand.bytes, before_.demand.bytes);
        demand.command_bytes = difference(after.demand.command_bytes, before_.demand.command_bytes);
        demand.link_bytes = difference(after.demand.link_bytes, before_.demand.link_bytes);
        const std::string of = " of step " + std::to_string(step);
        compare("the bytes required" + of, after.required - before_.required, demand.bytes, demand);
        compare("bytes over links" + of, after.over_links - before_.over_links, demand.link_bytes,
                demand);
        moving_ += demand.bytes.most != 0;
        exact_ += demand.bytes.most != 0 && demand.bytes.is_exact() && demand.link_bytes.is_exact();
        before_ = after;
    }

    /// Bounds alone would be a weak check, so the exact number must be known for at least three of
    /// ten steps that move bytes. (Measured: three of five in the hardest of 300 programs; 44 % in
    /// half an hour of programs.)
    void check_share() const {
        constexpr uint64_t enough = 100;
        if (moving_ >= enough && exact_ * 10 < moving_ * 3) {
            throw Failure{"of " + std::to_string(moving_) +
                          " steps that move bytes it is known exactly how many of " +
                          std::to_string(exact_) + " alone"};
        }
    }

private:
    struct Moved {
        Demand demand;
        uint64_t required, over_links;
    };
    Moved now() const {
        return {demand_of(actor_), setting_.runtime.counters().bytes_required,
                setting_.machine.link_bytes()};
    }

    const Setting &setting_;
    const Actor &actor_;
    Moved before_;
    uint64_t moving_ = 0, exact_ = 0;
};

/// Runs one actor's program on its own storages. Returns the bytes that had to move.
Demand play_alone(const Setting &setting, Draw &shape, uint64_t storages,
                  const std::vector<Step> &steps, std::string &text) {
    std::vector<std::shared_ptr<Area>> areas;
    for (uint64_t index = 0; index < storages; ++index) {
        areas.push_back(make_area(setting, shape, std::string(1, static_cast<char>('a' + index))));
        append(*areas.back(), text);
    }
    const auto actor =
        set_up(setting.trouble, [&] { return std::make_unique<Actor>(setting, std::move(areas)); });
    if (!actor) {
        return {};
    }
    const std::string begin = text;
    try {
        std::optional<StepCheck> each;
        if (setting.patient && setting.trouble == Trouble::none && setting.file.is_known()) {
            each.emplace(setting, *actor);
        }
        for (std::size_t index = 0; index < steps.size(); ++index) {
            actor->step(Draw(steps[index].numbers), index + 1);
            if (each) {
                each->check(index + 1);
            }
        }
        if (each) {
            each->check_share();
        }
        actor->settle();
        finish(setting.runtime);
        actor->check_all();
        finish(setting.runtime);
    } catch (...) {
        text = begin + actor->text() + actor->case_text();
        throw;
    }
    text = begin + actor->text();
    return demand_of(*actor);
}

constexpr uint64_t thread_count = 3;
using Areas = std::vector<std::shared_ptr<Area>>;

/// The areas of each thread: a storage of its own, a slice of a shared one, and a part that all
/// threads read.
std::vector<Areas> share(const Setting &setting, Draw &shape, std::string &text) {
    const auto shared = make_area(setting, shape, "shared");
    const uint64_t part = shared->range.size() / (thread_count + 1) / 64 * 64; // whole flush atoms
    const auto slice = [&](uint64_t index) {
        return std::shared_ptr<Area>(
            new Area{"slice " + std::to_string(index),
                     shared->storage,
                     {index * part, (index + 1) * part},
                     false,
                     shared->memories,
                     shared->routes,
                     shared->styles,
                     shared->host_memory,
                     shared->contents,
                     {},
                     Validity(setting.file, shared->routes, shared->range.end,
                              shared->host_memory != nullptr, Stay::perhaps),
                     {}});
    };
    const auto common = slice(thread_count);
    common->read_only = true;
    const std::vector<uint8_t> bytes(part, 200);
    Acquisition first = common->storage.buffer().acquire(host_place, Access::discard_write,
                                                         common->range.begin, part);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t *>(first.pointer()));
    first.release();
    common->contents.write(host_place, common->range, bytes);
    append(*shared, text);
    std::vector<Areas> areas;
    for (uint64_t index = 0; index < thread_count; ++index) {
        const auto own = make_area(setting, shape, "own " + std::to_string(index));
        append(*own, text);
        areas.push_back({own, slice(index), common});
    }
    return areas;
}

std::unique_ptr<std::deque<Actor>> make_actors(const Setting &setting, Draw &shape,
                                               std::string &text) {
    auto actors = std::make_unique<std::deque<Actor>>();
    for (Areas &areas : share(setting, shape, text)) {
        actors->emplace_back(setting, std::move(areas));
    }
    return actors;
}

/// A thread's own steps determine the bytes that move in its own storage. They do not determine
/// those of the shared storage: the order of first uses decides which place uses whose memory, and
/// what a slice must fetch. They do not determine bytes by link or command either: a link that
/// another thread's copies keep busy makes another way cheaper.
void check_own(const Actor &actor) {
    for (const auto &area : actor.areas()) {
        if (area->range.size() == area->storage.size()) {
            check_counters(" of storage " + area->name, area->storage.counters(), area->demand);
        }
    }
}

/// Runs several actors, each on a thread with every third step of the program.
void play_threads(const Setting &setting, Draw &shape, const std::vector<Step> &steps,
                  std::string &text) {
    const auto set = set_up(setting.trouble, [&] { return make_actors(setting, shape, text); });
    if (!set) {
        return;
    }
    std::deque<Actor> &actors = *set;
    std::vector<std::string> failures(thread_count);
    std::vector<std::thread> threads;
    for (uint64_t index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            try {
                for (std::size_t step = index; step < steps.size(); step += thread_count) {
                    actors[index].step(Draw(steps[step].numbers), step + 1);
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
    finish(setting.runtime);
    for (Actor &actor : actors) {
        actor.check_all();
    }
    finish(setting.runtime);
    for (const Actor &actor : actors) {
        if (setting.trouble == Trouble::none && setting.file.is_known()) {
            check_own(actor);
        }
    }
}

/// Bytes of a program on real devices.
struct Moved {
    Counters counters;           ///< as the runtime reports
    uint64_t by_commands = 0;    ///< as the trace reports: reads, writes and copies
    uint64_t of_application = 0; ///< those among them that the program itself enqueued
    uint64_t synchronised = 0;   ///< of shared memory, by commands that may be writes
};

/// For machines that the model cannot predict: the runtime's counters must match the trace.
void check_moved(const Moved &moved) {
    const Counters &counters = moved.counters;
    if (counters.bytes_delivered != counters.bytes_required) {
        throw Failure{std::to_string(counters.bytes_required) + " bytes were required, and " +
                      std::to_string(counters.bytes_delivered) + " brought"};
    }
    uint64_t over_links = 0;
    for (const auto &[link, bytes] : counters.link_bytes) {
        over_links += bytes;
    }
    const uint64_t traced = moved.by_commands - moved.of_application;
    const bool excess = traced > over_links + moved.synchronised && counters.failed_attempts == 0;
    if (excess || traced < over_links || traced < counters.bytes_delivered) {
        throw Failure{
            "the trace has " + std::to_string(moved.by_commands) +
            " bytes of reads, writes and copies, " + std::to_string(moved.of_application) +
            " of them the application's; the runtime reports " + std::to_string(over_links) +
            " over links, and " + std::to_string(counters.bytes_delivered) + " brought"};
    }
}

} // namespace

void run_alone(Draw &shape, const std::vector<Step> &steps, Trouble trouble,
               const WrapTransport &wrap, std::string &text) {
    const uint64_t largest = shape(0, 3) == 0 ? 64 : 16384;
    const uint64_t storages = 1 + shape(0, 2);
    const bool patient = shape.coin();
    // Room for one storage at least, for all of them at most.
    const uint64_t capacity = largest + 8192 + shape(0, storages * largest);
    const bool own_costs = shape.coin();
    const Limits limits = Limits::draw(shape, largest);
    const MachineFile file = MachineFile::draw(shape, trouble, capacity, 1);
    text = "on " + file.words() + (patient ? ", each step waited for" : "");
    append(limits, text);
    const pi_test::TextFile trace;
    Demand demand;
    {
        const auto set = set_up(trouble, [&] {
            return std::make_unique<LiveMachine>(file,
                                                 trouble == Trouble::none ? trace.path() : "");
        });
        if (!set) {
            return;
        }
        const LiveMachine &machine = *set;
        RuntimeOptions options = options_for(limits, file);
        options.wrap_transport = wrap;
        options.pool_limit = trouble == Trouble::none ? uint64_t{1} << 30 : 0;
        options.copy_after_repeated_use =
            trouble != Trouble::none; // the models expect fewest bytes
        if (own_costs || trouble == Trouble::none) {
            options.costs = file.costs();
        }
        Runtime runtime(machine.topology(), options);
        const Setting setting{
            file,    machine, runtime, trouble, patient, limits, trouble != Trouble::none,
            largest, 1,       true};
        demand = play_alone(setting, shape, storages, steps, text);
        if (trouble == Trouble::none) {
            compare("bytes over links", machine.link_bytes(), demand.link_bytes, demand);
            check_counters("", runtime.counters(), demand);
        }
    }
    if (trouble == Trouble::none) {
        compare("the trace's bytes of reads, writes and copies", traced_bytes(trace.path()),
                demand.command_bytes, demand);
    }
}

void run_threads(Draw &shape, const std::vector<Step> &steps, Trouble trouble, std::string &text) {
    constexpr uint64_t largest = 8192;
    const Limits limits = Limits::draw(shape, largest);
    const MachineFile file =
        MachineFile::draw(shape, trouble, 2 * largest + shape(0, 2 * largest), thread_count);
    text = "on " + file.words() + ", with " + std::to_string(thread_count) + " threads";
    append(limits, text);
    const auto machine = set_up(trouble, [&] { return std::make_unique<LiveMachine>(file, ""); });
    if (!machine) {
        return;
    }
    RuntimeOptions options = options_for(limits, file);
    options.pool_limit = shape.coin() ? 0 : largest;
    if (trouble == Trouble::none) {
        options.costs = file.costs(); // the models compare ways by these costs
        options.copy_after_repeated_use = false;
    }
    Runtime runtime(machine->topology(), options);
    const Setting setting{file,   *machine, runtime, trouble, false,
                          limits, true,     largest, 256,     false};
    play_threads(setting, shape, steps, text);
}

void run_on_driver(const std::string &plugin, Draw &shape, const std::vector<Step> &steps,
                   std::string &text) {
    constexpr uint64_t largest = 8192;
    // Steps on drivers are slow.
    const std::vector<Step> some(steps.begin(),
                                 steps.begin() + static_cast<ptrdiff_t>((steps.size() + 7) / 8));
    const Limits limits = Limits::draw(shape, largest);
    const auto contexts = static_cast<uint32_t>(shape(1, 2));
    const bool threads = shape.coin();
    const bool patient = !threads && shape.coin();
    const bool maps = shape.coin();
    const pi_test::TextFile trace;
    Moved moved;
    {
        const LiveMachine machine(plugin, contexts, trace.path());
        const MachineFile file =
            MachineFile::unknown((machine.topology()->size() - 1) / contexts, contexts);
        text = "on " + file.words() + (threads ? ", with several threads" : "") +
               (patient ? ", each step waited for" : "") + (maps ? ", with maps" : "");
        append(limits, text);
        RuntimeOptions options = options_for(limits, file);
        options.log_capacity = uint64_t{1} << 20;
        Runtime runtime(machine.topology(), options);
        const Setting setting{file,   machine, runtime, Trouble::none, patient,
                              limits, maps,    largest, 256,           !threads};
        if (threads) {
            play_threads(setting, shape, some, text);
        } else {
            play_alone(setting, shape, 1 + shape(0, 2), some, text);
        }
        moved.counters = runtime.counters();
        moved.of_application = machine.application_bytes();
        for (const TransferRecord &record : runtime.log()) {
            moved.synchronised += record.bytes == 0 ? record.ranges.bytes() : 0;
        }
    }
    moved.by_commands = traced_bytes(trace.path());
    check_moved(moved);
}

} // namespace random_programs
