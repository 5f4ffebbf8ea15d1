// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "fixture.hpp"
#include "registry.hpp"

#include <set>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("platform", "the plugins of a loader are a list") {
    const auto plugins =
        check_list<pi_plugin>("piPluginsGet", [&](uint32_t capacity, pi_plugin *out, uint32_t *n) {
            return piPluginsGet(fixture.loader(), capacity, out, n);
        });
    require_equal(plugins.size(), 1u, "how many plugins a loader of one plugin has");
    require(plugins[0] == fixture.plugin(), "the loader's plugin is another one");
}

CONFORMANCE_TEST("platform", "the platforms of a plugin are a list, and always the same") {
    const auto ask = [&](uint32_t capacity, pi_platform *out, uint32_t *count) {
        return piPlatformsGet(fixture.plugin(), capacity, out, count);
    };
    const auto first = check_list<pi_platform>("piPlatformsGet", ask);
    const auto second = check_list<pi_platform>("piPlatformsGet", ask);
    require(first == second, "piPlatformsGet reports other platforms on the second call");
    require_equal(std::set<pi_platform>(first.begin(), first.end()).size(), first.size(),
                  "how many of the platforms differ");
}

CONFORMANCE_TEST("platform", "the device's platform is one of the plugin's") {
    uint32_t count = 0;
    require_success(piPlatformsGet(fixture.plugin(), 0, nullptr, &count), "piPlatformsGet");
    std::vector<pi_platform> platforms(count);
    require_success(piPlatformsGet(fixture.plugin(), count, platforms.data(), &count),
                    "piPlatformsGet");
    require_equal(std::count(platforms.begin(), platforms.end(), fixture.platform()), 1,
                  "how often the list of platforms has the device's platform");
}

CONFORMANCE_TEST("platform", "a plugin answers every info name by its type") {
    check_info(
        "piPluginGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piPluginGetInfo(fixture.plugin(), name, size, value, out_size);
        },
        plugin_info_names());
}

CONFORMANCE_TEST("platform", "a platform answers every info name by its type") {
    check_info(
        "piPlatformGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piPlatformGetInfo(fixture.platform(), name, size, value, out_size);
        },
        platform_info_names());
}

CONFORMANCE_TEST("platform", "a platform knows its plugin and a backend of the list") {
    require(get_info<pi_plugin>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_PLUGIN) ==
                fixture.plugin(),
            "PI_PLATFORM_INFO_PLUGIN is another plugin");
    const auto backend =
        get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND);
    require(backend >= PI_BACKEND_HOST && backend <= PI_BACKEND_METAL,
            "PI_PLATFORM_INFO_BACKEND is ", backend, ", which is not in the list");
}

CONFORMANCE_TEST("platform", "many threads may query platforms and devices at once") {
    const std::vector<pi_device> devices = fixture.devices();
    fixture.run_threads(8, [&](unsigned) {
        for (int round = 0; round < 50; ++round) {
            uint32_t count = 0;
            require_success(piPlatformsGet(fixture.plugin(), 0, nullptr, &count), "piPlatformsGet");
            require(fixture.devices() == devices, "piDevicesGet reports other devices");
        }
    });
}

CONFORMANCE_TEST("platform", "a translated option obeys the rules of info answers") {
    uint64_t size = poison<uint64_t>();
    const pi_result asked =
        piPlatformGetBackendOption(fixture.platform(), "-O2", 0, nullptr, &size);
    if (asked == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the plugin does not have piPlatformGetBackendOption");
    require_success(asked, "the size of the option -O2");
    require(size >= 1, "the size of the option -O2 is 0, without the terminating 0");
    std::string text(size, 'x');
    require_success(
        piPlatformGetBackendOption(fixture.platform(), "-O2", size, text.data(), nullptr),
        "the option -O2");
    require(text.back() == '\0', "the option -O2 does not end in 0");
    require_error(
        piPlatformGetBackendOption(fixture.platform(), "-O2", size - 1, text.data(), nullptr),
        PI_ERROR_INVALID_SIZE, "the option -O2 into one byte less");
    char none[16] = "poison";
    require_success(piPlatformGetBackendOption(fixture.platform(), "--no-such-option-anywhere",
                                               sizeof none, none, &size),
                    "an option without a counterpart");
    require(none[0] == '\0' && size == 1, "an option without a counterpart is \"", none,
            "\", should be empty");
    require_error(piPlatformGetBackendOption(fixture.platform(), nullptr, 0, nullptr, &size),
                  PI_ERROR_INVALID_NULL_POINTER, "the option NULL");
}

CONFORMANCE_TEST("platform", "an unknown extension is an invalid name") {
    const void *table = poison<const void *>();
    // A plugin without extensions may leave the slot empty, for which the loader answers.
    require_error(
        piPluginGetExtension(fixture.plugin(), "pi_suite_no_such_extension_v1", 8, &table),
        {PI_ERROR_INVALID_NAME, PI_ERROR_UNSUPPORTED_FEATURE}, "piPluginGetExtension");
    require(same(table, poison<const void *>()), "piPluginGetExtension failed, but wrote a table");
}

} // namespace
} // namespace pi::suite
