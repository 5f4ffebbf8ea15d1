// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixture.hpp"

#include <map>

using namespace loader_test;

namespace {

/// Sets a variable while the object lives.
class Variable {
public:
    Variable(const char *name, const std::string &value) : name_(name) {
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable &) = delete;
    Variable &operator=(const Variable &) = delete;

private:
    const char *name_;
};

// The values by name; "" if not set.
std::map<std::string, std::string> environment(const Loader &loader) {
    uint32_t count = 0;
    REQUIRE(piLoaderGetEnvironment(loader.get(), 0, nullptr, &count) == PI_SUCCESS);
    std::vector<pi_environment_variable> rows(count);
    REQUIRE(piLoaderGetEnvironment(loader.get(), count, rows.data(), &count) == PI_SUCCESS);
    std::map<std::string, std::string> values;
    for (const pi_environment_variable &row : rows) {
        CHECK(std::string(row.type) != "");
        CHECK(std::string(row.description) != "");
        values[row.name] = row.value != nullptr ? row.value : "";
    }
    return values;
}

// An option as the plugin sees it.
std::string seen_by_plugin(const Loader &loader, const char *name) {
    const void *value = nullptr;
    const pi_result result = piPluginGetExtension(loader.plugins().at(0), name, 0, &value);
    return result == PI_SUCCESS ? static_cast<const char *>(value) : "";
}

constexpr uint64_t with_environment = PI_LOADER_NO_DEFAULT_SEARCH;

} // namespace

TEST_CASE("the list of variables has the loader's and the plugins'") {
    const Loader loader({.plugins = {plugin_file("small_good")}});
    const auto values = environment(loader);
    for (const char *name :
         {"PI_PLUGINS", "PI_PLUGIN_PATH", "PI_DEVICE_SELECTOR", "PI_LAYERS", "PI_FAULT",
          "PI_TRACE_FILE", "PI_LOG", "PI_HOST_THREADS", "PI_CUDA_LIBRARY", "PI_NVRTC_LIBRARY",
          "PI_NVML_LIBRARY", "PI_LEVEL_ZERO_LIBRARY", "PI_OPENCL_LIBRARY", "PI_OPENCL_PLATFORMS",
          "PI_SIM_MACHINE", "PI_VERIFIED_FILE"})
        CHECK(values.count(name) == 1);
}

TEST_CASE("a plugin sees a variable, and an option of the descriptor overrides it") {
    const Variable variable("PI_OPENCL_PLATFORMS", "from the environment");
    const Loader plain({.plugins = {plugin_file("small_good")}, .flags = with_environment});
    CHECK(environment(plain)["PI_OPENCL_PLATFORMS"] == "from the environment");
    CHECK(seen_by_plugin(plain, "PI_OPENCL_PLATFORMS") == "from the environment");

    const Loader given({.plugins = {plugin_file("small_good")},
                        .options = {{"PI_OPENCL_PLATFORMS", "given"}},
                        .flags = with_environment});
    CHECK(seen_by_plugin(given, "PI_OPENCL_PLATFORMS") == "given");
    CHECK(environment(given)["PI_OPENCL_PLATFORMS"] == "given");

    const Loader hidden({.plugins = {plugin_file("small_good")},
                         .options = {{"PI_OPENCL_PLATFORMS", ""}},
                         .flags = with_environment});
    CHECK(seen_by_plugin(hidden, "PI_OPENCL_PLATFORMS") == "");
}

TEST_CASE("a plugin sees its own options, but no unlisted variable that is not its own") {
    const Variable variable("PI_SOMETHING_ELSE", "secret");
    const Loader loader({.plugins = {plugin_file("small_good")},
                         .options = {{"VENDOR_OPTION", "yes"}},
                         .flags = with_environment});
    CHECK(seen_by_plugin(loader, "PI_SOMETHING_ELSE") == "");
    CHECK(seen_by_plugin(loader, "VENDOR_OPTION") == "yes");
    CHECK(seen_by_plugin(loader, "PATH") == "");
}

