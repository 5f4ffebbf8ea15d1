// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plugins that block until the test releases them.

#include "fixture.hpp"

#include <atomic>
#include <thread>

using namespace loader_test;
using Catch::Matchers::Matches;

namespace {

struct Hang {
    const char *plugin;
    const char *known_as; // the name that the loader knows at that time
    const char *function;
    bool ask_for_reports; // queries reports before devices
};

/// A program that uses a loader, in a separate thread. Asserts nothing.
struct Program {
    const Description &description;
    const bool ask_for_reports;
    pi_result created = PI_ERROR_INTERNAL;
    pi_result selected = PI_ERROR_INTERNAL;
    pi_result released = PI_ERROR_INTERNAL;
    uint32_t devices = 0;
    std::atomic<bool> ended{false};

    void run() {
        pi_loader loader = nullptr;
        created = description.try_create(piLoaderCreate, &loader);
        if (created == PI_SUCCESS) {
            uint32_t reports = 0;
            if (ask_for_reports)
                piLoaderGetReports(loader, 0, nullptr, &reports);
            selected = piLoaderSelectDevices(loader, nullptr, 0, nullptr, &devices);
            released = piLoaderRelease(loader);
        }
        ended = true;
    }
};

} // namespace

TEST_CASE("a plugin that hangs is named with its file and the function, and everything works once "
          "it returns") {
    const Hang hang = GENERATE(values<Hang>({
        {"small_hangs_in_dlopen", "libpi_plugin_small_hangs_in_dlopen.so", "dlopen", false},
        {"small_hangs_in_main", "libpi_plugin_small_hangs_in_main.so", "piPluginMain", false},
        {"small_hangs_in_platforms", "small_hangs_in_platforms", "piPlatformsGet", false},
        {"small_hangs_in_platforms", "small_hangs_in_platforms", "piPlatformsGet", true},
        {"small_hangs_in_devices", "small_hangs_in_devices", "piDevicesGet", false},
        {"small_hangs_in_teardown", "small_hangs_in_teardown", "teardown", false},
    }));
    const TemporaryFolder folder;
    const std::string file = folder.copy_plugin(hang.plugin);
    const std::string who = std::string("plugin ") + hang.known_as + " (" + file + ")";
    CapturedLog log;
    const Description description{
        .plugins = {plugin_file("small_good"), file, plugin_file("small_old")},
        .teardown_timeout = 30000,
        .stall_warning_delay = 10,
        .log = &log};
    Program program{description, hang.ask_for_reports};
    std::thread thread(&Program::run, &program);
    // No assertion until the thread is joined: a failed one would leave it running. On a slow
    // machine there may be warnings about other calls.
    const std::vector<std::string> warnings = log.wait_for(
        {"still waiting for " + who, std::string(" in ") + hang.function}, PI_LOG_WARNING, 2);
    const bool ended_too_early = program.ended;
    folder.write(std::filesystem::path(file).filename().string() + ".go", "go on");
    thread.join();

    INFO(log.all());
    CHECK_FALSE(ended_too_early);
    REQUIRE(warnings.size() >= 2); // the warning is repeated
    CHECK_THAT(warnings[0], Matches(".*\\) after [0-9.e+]+ s in " + std::string(hang.function)));
    CHECK(log.count(who + ": " + hang.function + " has returned, after", PI_LOG_WARNING) >= 1);
    CHECK(program.created == PI_SUCCESS);
    CHECK(program.selected == PI_SUCCESS);
    CHECK(program.released == PI_SUCCESS);
    CHECK(program.devices == 6);
    CHECK(log.count(": teardown", PI_LOG_INFO) == 3 + log.count("teardown has returned"));
}

TEST_CASE("a plugin that returns in time is not warned about, and nothing waits for the delay") {
    CapturedLog log;
    Loader loader(
        {.plugins = {plugin_file("small_good")}, .stall_warning_delay = UINT32_MAX, .log = &log});
    CHECK(loader.report().status == PI_PLUGIN_LOADED);
    uint32_t count = 0;
    CHECK(piLoaderSelectDevices(loader.get(), nullptr, 0, nullptr, &count) == PI_SUCCESS);
    CHECK(count == 2);
    loader.reset();
    CHECK(log.count("waiting") == 0);
    CHECK(log.count("has returned") == 0);
}

TEST_CASE("the reserved word of the loader's descriptor must be zero") {
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    desc.reserved = 5;
    pi_loader loader = nullptr;
    CHECK(piLoaderCreate(&desc, &loader) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK_THAT(last_error(), Catch::Contains("piLoaderCreate: desc->reserved is 5"));
    CHECK(loader == nullptr);
}
