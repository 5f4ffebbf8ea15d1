// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

using namespace loader_test;

TEST_CASE("a loader lives until its last reference and then tears its plugins down") {
    CapturedLog log;
    Loader loader({.plugins = {plugin_file("small_good"), plugin_file("small_old")}, .log = &log});
    CHECK(piLoaderRetain(loader.get()) == PI_SUCCESS);
    CHECK(piLoaderRelease(loader.get()) == PI_SUCCESS);
    CHECK(log.count("teardown", PI_LOG_INFO) == 0);
    loader.reset();
    CHECK(log.count("small_good: teardown") == 1);
    CHECK(log.count("small_old: teardown") == 1);
    CHECK(log.count("parked") == 0);
}

TEST_CASE("two loaders hold two instances of one file, used in turn and released in either order") {
    const bool first_goes_first = GENERATE(true, false);
    CapturedLog logs[2];
    std::unique_ptr<Loader> loaders[2];
    for (int i = 0; i < 2; ++i)
        loaders[i] =
            std::make_unique<Loader>(Description{.plugins = {plugin_file("small_good")},
                                                 .options = {{"WHO", i == 0 ? "first" : "second"}},
                                                 .log = &logs[i]});
    CHECK(loaders[0]->plugins()[0] != loaders[1]->plugins()[0]);
    CHECK(loaders[0]->device() != loaders[1]->device());

    const auto who = [&](int i) {
        const void *value = nullptr;
        REQUIRE(piPluginGetExtension(loaders[i]->plugins()[0], "WHO", 0, &value) == PI_SUCCESS);
        return std::string(static_cast<const char *>(value));
    };
    pi_context contexts[2] = {};
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 2; ++i) {
            CHECK(who(i) == (i == 0 ? "first" : "second"));
            contexts[i] = loaders[i]->context();
        }
        for (int i = 0; i < 2; ++i)
            CHECK(piContextRelease(contexts[i]) == PI_SUCCESS);
    }
    const int gone = first_goes_first ? 0 : 1;
    const int left = 1 - gone;
    loaders[gone]->reset();
    CHECK(logs[gone].count("teardown", PI_LOG_INFO) == 1);
    CHECK(logs[left].count("teardown", PI_LOG_INFO) == 0);
    CHECK(who(left) == (left == 0 ? "first" : "second"));
    const pi_context context = loaders[left]->context();
    CHECK(piContextRelease(context) == PI_SUCCESS);
    loaders[left]->reset();
    CHECK(logs[left].count("teardown", PI_LOG_INFO) == 1);
    CHECK(logs[left].count("parked") == 0);
}

TEST_CASE("an instance whose objects outlive the wait is parked, and its handles stay usable") {
    CapturedLog log;
    auto loader = std::make_unique<Loader>(
        Description{.plugins = {plugin_file("small_good")}, .teardown_timeout = 10, .log = &log});
    const pi_platform platform = loader->platform();
    const pi_context context = loader->context();
    const pi_context second = loader->context();
    loader.reset();
    CHECK(log.count("small_good", PI_LOG_WARNING) == 1);
    CHECK(log.count("2 of its objects are still alive", PI_LOG_WARNING) == 1);
    CHECK(log.count("teardown", PI_LOG_INFO) == 0);

    // The application may free the callback's data: nothing is logged any more.
    const std::string before = log.all();
    CHECK(piContextRetain(context) == PI_SUCCESS);
    CHECK(piContextRelease(context) == PI_SUCCESS);
    pi_context third = nullptr;
    CHECK(piContextCreate(platform, nullptr, &third) == PI_SUCCESS);
    CHECK(piContextRelease(third) == PI_SUCCESS);
    CHECK(piContextRelease(context) == PI_SUCCESS);
    CHECK(piContextRelease(second) == PI_SUCCESS);
    CHECK(log.all() == before);
}

TEST_CASE("a release waits for the objects that are still in use") {
    CapturedLog log;
    auto loader = std::make_unique<Loader>(Description{
        .plugins = {plugin_file("small_good")}, .teardown_timeout = 30000, .log = &log});
    const pi_context context = loader->context();
    std::atomic<bool> released{false};
    std::thread releaser([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        released = true;
        piContextRelease(context);
    });
    loader.reset();
    CHECK(released);
    releaser.join();
    CHECK(log.count("teardown", PI_LOG_INFO) == 1);
    CHECK(log.count("parked") == 0);
}

TEST_CASE("loaders are created and released on many threads at once") {
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&good] {
            for (int round = 0; round < 10; ++round) {
                const std::string file = plugin_file("small_good");
                const char *const plugins[] = {file.c_str()};
                auto desc = pi::desc<pi_loader_desc>();
                desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
                desc.plugins = plugins;
                desc.plugin_count = 1;
                pi_loader loader = nullptr;
                uint32_t count = 0;
                if (piLoaderCreate(&desc, &loader) == PI_SUCCESS &&
                    piLoaderSelectDevices(loader, "small_good", 0, nullptr, &count) == PI_SUCCESS &&
                    count == 2 && piLoaderRelease(loader) == PI_SUCCESS)
                    ++good;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(good == 40);
}

TEST_CASE("a hundred loaders come and go on eight threads while plugins do") {
    const TemporaryFolder folder;
    const TemporaryFolder elsewhere;
    const std::vector<std::string> names{"small_good", "small_old", "small_fails", "small_throws"};
    std::atomic<bool> over{false};
    folder.copy_plugin("small_good");
    // Files appear and disappear as a whole, as packages install them.
    std::thread changes([&] {
        for (unsigned round = 0; round < 120; ++round) {
            const std::string &name = names[round % names.size()];
            const std::string file = folder.str("libpi_plugin_" + name + ".so");
            if (std::filesystem::exists(file)) {
                std::filesystem::remove(file);
            } else {
                std::filesystem::rename(elsewhere.copy_plugin(name, name + std::to_string(round)),
                                        file);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        over = true;
    });
    std::atomic<int> tried{0};
    std::atomic<int> good{0};
    std::atomic<int> loaded{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread)
        threads.emplace_back([&] {
            CapturedLog log;
            const Description description{.directories = {folder.str()}, .log = &log};
            for (int round = 0; round < 13 || !over; ++round) {
                ++tried;
                pi_loader loader = nullptr;
                if (description.try_create(&piLoaderCreate, &loader) != PI_SUCCESS)
                    continue;
                pi_plugin_report reports[8] = {};
                uint32_t count = 0;
                bool all = piLoaderGetReports(loader, 8, reports, &count) == PI_SUCCESS;
                for (uint32_t i = 0; i < std::min(count, 8U); ++i) {
                    uint32_t devices = 0;
                    if (reports[i].status == PI_PLUGIN_LOADED) {
                        ++loaded;
                        all &= piLoaderSelectDevices(loader, reports[i].name, 0, nullptr,
                                                     &devices) == PI_SUCCESS &&
                               devices == 2;
                    }
                }
                if (piLoaderRelease(loader) == PI_SUCCESS && all)
                    ++good;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    changes.join();
    CHECK(tried >= 8 * 13);
    CHECK(good == tried);
    CHECK(loaded > 0);
}
