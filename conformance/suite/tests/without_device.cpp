// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin without its driver, and a device that is lost. Both take another loader, whose options
// name another driver or machine.

#include "checks.hpp"
#include "kernels.hpp"
#include "registry.hpp"
#include "second_loader.hpp"

#include "../../support/temporary.hpp"

#include <algorithm>
#include <cctype>
#include <sys/inotify.h>
#include <unistd.h>

namespace pi::suite {
namespace {

// ----- No driver -----

/// Sees whether a file is opened.
class OpenWatch {
public:
    explicit OpenWatch(const std::string &path) : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        if (events_ < 0 || inotify_add_watch(events_, path.c_str(), IN_OPEN) < 0)
            skip("the system does not tell who opens a file");
    }
    OpenWatch(const OpenWatch &) = delete;
    OpenWatch &operator=(const OpenWatch &) = delete;
    ~OpenWatch() { close(events_); }
    /// Since the last call.
    bool was_opened() const {
        char buffer[4096];
        return read(events_, buffer, sizeof buffer) > 0;
    }

private:
    const int events_;
};

// "PI_OPENCL_LIBRARY", for the plugin "opencl".
std::string variable_of_library(Fixture &fixture) {
    std::string name = "PI_" + text_or(&piPluginGetInfo, fixture.plugin(), PI_PLUGIN_INFO_NAME, "");
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return name + "_LIBRARY";
}

void require_unavailable(pi_plugin plugin, const std::string &path, const char *when) {
    uint32_t count = poison<uint32_t>();
    require_error(piPlatformsGet(plugin, 0, nullptr, &count), PI_ERROR_UNAVAILABLE,
                  "piPlatformsGet of a plugin without its driver", when);
    require_text_names("piPlatformsGet of a plugin without its driver", {path});
    require_equal(count, poison<uint32_t>(), "the count of platforms after a failure");
}

CONFORMANCE_TEST("platform", "the first list of platforms opens the driver; without one the plugin "
                             "is unavailable, says why, and stays usable") {
    const pi_test::TextFile no_driver("this is no library");
    const std::string variable = variable_of_library(fixture);
    const OpenWatch watch(no_driver.path());
    const Owner<pi_loader> loader =
        make_loader(fixture, {{variable.c_str(), no_driver.path().c_str()}});
    pi_plugin plugin = nullptr;
    require_success(piPluginsGet(loader, 1, &plugin, nullptr), "piPluginsGet");
    require(!watch.was_opened(), "the plugin opens its driver before the first piPlatformsGet");
    uint32_t count = 0;
    if (piPlatformsGet(plugin, 0, nullptr, &count) == PI_SUCCESS)
        skip(variable + " does not name a driver of the plugin");
    require(watch.was_opened(), "piPlatformsGet failed without opening ", no_driver.path());
    require_unavailable(plugin, no_driver.path(), "");
    // In between its other functions work.
    require_equal(text_or(&piPluginGetInfo, plugin, PI_PLUGIN_INFO_NAME, ""),
                  text_or(&piPluginGetInfo, fixture.plugin(), PI_PLUGIN_INFO_NAME, ""),
                  "the name of a plugin without its driver");
    const void *table = nullptr;
    require_error(piPluginGetExtension(plugin, "no_such_extension", 8, &table),
                  PI_ERROR_INVALID_NAME, "piPluginGetExtension of a plugin without its driver");
    require_unavailable(plugin, no_driver.path(), ", called again");
}

// ----- A lost device -----

constexpr const char *losing_machine = R"({"pi_machine": 1, "name": "losing", "devices": [
    {"name": "lost", "type": "gpu", "lost_at": "4 us",
     "scopes": [{"name": "global", "capacity": "1 MiB"}]},
    {"name": "left", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
    "links": [{"from": "host", "to": "lost", "bandwidth": "1 GB/s"},
              {"from": "host", "to": "left", "bandwidth": "1 GB/s"}]})";

CONFORMANCE_TEST("errors",
                 "a lost device fails its commands and creations, and no other device's") {
    if (text_or(&piPluginGetInfo, fixture.plugin(), PI_PLUGIN_INFO_NAME, "") != "sim")
        skip("no device of the plugin can be lost at will");
    const pi_test::TextFile machine(losing_machine);
    const Owner<pi_loader> loader =
        make_loader(fixture, {{"PI_SIM_MACHINE", machine.path().c_str()}});
    pi_device devices[2]{};
    require_success(piLoaderSelectDevices(loader, "*", 2, devices, nullptr), "selecting devices");
    const Context both = fixture.make_context({devices[0], devices[1]});
    const Place lost{devices[0], both}, left{devices[1], both};
    const Queue queue = fixture.make_queue(lost), other_queue = fixture.make_queue(left);
    const Mem mem = fixture.make_buffer(lost, 64), other = fixture.make_buffer(left, 64);
    static Bytes bytes(64);
    const Event gate = fixture.make_host_event(both);
    const Event held = fixture.write(queue, mem, 0, bytes, {gate});
    // The time until the loss passes.
    const Mem large = fixture.make_buffer(left, 8000);
    fixture.upload(other_queue, large, Bytes(8000));
    fixture.signal(gate);
    fixture.require_result(held, PI_ERROR_DEVICE_LOST, "a command that a lost device has begun");
    for (int round = 0; round < 2; ++round) {
        // A command may be refused, or fail.
        for (const bool writes : {true, false}) {
            Event event;
            const pi_region region = linear(0, 0, bytes.size());
            auto write = pi::desc<pi_buffer_write_desc>();
            write.mem = mem;
            write.host_ptr = bytes.data();
            write.region_count = 1;
            write.regions = &region;
            const pi_result result =
                writes ? try_enqueue(queue, write, {}, event.out())
                       : try_enqueue(queue, pi::desc<pi_barrier_desc>(), {}, event.out());
            if (result == PI_SUCCESS)
                fixture.require_result(event, PI_ERROR_DEVICE_LOST, "a command of a lost device");
            else
                require_error(result, PI_ERROR_DEVICE_LOST, "a command of a lost device");
        }
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = 64;
        require_untouched<pi_mem>(
            "a buffer of a lost device", {PI_ERROR_DEVICE_LOST},
            [&](pi_mem *out) { return piMemBufferCreate(both, lost.device, &desc, out); });
        require_untouched<pi_queue>(
            "a queue of a lost device", {PI_ERROR_DEVICE_LOST},
            [&](pi_queue *out) { return piQueueCreate(both, lost.device, nullptr, out); });
        // Other devices of its contexts work, old objects and new ones.
        fixture.upload(other_queue, other, bytes);
        fixture.require_contents(fixture.make_queue(left), other, bytes,
                                 "a buffer of a device beside a lost one");
    }
}

} // namespace
} // namespace pi::suite
