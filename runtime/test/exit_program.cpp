// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// runtime_exit_program PLUGIN WAY
//
// Ends while transfers are in flight, one of them behind an event that nobody signals, while
// another thread uses the storage and acquisitions exist. The test passes if the process exits with
// status 0.
//
//     leaked      nothing is destroyed
//     statics     static objects made before the first PI call own everything
//     fork        a forked child ends first: its static objects own what it inherited
//     fork_calls  every call of the child on inherited objects throws immediately
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
        // A transfer that waits for an event that nobody signals, and one that waits for that
        // transfer.
        check(piEventCreateHost(topology->context(1), nullptr, gate.out()), "piEventCreateHost");
        Acquisition written = storage->buffer().acquire(1, Access::discard_write, 0, size / 2);
        written.release(gate.get());
        storage->buffer().prefetch(host_place, 0, size / 2);
        read.emplace(storage->buffer().acquire(2, Access::read, 0, size / 2));
        writes.emplace(storage->buffer().acquire(1, Access::write, size / 2, size / 2));
    }
    /// Transfers between places, so that other threads hold locks of the runtime and of the plugin.
    void use() {
        for (PlaceIndex place = 1;; place = 3 - place) {
            used->buffer().acquire(place, Access::read_write).release();
            ++uses;
        }
    }

    Loader loader;
    std::shared_ptr<const Topology> topology;
    std::optional<Runtime> runtime;
    std::optional<Storage> storage, used;
    std::atomic<uint64_t> uses{0};
    Event gate;
    std::optional<Acquisition> read, writes;
};

/// Constructed at program start, so that it is destroyed after all later static objects.
std::unique_ptr<Held> destroyed_at_exit; // NOLINT(cert-err58-cpp)

/// Checks that the call throws the error that names the fork, and nothing else.
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
        // First uses register exit handlers, under a lock of the C library that a child would keep.
        while (left.uses < 4) {
            std::this_thread::yield();
        }
        if (way == "fork") {
            pi_test::in_child([&] { destroyed_at_exit.reset(&left); });
        }
        if (way == "fork_calls") {
            pi_test::in_child([&] { call_inherited(left); });
        }
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
