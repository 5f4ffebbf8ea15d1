// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixture.hpp"

using namespace loader_test;
using Catch::Matchers::Contains;

namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

struct Devices {
    Loader loader;
    explicit Devices(Options options = {})
        : loader(Description{.plugins = {plugin_file("small_good"), plugin_file("small_old"),
                                         plugin_file("small_platforms_unavailable")},
                             .options = std::move(options)}) {}

    std::string name(pi_device device) const {
        char text[64] = {};
        REQUIRE(piLoaderGetDeviceSelector(loader.get(), device, sizeof text, text, nullptr) ==
                PI_SUCCESS);
        return text;
    }
    // The selected devices by their full selectors.
    std::string select(const char *selector) const {
        pi_device devices[16] = {};
        uint32_t count = 0;
        const pi_result result = piLoaderSelectDevices(loader.get(), selector, 16, devices, &count);
        INFO(last_error());
        REQUIRE(result == PI_SUCCESS);
        std::string text;
        for (uint32_t i = 0; i < count; ++i)
            text.append(i > 0 ? " " : "").append(name(devices[i]));
        return text;
    }
};

const char *const all = "small_good:0:0 small_good:0:1 small_old:0:0 small_old:0:1";

} // namespace

TEST_CASE("a selector names devices in its own order, each once") {
    const Devices devices;
    CHECK(devices.select(nullptr) == all);
    CHECK(devices.select("*") == all);
    CHECK(devices.select("*:*:*") == all);
    CHECK(devices.select("small_old") == "small_old:0:0 small_old:0:1");
    CHECK(devices.select("small_old:0:1,small_good:*:1") == "small_old:0:1 small_good:0:1");
    CHECK(devices.select(" small_old : 0 , small_old:0:0") == "small_old:0:0 small_old:0:1");
    CHECK(devices.select("*:0:1,*") == "small_good:0:1 small_old:0:1 small_good:0:0 small_old:0:0");
}

TEST_CASE("without a selector the option decides, and a given one wins over it") {
    const Devices devices(Options{{"PI_DEVICE_SELECTOR", "small_old:0:1"}});
    CHECK(devices.select(nullptr) == "small_old:0:1");
    CHECK(devices.select("small_good:0:0") == "small_good:0:0");
}

TEST_CASE("only the plugins that a selector names are queried for devices") {
    CapturedLog log;
    const auto [option, selector, good, old] =
        GENERATE(table<const char *, const char *, bool, bool>({
            {"small_old", nullptr, false, true},
            {"", "small_old:0:1", false, true},
            {"small_old", "small_good", true, false}, // the argument has precedence
            {"", "small_good,small_old", true, true},
            {"", "small_old,*:0:1", true, true},
            {"", nullptr, true, true},
        }));
    CAPTURE(option, selector);
    const Loader loader({.plugins = {plugin_file("small_good"), plugin_file("small_old")},
                         .options = {{"PI_DEVICE_SELECTOR", option}},
                         .log = &log});
    pi_device device = nullptr;
    REQUIRE(piLoaderSelectDevices(loader.get(), selector, 1, &device, nullptr) == PI_SUCCESS);
    CHECK((log.count("small_good: asked for its platforms") != 0) == good);
    CHECK((log.count("small_old: asked for its platforms") != 0) == old);

    // A device's selector does not need other plugins, either.
    REQUIRE(piLoaderGetDeviceSelector(loader.get(), device, 0, nullptr, nullptr) == PI_SUCCESS);
    CHECK((log.count("small_good: asked for its platforms") != 0) == good);
    CHECK((log.count("small_old: asked for its platforms") != 0) == old);
}

TEST_CASE("an invalid selector from the environment is named in the error") {
    const Devices devices(Options{{"PI_DEVICE_SELECTOR", "small_good:first"}});
    CHECK(piLoaderSelectDevices(devices.loader.get(), nullptr, 0, nullptr, nullptr) ==
          PI_ERROR_INVALID_VALUE);
    CHECK_THAT(last_error(), Contains("PI_DEVICE_SELECTOR \"small_good:first\": ") &&
                                 Contains("the platform is \"first\""));
}

TEST_CASE("an element that names no device is refused, and the text lists those that exist") {
    const Devices devices;
    const char *selector = GENERATE("small_good:1", "small_good:0:2", "opencl", "small_good,nobody",
                                    "small_platforms_unavailable");
    uint32_t count = 99;
    CHECK(piLoaderSelectDevices(devices.loader.get(), selector, 0, nullptr, &count) ==
          PI_ERROR_INVALID_NAME);
    CHECK_THAT(last_error(), Contains("small_good:0:0, small_good:0:1, small_old:0:0"));
    CHECK(count == 99);
}

