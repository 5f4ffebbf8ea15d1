// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "fixture.hpp"
#include "registry.hpp"

#include <pi/pi_verification_kernel.h>

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
    check_answer("piPlatformGetBackendOption of -O2",
                 [&](uint32_t, uint64_t room, void *value, uint64_t *out_size) {
                     return piPlatformGetBackendOption(fixture.platform(), "-O2", room,
                                                       static_cast<char *>(value), out_size);
                 },
                 {0, "-O2", string_info, true});
    char none[16] = "poison";
    require_success(piPlatformGetBackendOption(fixture.platform(), "--no-such-option-anywhere",
                                               sizeof none, none, &size),
                    "an option without a counterpart");
    require(none[0] == '\0' && size == 1, "an option without a counterpart is \"", none,
            "\", should be empty");
    require_error(piPlatformGetBackendOption(fixture.platform(), nullptr, 0, nullptr, &size),
                  PI_ERROR_INVALID_NULL_POINTER, "the option NULL");
}

CONFORMANCE_TEST("platform", "names and versions of plugin and platform are not empty") {
    pi_plugin_report report{};
    require_success(piLoaderGetReports(fixture.loader(), 1, &report, nullptr),
                    "piLoaderGetReports");
    require_equal(text_or(&piPluginGetInfo, fixture.plugin(), PI_PLUGIN_INFO_NAME, ""),
                  std::string(report.name), "PI_PLUGIN_INFO_NAME, as in the loader's report,");
    require(!text_or(&piPluginGetInfo, fixture.plugin(), PI_PLUGIN_INFO_VERSION, "").empty(),
            "PI_PLUGIN_INFO_VERSION is empty");
    for (const pi_platform_info name :
         {PI_PLATFORM_INFO_NAME, PI_PLATFORM_INFO_VENDOR, PI_PLATFORM_INFO_VERSION})
        require(!text_or(&piPlatformGetInfo, fixture.platform(), name, "-").empty(),
                info_named(&piPlatformGetInfo, name),
                " is empty, should be PI_ERROR_UNSUPPORTED_FEATURE if it is not known");
    for (const pi_device_info name : {PI_DEVICE_INFO_NAME, PI_DEVICE_INFO_VENDOR,
                                      PI_DEVICE_INFO_VERSION, PI_DEVICE_INFO_DRIVER_VERSION})
        require(!text_or(&piDeviceGetInfo, fixture.device(), name, "-").empty(),
                info_named(&piDeviceGetInfo, name),
                " is empty, should be PI_ERROR_UNSUPPORTED_FEATURE if it is not known");
}

CONFORMANCE_TEST("platform", "a plugin's capabilities are bits of the list") {
    const auto mask =
        get_info<uint64_t>(&piPluginGetInfo, fixture.plugin(), PI_PLUGIN_INFO_CAPABILITIES);
    constexpr uint64_t known = 2 * PI_CAPABILITY_NATIVE - 1;
    require((mask & ~known) == 0, "PI_PLUGIN_INFO_CAPABILITIES is ", hex(mask), ", known are ",
            hex(known));
}

CONFORMANCE_TEST("platform", "a plugin's backend is that of its native handles") {
    const auto backend =
        get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND);
    pi_native_handle handle{};
    const pi_result asked = piDeviceGetNativeHandle(fixture.device(), &handle);
    if (asked == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the device has no native handle");
    require_success(asked, "piDeviceGetNativeHandle");
    const struct {
        uint32_t backend;
        pi_native_type type;
    } types[] = {{PI_BACKEND_OPENCL, PI_NATIVE_OPENCL},
                 {PI_BACKEND_CUDA, PI_NATIVE_CUDA_DEVICE},
                 {PI_BACKEND_LEVEL_ZERO, PI_NATIVE_LEVEL_ZERO}};
    for (const auto &row : types)
        require_equal(
            handle.type == row.type, backend == row.backend,
            join("whether a device of backend ", backend, " has a handle of type ", row.type));
}

CONFORMANCE_TEST("platform", "an unknown extension is an invalid name") {
    const auto ask = [&](const char *name, uint64_t min_size, const void **out) {
        return piPluginGetExtension(fixture.plugin(), name, min_size, out);
    };
    const void *known = nullptr;
    const bool has_one = ask(PI_VERIFICATION_KERNEL_V1, 8, &known) == PI_SUCCESS;
    const std::string prefix(PI_VERIFICATION_KERNEL_V1, sizeof PI_VERIFICATION_KERNEL_V1 - 2);
    const std::string longer = PI_VERIFICATION_KERNEL_V1 "0";
    for (const std::string &name :
         {std::string("pi_suite_no_such_extension_v1"), std::string(), prefix, longer}) {
        // A plugin without extensions may leave the slot empty, for which the loader answers.
        require_untouched<const void *>(
            "the extension \"" + name + "\"",
            {PI_ERROR_INVALID_NAME, has_one ? PI_ERROR_INVALID_NAME : PI_ERROR_UNSUPPORTED_FEATURE},
            [&](const void **out) { return ask(name.c_str(), 8, out); });
    }
    if (!has_one)
        return;
    require_untouched<const void *>("an extension without a name", {PI_ERROR_INVALID_NULL_POINTER},
                                    [&](const void **out) { return ask(nullptr, 8, out); });
    require_error(ask(PI_VERIFICATION_KERNEL_V1, 8, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "an extension with out_table NULL");
}

CONFORMANCE_TEST("platform", "an extension's table begins with its size, and stays as it is") {
    const auto ask = [&](uint64_t min_size, const void **out) {
        return piPluginGetExtension(fixture.plugin(), PI_VERIFICATION_KERNEL_V1, min_size, out);
    };
    const void *table = nullptr;
    constexpr uint64_t least = sizeof(pi_verification_kernel_v1);
    if (ask(8, &table) != PI_SUCCESS)
        skip("the plugin does not have " PI_VERIFICATION_KERNEL_V1);
    require(table != nullptr, "the extension's table is NULL");
    const uint64_t size = *static_cast<const uint64_t *>(table);
    require(size >= least, "the extension's table has a size of ", size, ", at least ", least,
            " were asked for");
    for (const uint64_t larger : {size + 1, size + (uint64_t{1} << 32), UINT64_MAX})
        require_untouched<const void *>(join("an extension of at least ", larger, " bytes"),
                                        {PI_ERROR_UNSUPPORTED_FEATURE},
                                        [&](const void **out) { return ask(larger, out); });
    fixture.make_buffer(64);
    for (const uint64_t smaller : {size, uint64_t{8}, uint64_t{0}}) {
        const void *again = nullptr;
        require_success(ask(smaller, &again), "the same extension again");
        require_equal(again, table, "the extension's table on another call");
    }
    require_equal(*static_cast<const uint64_t *>(table), size, "the size in the extension's table");
}

} // namespace
} // namespace pi::suite