TEST_CASE("a plugin sees the variables that begin with its name, and no other plugin does") {
    const Variable own("PI_SMALL_GOOD_MODE", "fast");
    const Variable empty("PI_SMALL_GOOD_EMPTY", "");
    const Variable nothing("PI_SMALL_GOOD_", "no option");
    const Variable joined("PI_SMALL_GOODMODE", "of another");
    const Variable lower("PI_small_good_MODE", "not in capitals");
    const Variable bare("SMALL_GOOD_MODE", "without PI_");
    const Loader loader({.plugins = {plugin_file("small_good")}, .flags = with_environment});
    CHECK(seen_by_plugin(loader, "PI_SMALL_GOOD_MODE") == "fast");
    for (const char *name : {"PI_SMALL_GOOD_EMPTY", "PI_SMALL_GOOD_", "PI_SMALL_GOODMODE",
                             "PI_small_good_MODE", "SMALL_GOOD_MODE", "PI_SMALL_GOOD_OTHER"}) {
        INFO(name);
        CHECK(seen_by_plugin(loader, name) == "");
    }
    const Loader other({.plugins = {plugin_file("small_newer")}, .flags = with_environment});
    CHECK(seen_by_plugin(other, "PI_SMALL_GOOD_MODE") == "");
    const Loader given({.plugins = {plugin_file("small_good")},
                        .options = {{"PI_SMALL_GOOD_MODE", "given"}},
                        .flags = with_environment});
    CHECK(seen_by_plugin(given, "PI_SMALL_GOOD_MODE") == "given");
    const Loader hidden({.plugins = {plugin_file("small_good")},
                         .options = {{"PI_SMALL_GOOD_MODE", ""}},
                         .flags = with_environment});
    CHECK(seen_by_plugin(hidden, "PI_SMALL_GOOD_MODE") == "");
    const Loader ignoring({.plugins = {plugin_file("small_good")},
                           .flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH});
    CHECK(seen_by_plugin(ignoring, "PI_SMALL_GOOD_MODE") == "");
}

TEST_CASE("the environment is read only when the loader is created") {
    Loader loader({.plugins = {plugin_file("small_good")}, .flags = with_environment});
    const Variable variable("PI_OPENCL_PLATFORMS", "too late");
    const Variable own("PI_SMALL_GOOD_MODE", "too late");
    CHECK(seen_by_plugin(loader, "PI_OPENCL_PLATFORMS") == "");
    CHECK(seen_by_plugin(loader, "PI_SMALL_GOOD_MODE") == "");
}

TEST_CASE("a loader that ignores the environment reads none of it") {
    const Variable plugins("PI_PLUGINS", plugin_file("small_old"));
    const Variable option("PI_OPENCL_PLATFORMS", "ignored");
    const Loader loader({.plugins = {plugin_file("small_good")},
                         .flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH});
    CHECK(loader.plugins().size() == 1);
    CHECK(seen_by_plugin(loader, "PI_OPENCL_PLATFORMS") == "");
}

TEST_CASE("a malformed variable is a warning that names it, its value and what is allowed") {
    const Variable log_variable("PI_LOG", "verbose");
    const Variable threads("PI_HOST_THREADS", "-3");
    CapturedLog log;
    const Loader loader(
        {.plugins = {plugin_file("small_good")}, .flags = with_environment, .log = &log});
    CHECK(
        log.count("PI_LOG is \"verbose\", should be one of trace, debug, info, warning, error, off",
                  PI_LOG_WARNING) == 1);
    CHECK(log.count("PI_HOST_THREADS is \"-3\", should be a number from 1 to 4096",
                    PI_LOG_WARNING) == 1);
    CHECK(environment(loader)["PI_LOG"] == "");
    CHECK(seen_by_plugin(loader, "PI_HOST_THREADS") == "");
}

TEST_CASE("PI_PLUGINS and PI_PLUGIN_PATH are searched in this order, after the descriptor's") {
    const TemporaryFolder folder;
    folder.copy_plugin("small_good");
    folder.copy_plugin("small_newer");
    const Variable path("PI_PLUGIN_PATH", "/nonexistent:" + folder.str());
    const Variable plugins("PI_PLUGINS", "small_newer, " + plugin_file("small_lies"));
    const Loader loader({.plugins = {plugin_file("small_old")}, .flags = 0});
    std::vector<std::string> names;
    for (pi_plugin plugin : loader.plugins())
        names.push_back(plugin_name(plugin));
    REQUIRE(names.size() >= 4);
    names.resize(4); // plugins next to the loader may follow
    CHECK(names ==
          std::vector<std::string>{"small_old", "small_newer", "small_lies", "small_good"});
}

TEST_CASE("an unknown layer is a warning that names it, and the plugins work without it") {
    const Variable layers("PI_LAYERS", "nonsense");
    CapturedLog log;
    const Loader loader(
        {.plugins = {plugin_file("small_good")}, .flags = with_environment, .log = &log});
    CHECK(log.count("layer \"nonsense\" does not exist", PI_LOG_WARNING) == 1);
    CHECK(loader.plugins().size() == 1);
}
