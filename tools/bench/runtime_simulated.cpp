// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes and the virtual time that the host runtime needs on simulated machines, compared with
// the minimum. These figures are the same in every run.
#include "session.hpp"

#include <pi/pi.hpp>
#include <pi/pi_sim.h>
#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <list>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace pi_bench {
namespace {

using namespace pi::runtime;

constexpr std::chrono::seconds patience{60};
constexpr double mebi = 1 << 20;
constexpr double bandwidth = 31.5e9; // of each link, bytes per second
constexpr double latency = 1.5e-6;   // seconds

/// Cards that are connected only through the host, each with this capacity.
std::string cards(int count, uint64_t capacity) {
    std::string devices;
    std::string links;
    for (int index = 0; index < count; ++index) {
        const std::string comma = index == 0 ? "" : ", ";
        const std::string name = "\"gpu" + std::to_string(index) + "\"";
        const std::string speed = R"("bandwidth": "31.5 GB/s", "latency": "1.5 us"})";
        devices += comma + R"({"name": )" + name + R"(, "type": "gpu", "scopes": [{"name": "global",
            "flags": ["poolable"], "capacity": )" +
                   std::to_string(capacity) + "}]}";
        links += comma + R"({"from": "host", "to": )" + name + ", " + speed +
                 R"(, {"to": "host", "from": )" + name + ", " + speed;
    }
    return R"({"pi_machine": 1, "name": "cards", "devices": [)" + devices + R"(], "links": [)" +
           links + "]}";
}

class MachineFile {
public:
    explicit MachineFile(const std::string &text) {
        char name[] = "/tmp/pi_bench_machine_XXXXXX";
        const int file = mkstemp(name);
        if (file < 0 ||
            write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
            throw std::runtime_error("cannot write a machine file in /tmp");
        }
        close(file);
        path_ = name;
    }
    ~MachineFile() { unlink(path_.c_str()); }
    MachineFile(const MachineFile &) = delete;
    MachineFile &operator=(const MachineFile &) = delete;
    const std::string &path() const noexcept { return path_; }

private:
    std::string path_;
};

/// A loader whose sim plugin has such a machine.
pi::Loader load_machine(const std::string &path) {
    const pi_loader_option machine{"PI_SIM_MACHINE", path.c_str()};
    auto desc = pi::desc<pi_loader_desc>();
    desc.options = &machine;
    desc.option_count = 1;
    return pi::Loader::create(&desc);
}

std::shared_ptr<const Topology> simulated_places(pi::LoaderRef loader) {
    std::array<pi_device, 8> found{};
    uint32_t count = 0;
    check(piLoaderSelectDevices(loader.get(), "sim", found.size(), found.data(), &count),
          "piLoaderSelectDevices(sim)");
    return Topology::from_devices(std::span(found).first(std::min<size_t>(count, found.size())));
}