TEST_CASE("if a plugin fails to list its devices, the text says so") {
    const auto [fault, reason] = GENERATE(table<const char *, const char *>({
        {"piPlatformsGet:1=fail(BACKEND)", "plugin small_good: piPlatformsGet: "},
        {"piPlatformsGet:2=fail(BACKEND)", "plugin small_good: piPlatformsGet: "},
        {"piDevicesGet:1=fail(BACKEND)", "plugin small_good: piDevicesGet: "},
        {"piDevicesGet:2=fail(BACKEND)", "plugin small_good: piDevicesGet: "},
    }));
    CAPTURE(fault);
    const Loader loader({.plugins = {plugin_file("small_good")},
                         .layers = {"fault"},
                         .options = {{"PI_FAULT", fault}}});
    pi_device device = nullptr;
    CHECK(piLoaderSelectDevices(loader.get(), "small_good", 1, &device, nullptr) ==
          PI_ERROR_INVALID_NAME);
    CHECK_THAT(last_error(), Contains("\"small_good\" names no device (" + std::string(reason)) &&
                                 Contains("failure injected by the layer fault"));
}

TEST_CASE("a device whose plugin fails to list it has no selector for the plugin's reason") {
    const Loader loader({.plugins = {plugin_file("small_good")},
                         .layers = {"fault"},
                         .options = {{"PI_FAULT", "piDevicesGet:3=fail(DEVICE_LOST)"}}});
    pi_device device = nullptr;
    REQUIRE(piLoaderSelectDevices(loader.get(), "small_good", 1, &device, nullptr) == PI_SUCCESS);
    char text[64] = {};
    CHECK(piLoaderGetDeviceSelector(loader.get(), device, sizeof text, text, nullptr) ==
          PI_ERROR_DEVICE_LOST);
    CHECK_THAT(last_error(),
               Contains("piLoaderGetDeviceSelector: plugin small_good: piDevicesGet"));
    CHECK(piLoaderGetDeviceSelector(loader.get(), device, sizeof text, text, nullptr) ==
          PI_SUCCESS);
}

TEST_CASE("an invalid selector is refused with the wrong part") {
    const Devices devices;
    const auto [selector, part] = GENERATE(table<const char *, const char *>({
        {"", "an element is empty"},
        {"small_good,", "an element is empty"},
        {"small_good:x", "the platform is \"x\""},
        {"small_good:0:-1", "the device is \"-1\""},
        {"small_good:0:0:0", "has 4 parts"},
        {"small_good:", "the platform is \"\""},
        {"small_good:0:99999999999", "the device is \"99999999999\""},
        {"Small Good", "begins with \"Small Good\""},
    }));
    CAPTURE(selector);
    CHECK(piLoaderSelectDevices(devices.loader.get(), selector, 0, nullptr, nullptr) ==
          PI_ERROR_INVALID_VALUE);
    CHECK_THAT(last_error(), Contains(part));
}

TEST_CASE("a device's selector follows the info convention and is refused for other devices than "
          "root devices") {
    const Devices devices;
    const pi_device device = devices.loader.device();
    uint64_t size = 0;
    CHECK(piLoaderGetDeviceSelector(devices.loader.get(), device, 0, nullptr, &size) == PI_SUCCESS);
    CHECK(size == sizeof "small_good:0:0");
    char text[8] = "before";
    CHECK(piLoaderGetDeviceSelector(devices.loader.get(), device, sizeof text, text, &size) ==
          PI_ERROR_INVALID_SIZE);
    CHECK(std::string(text) == "before");
    CHECK(piLoaderGetDeviceSelector(devices.loader.get(), nullptr, 0, nullptr, &size) ==
          PI_ERROR_INVALID_DEVICE);

    const Devices others;
    CHECK(piLoaderGetDeviceSelector(devices.loader.get(), others.loader.device(), 0, nullptr,
                                    &size) == PI_ERROR_INVALID_DEVICE);
}

TEST_CASE("a plugin that lies about its devices is warned about, and the true ones are used") {
    CapturedLog log;
    const Loader loader(
        {.plugins = {plugin_file("small_lies"), plugin_file("small_good")}, .log = &log});
    pi_device devices[16] = {};
    uint32_t count = 0;
    REQUIRE(piLoaderSelectDevices(loader.get(), nullptr, 16, devices, &count) == PI_SUCCESS);
    CHECK(count == 3);
    CHECK(devices[0] == loader.device(0));
    CHECK(log.count("piDevicesGet reports 4294967295 handles", PI_LOG_WARNING) == 1);
    CHECK(log.count("do not belong to it", PI_LOG_WARNING) == 1);
    check_works(loader, loader.plugins().at(1));
}
