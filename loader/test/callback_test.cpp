// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callbacks that call other plugins: a blocking call is refused per thread, whichever plugin made
// the callback.
#include "objects.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace pi_test;

namespace {

/// A queue of a plugin's first device, and a command that waits for `gate`.
struct Place {
    std::string plugin;
    Owned<pi_context> context;
    Owned<pi_queue> queue;
    Owned<pi_event> gate, held;

    explicit Place(pi_plugin of) {
        uint64_t size = 0;
        OK(piPluginGetInfo(of, PI_PLUGIN_INFO_NAME, 0, nullptr, &size));
        plugin.resize(size);
        OK(piPluginGetInfo(of, PI_PLUGIN_INFO_NAME, size, plugin.data(), nullptr));
        plugin.resize(size - 1);
        INFO(plugin);
        pi_platform platform = nullptr;
        pi_device device = nullptr;
        OK(piPlatformsGet(of, 1, &platform, nullptr));
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 1, &device, nullptr));
        auto d = pi::desc<pi_context_desc>();
        d.device_count = 1;
        d.devices = &device;
        OK(piContextCreate(platform, &d, context.out()));
        OK(piQueueCreate(context, device, nullptr, queue.out()));
        hold();
    }
    void hold() {
        OK(piEventCreateHost(context, nullptr, gate.out()));
        const pi_event wait = gate;
        OK(piEnqueueBarrier(queue, nullptr, 1, &wait, held.out()));
    }
    void signal_gate() {
        OK(piEventSignalHost(gate, PI_SUCCESS));
        OK(piEventWait(held, patience));
    }
};

std::vector<Place> places(pi_loader loader) {
    std::vector<pi_plugin> plugins(16);
    uint32_t count = 0;
    OK(piPluginsGet(loader, 16, plugins.data(), &count));
    std::vector<Place> made;
    for (uint32_t i = 0; i < count; ++i)
        made.emplace_back(plugins[i]);
    return made;
}

/// `files`: separated by ':'.
std::vector<std::string> split(const std::string &files) {
    std::vector<std::string> all;
    std::istringstream stream(files);
    for (std::string file; std::getline(stream, file, ':');)
        all.push_back(file);
    return all;
}

Owned<pi_loader> load(const std::vector<std::string> &files) {
    std::vector<const char *> plugins;
    for (const std::string &file : files)
        plugins.push_back(file.c_str());
    auto d = pi::desc<pi_loader_desc>();
    d.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    d.plugins = plugins.data();
    d.plugin_count = static_cast<uint32_t>(plugins.size());
    const pi_loader_option options[] = {{"PI_CUDA_LIBRARY", PI_TEST_CUDA_LIBRARY},
                                        {"PI_SIM_MACHINE", PI_TEST_SIM_MACHINE}};
    d.options = options;
    d.option_count = 2;
    Owned<pi_loader> loader;
    OK(piLoaderCreate(&d, loader.out()));
    return loader;
}

/// The results of another plugin's blocking calls in a callback.
struct Answers {
    pi_event event;
    pi_queue queue;
    std::promise<std::vector<pi_result>> results;

    void ask() {
        // If they may block, the wait ends soon; the finish ends when the test signals the gate.
        const pi_result waited = piEventWait(event, 1'000'000);
        results.set_value({waited, piQueueFinish(queue)});
    }
};

/// The results in the callback or host function that `start` begins, in a separate thread, because
/// it may run there. The gate is signalled if the calls block.
template <class Start>
void check_refused(Place &other, Start &&start) {
    // Shared: a callback that still blocks after the test failed uses it, too.
    const auto answers = std::make_shared<Answers>(Answers{other.held, other.queue, {}});
    std::future<std::vector<pi_result>> results = answers->results.get_future();
    std::future<pi_result> started = std::async(
        std::launch::async, [&] { return start(new std::shared_ptr<Answers>(answers)); });
    if (results.wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
        other.signal_gate();
        FAIL("a blocking call inside a callback blocks");
    }
    OK(started.get());
    REQUIRE(results.get() == std::vector<pi_result>{PI_ERROR_WOULD_BLOCK, PI_ERROR_WOULD_BLOCK});
}

void ask(void *user_data) {
    const std::unique_ptr<std::shared_ptr<Answers>> answers(
        static_cast<std::shared_ptr<Answers> *>(user_data));
    (*answers)->ask();
}

} // namespace

TEST_CASE("inside a callback of any plugin blocking calls on objects of all plugins are refused") {
    const std::vector<std::string> plugins = split(PI_TEST_PLUGINS);
    const Owned<pi_loader> loader = load(plugins);
    std::vector<Place> all = places(loader);
    REQUIRE(all.size() == plugins.size());
    for (Place &one : all)
        for (Place &other : all) {
            INFO("a callback of " << one.plugin << " calls " << other.plugin);
            Owned<pi_event> event;
            OK(piEventCreateHost(one.context, nullptr, event.out()));
            check_refused(other, [&](void *answers) {
                const pi_result set = piEventSetCallback(
                    event, [](pi_event, pi_result, void *data) { ask(data); }, answers);
                return set ? set : piEventSignalHost(event, PI_SUCCESS);
            });
            // The callback is over: this thread may block again.
            CHECK(piEventWait(other.held, 1000) == PI_ERROR_TIMEOUT);
        }
    for (Place &one : all)
        one.signal_gate();
}

TEST_CASE("a host function is refused blocking calls by all plugins") {
    const Owned<pi_loader> loader = load(split(PI_TEST_PLUGINS));
    std::vector<Place> all = places(loader);
    for (Place &one : all)
        for (Place &other : all) {
            INFO("a host function of " << one.plugin << " calls " << other.plugin);
            Owned<pi_queue> queue;
            pi_device device = nullptr;
            OK(piQueueGetInfo(one.queue, PI_QUEUE_INFO_DEVICE, sizeof device, &device, nullptr));
            OK(piQueueCreate(one.context, device, nullptr, queue.out()));
            auto d = pi::desc<pi_host_function_desc>();
            d.function = ask;
            check_refused(other, [&](void *answers) {
                d.user_data = answers;
                const pi_result enqueued = piEnqueueHostFunction(queue, &d, 0, nullptr, nullptr);
                return enqueued ? enqueued : piQueueFlush(queue);
            });
            OK(piQueueFinish(queue));
        }
    for (Place &one : all)
        one.signal_gate();
}

TEST_CASE("a callback of one loader's plugin is one for the plugins of all loaders") {
    const Owned<pi_loader> loaders[] = {load({PI_TEST_HOST_PLUGIN}),
                                        load({PI_TEST_TEMPLATE_PLUGIN})};
    std::vector<Place> first = places(loaders[0]), second = places(loaders[1]);
    check_refused(second[0], [&](void *answers) {
        const pi_result set = piEventSetCallback(
            first[0].held, [](pi_event, pi_result, void *data) { ask(data); }, answers);
        return set ? set : piEventSignalHost(first[0].gate, PI_SUCCESS);
    });
    OK(piEventWait(first[0].held, patience));
    second[0].signal_gate();
}