class Simulated {
public:
    explicit Simulated(const std::string &text)
        : file_(text), loader_(load_machine(file_.path())), topology_(simulated_places(loader_)) {
        pi_platform platform = nullptr;
        check(piDeviceGetInfo(topology_->device(1), PI_DEVICE_INFO_PLATFORM, sizeof platform,
                              &platform, nullptr),
              "piDeviceGetInfo(PLATFORM)");
        check(
            piPlatformGetInfo(platform, PI_PLATFORM_INFO_PLUGIN, sizeof plugin_, &plugin_, nullptr),
            "piPlatformGetInfo(PLUGIN)");
        const void *table = nullptr;
        check(piPluginGetExtension(plugin_, PI_SIM_V1, sizeof(pi_sim_v1), &table),
              "piPluginGetExtension(pi_sim_v1)");
        sim_ = static_cast<const pi_sim_v1 *>(table);
        CostModel model;
        model.callback_latency = 0; // host work takes no virtual time
        CostTable costs(topology_->size(), model);
        for (PlaceIndex place = 1; place < topology_->size(); ++place) {
            costs.set(host_place, place, {latency, bandwidth});
            costs.set(place, host_place, {latency, bandwidth});
        }
        options_.costs = costs;
        options_.verify_connections = false; // its bytes would count on the links
    }
    Runtime runtime() const { return Runtime(topology_, options_); }
    double moved() const {
        std::array<pi_sim_link, 64> links{};
        uint32_t count = 0;
        check(sim_->get_links(plugin_, links.size(), links.data(), &count), "get_links");
        uint64_t bytes = 0;
        for (uint32_t index = 0; index < std::min<uint32_t>(count, links.size()); ++index) {
            bytes += links[index].bytes;
        }
        return static_cast<double>(bytes);
    }
    void reset_links() const { check(sim_->reset_links(plugin_), "reset_links"); }
    uint64_t now() const {
        uint64_t time = 0;
        check(sim_->get_time(plugin_, &time), "get_time");
        return time;
    }
    /// The virtual time at which the acquired bytes arrive.
    uint64_t arrival(const Acquisition &use) const {
        auto desc = pi::desc<pi_queue_desc>();
        desc.flags = PI_QUEUE_PROFILING;
        Queue queue;
        check(piQueueCreate(topology_->context(use.place()), topology_->device(use.place()), &desc,
                            queue.out()),
              "piQueueCreate");
        Event event;
        check(piEnqueueBarrier(queue.get(), nullptr, static_cast<uint32_t>(use.events().size()),
                               use.events().data(), event.out()),
              "piEnqueueBarrier");
        check(piEventWait(event.get(), UINT64_MAX), "piEventWait");
        uint64_t time = 0;
        check(piEventGetProfilingInfo(event.get(), PI_PROFILING_END, sizeof time, &time, nullptr),
              "piEventGetProfilingInfo");
        return time;
    }

private:
    MachineFile file_;
    pi::Loader loader_;
    std::shared_ptr<const Topology> topology_;
    RuntimeOptions options_;
    pi_plugin plugin_ = nullptr;
    const pi_sim_v1 *sim_ = nullptr;
};

void add(Session &session, const std::string &name, const std::string &limit_name, double ours,
         double limit, const char *unit) {
    if (session.wants(name)) {
        session.add({name, ours, limit, limit_name, ours / limit, unit});
    }
}

void bench_broadcast(Session &session) {
    constexpr uint64_t size = uint64_t{16} << 20;
    for (const int readers : {1, 3, 7}) {
        const std::string name =
            "16 MiB broadcast to " + std::to_string(readers) + " simulated GPUs over the host";
        if (!session.wants(name + ", bytes over links") &&
            !session.wants(name + ", virtual time")) {
            continue;
        }
        const Simulated machine(cards(1 + readers, 1 << 30));
        const Runtime runtime = machine.runtime();
        const Buffer buffer = Storage(runtime, {.size = size}).buffer();
        buffer.acquire(1, Access::discard_write).release();
        machine.reset_links();
        const uint64_t begin = machine.now();
        std::vector<PlaceIndex> places;
        for (int reader = 0; reader < readers; ++reader) {
            places.push_back(static_cast<PlaceIndex>(2 + reader));
        }
        buffer.broadcast(places);
        uint64_t last = 0;
        for (const PlaceIndex place : places) {
            last = std::max(last, machine.arrival(buffer.acquire(place, Access::read)));
        }
        if (!runtime.finish(patience)) {
            throw std::runtime_error("the broadcast does not complete");
        }
        add(session, name + ", bytes over links", "out of the source once, into each once",
            machine.moved() / mebi, (1 + readers) * size / mebi, "MiB");
        add(session, name + ", virtual time", "the source's link alone",
            static_cast<double>(last - begin) * 1e-3, (latency + size / bandwidth) * 1e6, "us");
    }
}

