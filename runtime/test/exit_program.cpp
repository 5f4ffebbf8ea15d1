// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// runtime_exit_program PLUGIN WAY
//
// Ends while transfers are in flight, one of them behind an event that nobody signals, another
// thread uses the storage, and acquisitions are held. The test is that the process ends, and with
// 0.
//
//     leaked   nothing is destroyed
//     statics  static objects made before the first call of PI hold everything
//     fork     a child that was forked meanwhile ends first: static objects hold what it inherited
//     calls    every call of the child on what it inherited throws at once
#include "test_program.hpp"

#include <pi/pi_loader.h>
#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace pi::runtime;

constexpr uint64_t size = 8 << 20;

struct Loader {
    explicit Loader(const char *plugin) {
        auto desc = pi::desc<pi_loader_desc>();
        desc.flags = PI_LOADER_NO_DEFAULT_SEARCH;
        desc.plugins = &plugin;
        desc.plugin_count = 1;
        check(piLoaderCreate(&desc, &handle), "piLoaderCreate");
    }
    ~Loader() { piLoaderRelease(handle); }
    Loader(const Loader &) = delete;
    pi_loader handle = nullptr;
};

struct Held {
    explicit Held(const char *plugin) : loader(plugin) {
        uint32_t count = 0;
        pi_device device = nullptr;
        check(piLoaderSelectDevices(loader.handle, nullptr, 1, &device, &count),
              "piLoaderSelectDevices");
        topology = Topology::from_groups(std::vector<std::vector<pi_device>>{{device}, {device}});
        runtime.emplace(topology);
        storage.emplace(*runtime, StorageDescriptor{.size = size});
        used.emplace(*runtime, StorageDescriptor{.size = size});
        // What waits for an event that nobody signals, and what waits for that.
        check(piEventCreateHost(topology->context(1), nullptr, gate.out()), "piEventCreateHost");
        Acquisition written = storage->buffer().acquire(1, Access::discard_write, 0, size / 2);
        written.release(gate.get());
        storage->buffer().prefetch(host_place, 0, size / 2);
        read.emplace(storage->buffer().acquire(2, Access::read, 0, size / 2));
        writes.emplace(storage->buffer().acquire(1, Access::write, size / 2, size / 2));
    }
    /// From place to place, so that other threads are in the runtime's locks and in the plugin's.
    void use() const {
        for (PlaceIndex place = 1;; place = 3 - place) {
            used->buffer().acquire(place, Access::read_write).release();
        }
    }

    Loader loader;
    std::shared_ptr<const Topology> topology;
    std::optional<Runtime> runtime;
    std::optional<Storage> storage, used;
    Event gate;
    std::optional<Acquisition> read, writes;
};

/// Made when the program starts, so that it is destroyed after all that is made later.
std::unique_ptr<Held> destroyed_at_exit; // NOLINT(cert-err58-cpp)

/// Throws what says so, and nothing else.
template <class Call>
void refused(const char *what, const Call &call) {
    try {
        call();
    } catch (const Error &error) {
        if (error.code() == PI_ERROR_INVALID_OPERATION && std::strstr(error.what(), "forked")) {
            return;
        }
        std::fprintf(stderr, "%s: %s\n", what, error.what());
        std::_Exit(1);
    }
    std::fprintf(stderr, "%s: no error\n", what);
    std::_Exit(1);
}
#define REFUSED(call) refused(#call, [&] { (void)(call); })

void call_inherited(Held &held) {
    REFUSED(held.runtime->finish(std::chrono::hours(1)));
    REFUSED(held.runtime->counters());
    REFUSED(held.runtime->trim());
    REFUSED(Storage(*held.runtime, StorageDescriptor{.size = size}));
    REFUSED(held.storage->finish(std::chrono::hours(1)));
    REFUSED(held.storage->valid(1));
    REFUSED(held.storage->buffer().acquire(1, Access::read));
    REFUSED(held.storage->buffer().explain(1));
    REFUSED(held.read->wait());
    REFUSED(held.writes->release());
    held.writes->abandon();
}

} // namespace

int main(int argc, char **argv) {
    try {
        auto held = std::make_unique<Held>(argc > 1 ? argv[1] : "");
        const std::string way = argc > 2 ? argv[2] : "leaked";
        if (way == "statics") {
            destroyed_at_exit = std::move(held);
            return 0;
        }
        Held &left = *held.release();
        std::thread([&left] { left.use(); }).detach();
        if (way == "fork") {
            pi_test::in_child([&] { destroyed_at_exit.reset(&left); });
        }
        if (way == "calls") {
            pi_test::in_child([&] { call_inherited(left); });
        }
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
