// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plugin does once, at the first use of something: many threads are the first.

#include "checks.hpp"
#include "fixture.hpp"
#include "registry.hpp"
#include "second_loader.hpp"

#include <atomic>
#include <thread>

namespace pi::suite {
namespace {

constexpr unsigned threads = 8;

// The values that ask(thread) gives to all threads, which call it at the same moment.
template <typename Value>
std::vector<Value> ask_at_once(Fixture &fixture, const std::function<Value(unsigned)> &ask) {
    std::atomic<unsigned> arrived{0};
    std::vector<Value> values(threads);
    fixture.run_threads(threads, [&](unsigned thread) {
        for (++arrived; arrived < threads;)
            std::this_thread::yield();
        values[thread] = ask(thread);
    });
    return values;
}

template <typename Value>
void require_all_equal(const std::vector<Value> &values, const char *what) {
    for (const Value &value : values)
        require(value == values.front(), "threads that first ask for ", what,
                " at once get different ones");
}

template <typename Handle, typename Ask>
std::vector<Handle> list_of(const char *name, Ask &&ask) {
    uint32_t count = 0;
    require_success(ask(0, nullptr, &count), name);
    std::vector<Handle> handles(count);
    require_success(ask(count, handles.data(), &count), name);
    require_equal(count, handles.size(), join(name, ": the second count"));
    return handles;
}

CONFORMANCE_TEST("platform", "many threads may be the first to use a plugin's devices") {
    for (int round = 0; round < 3; ++round) {
        const Owner<pi_loader> loader = make_loader(fixture);
        pi_plugin plugin = nullptr;
        require_success(piPluginsGet(loader, 1, &plugin, nullptr), "piPluginsGet");
        const auto platforms = ask_at_once<std::vector<pi_platform>>(fixture, [&](unsigned) {
            return list_of<pi_platform>("piPlatformsGet",
                                        [&](uint32_t capacity, pi_platform *out, uint32_t *count) {
                                            return piPlatformsGet(plugin, capacity, out, count);
                                        });
        });
        require_all_equal(platforms, "platforms");
        const auto devices = ask_at_once<std::vector<pi_device>>(fixture, [&](unsigned) {
            return list_of<pi_device>("piDevicesGet", [&](uint32_t capacity, pi_device *out,
                                                          uint32_t *count) {
                return piDevicesGet(platforms[0].at(0), PI_DEVICE_TYPE_ALL, capacity, out, count);
            });
        });
        require_all_equal(devices, "devices");
        const pi_device device = devices[0].at(0);
        const auto names = ask_at_once<std::vector<char>>(fixture, [&](unsigned) {
            return get_info_list<char>(&piDeviceGetInfo, device, PI_DEVICE_INFO_NAME);
        });
        require_all_equal(names, "a device's name");
        ask_at_once<pi_result>(fixture, [&](unsigned) {
            uint64_t time = 0;
            const pi_result result = piDeviceGetGlobalTimestamps(device, &time, nullptr);
            if (result != PI_ERROR_UNSUPPORTED_FEATURE)
                require_success(result, "piDeviceGetGlobalTimestamps on many threads at first");
            return result;
        });
        std::vector<Context> contexts(threads);
        ask_at_once<int>(fixture, [&](unsigned thread) {
            auto desc = pi::desc<pi_context_desc>();
            desc.device_count = 1;
            desc.devices = &device;
            require_success(piContextCreate(platforms[0][0], &desc, contexts[thread].out()),
                            "piContextCreate on many threads at first");
            return 0;
        });
        const auto connections = ask_at_once<pi_memory_connection>(fixture, [&](unsigned) {
            return fixture.connection({device, contexts[0]}, {device, contexts[1]});
        });
        require_all_equal(connections, "a connection");
        const Bytes bytes = fixture.random_bytes(256);
        ask_at_once<int>(fixture, [&](unsigned thread) {
            const Place mine{device, contexts[thread]};
            const Queue queue = fixture.make_queue(mine);
            const Mem mem = fixture.make_buffer(mine, bytes.size());
            fixture.upload(queue, mem, bytes);
            fixture.require_contents(queue, mem, bytes, "the first buffer of a thread");
            return 0;
        });
    }
}

CONFORMANCE_TEST("connection", "many threads may be the first to ask for a connection") {
    const std::vector<pi_device> devices = fixture.devices();
    for (const pi_device device : devices) {
        const Context context = fixture.make_context({device});
        const Place there{device, context};
        const Place here = fixture.place();
        require_all_equal(ask_at_once<pi_memory_connection>(
                              fixture, [&](unsigned) { return fixture.connection(here, there); }),
                          "a connection");
    }
}

} // namespace
} // namespace pi::suite