/// Out of one card and into the other at the same time, in pieces through host staging memory.
void bench_staged_bounce(Session &session) {
    constexpr uint64_t size = uint64_t{64} << 20;
    const std::string name = "64 MiB bounced through staging between simulated GPUs, virtual time";
    if (!session.wants(name)) {
        return;
    }
    const Simulated machine(cards(2, 1 << 30));
    const Runtime runtime = machine.runtime();
    const Buffer buffer = Storage(runtime, {.size = size,
                                            .routes = mask_of(RouteKind::host_bounce),
                                            .styles = mask_of(BounceStyle::staged)})
                              .buffer();
    buffer.acquire(1, Access::discard_write).release();
    const uint64_t begin = machine.now();
    const uint64_t end = machine.arrival(buffer.acquire(2, Access::read));
    if (!runtime.finish(patience)) {
        throw std::runtime_error("the bounce does not complete");
    }
    add(session, name, "the slower link alone, target ratio 1.11",
        static_cast<double>(end - begin) * 1e-3, (latency + size / bandwidth) * 1e6, "us");
}

struct Use {
    size_t storage;
    bool writes;
};

/// The bytes that move in and out if the least recently used storage is evicted.
double range_lru(const std::vector<Use> &uses, size_t fit, double size) {
    std::list<Use> resident; // the most recently used first
    double moved = 0;
    for (const Use &use : uses) {
        const auto found = std::find_if(resident.begin(), resident.end(), [&](const Use &each) {
            return each.storage == use.storage;
        });
        Use now = use;
        if (found != resident.end()) {
            now.writes |= found->writes;
            resident.erase(found);
        } else {
            moved += size;
            if (resident.size() == fit) {
                moved += resident.back().writes ? size : 0;
                resident.pop_back();
            }
        }
        resident.push_front(now);
    }
    for (const Use &use : resident) {
        moved += use.writes ? size : 0; // the host reads everything at the end
    }
    return moved;
}

void bench_working_set(Session &session) {
    constexpr size_t count = 48;
    constexpr size_t fit = count / 3;
    constexpr uint64_t size = 64 << 10;
    std::mt19937 random(1);
    const auto below = [&](size_t limit) { return random() % limit; };
    for (const char *order : {"in a circle", "at random", "mostly a hot set"}) {
        const std::string name =
            std::string("three times the memory of a simulated GPU used ") + order + ", bytes";
        if (!session.wants(name)) {
            continue;
        }
        std::vector<Use> uses;
        for (size_t step = 0; step < 2000; ++step) {
            const bool hot = below(5) != 0;
            uses.push_back({order[0] == 'i'   ? step % count
                            : order[0] == 'a' ? below(count)
                                              : below(hot ? fit / 2 : count),
                            below(3) == 0});
        }
        const Simulated machine(cards(1, fit * size));
        const Runtime runtime = machine.runtime();
        std::vector<Storage> storages;
        for (size_t index = 0; index < count; ++index) {
            storages.emplace_back(runtime, StorageDescriptor{.size = size});
            storages.back().buffer().acquire(host_place, Access::discard_write).release();
        }
        for (const Use &use : uses) {
            Acquisition held = storages[use.storage].buffer().acquire(
                1, use.writes ? Access::read_write : Access::read);
            held.wait(patience);
            held.release();
        }
        for (const Storage &storage : storages) {
            storage.buffer().acquire(host_place, Access::read).wait(patience);
        }
        if (!runtime.finish(patience)) {
            throw std::runtime_error("the working set does not complete");
        }
        add(session, name, "a range-LRU", machine.moved() / mebi,
            range_lru(uses, fit, static_cast<double>(size)) / mebi, "MiB");
    }
}

} // namespace

void bench_runtime_simulated(Session &session) {
    session.attempt("staged bounce", [&] { bench_staged_bounce(session); });
    session.attempt("broadcast", [&] { bench_broadcast(session); });
    session.attempt("working set", [&] { bench_working_set(session); });
}

} // namespace pi_bench
