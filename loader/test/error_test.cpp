// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixture.hpp"

#include <thread>

using namespace loader_test;

namespace {

struct Handle {
    pi_result code;
    const char *name;
};

// The error and the type's name, for each type of a function's first argument.
template <typename Type>
constexpr Handle handle_of = {PI_SUCCESS, "no handle"};
template <>
constexpr Handle handle_of<pi_plugin> = {PI_ERROR_INVALID_PLUGIN, "plugin"};
template <>
constexpr Handle handle_of<pi_platform> = {PI_ERROR_INVALID_PLATFORM, "platform"};
template <>
constexpr Handle handle_of<pi_device> = {PI_ERROR_INVALID_DEVICE, "device"};
template <>
constexpr Handle handle_of<pi_context> = {PI_ERROR_INVALID_CONTEXT, "context"};
template <>
constexpr Handle handle_of<pi_queue> = {PI_ERROR_INVALID_QUEUE, "queue"};
template <>
constexpr Handle handle_of<pi_mem> = {PI_ERROR_INVALID_MEM_OBJECT, "mem"};
template <>
constexpr Handle handle_of<pi_event> = {PI_ERROR_INVALID_EVENT, "event"};
template <>
constexpr Handle handle_of<pi_program> = {PI_ERROR_INVALID_PROGRAM, "program"};
template <>
constexpr Handle handle_of<pi_kernel> = {PI_ERROR_INVALID_KERNEL, "kernel"};
template <>
constexpr Handle handle_of<pi_sampler> = {PI_ERROR_INVALID_SAMPLER, "sampler"};
template <>
constexpr Handle handle_of<pi_usm_pool> = {PI_ERROR_INVALID_USM_POOL, "pool"};

struct Outcome {
    pi_result code;
    Handle expected;
};

// Calls a function with zeros only.
template <typename First, typename... Rest>
Outcome call_with_zeros(pi_result (*function)(First, Rest...)) {
    return {function(First{}, Rest{}...), handle_of<First>};
}

// Calls a function with a first handle and zeros.
template <typename First, typename... Rest>
pi_result call_with_first(pi_result (*function)(First, Rest...), void *first) {
    return function(static_cast<First>(first), Rest{}...);
}

// Links only if every function of the list exists.
struct Row {
    const char *name;
    const char *group;
    const char *needs;
    Outcome (*with_zeros)();
    pi_result (*with_first)(void *first);
};
constexpr Row rows[] = {
#define PI_FUNCTION(name, group, needs, since)                                                     \
    {#name, #group, #needs, [] { return call_with_zeros(&::name); },                               \
     [](void *first) { return call_with_first(&::name, first); }},
#include <pi/pi_functions.def>
};

} // namespace

TEST_CASE("a null handle is refused by every function, by its kind and with the function's name") {
    for (const Row &row : rows) {
        const Outcome outcome = row.with_zeros();
        CAPTURE(row.name);
        CHECK(outcome.code == outcome.expected.code);
        const bool connection = std::string(row.name).find("MemoryConnection") != std::string::npos;
        CHECK(last_error() == std::string(row.name) + ": " + (connection ? "src_" : "") +
                                  outcome.expected.name + " is NULL");
        pi_result code = PI_SUCCESS;
        CHECK(piGetLastError(&code, nullptr) == PI_SUCCESS);
        CHECK(code == outcome.code);
    }
}

TEST_CASE("a missing function is refused with its name and the plugin's") {
    const Loader loader({.plugins = {plugin_file("small_good")}});
    // The default reads only the first word, so any handle works.
    pi_object_header object{reinterpret_cast<pi_object_header *>(loader.plugins()[0])->dispatch,
                            PI_KIND_QUEUE, 0};
    std::size_t tested = 0;
    for (const Row &row : rows) {
        if (std::string(row.group) == "REQUIRED" || std::string(row.needs) != "REFUSE" ||
            std::string(row.name) == "piPluginGetExtension")
            continue;
        CAPTURE(row.name);
        CHECK(row.with_first(&object) == PI_ERROR_UNSUPPORTED_FEATURE);
        CHECK_THAT(last_error(), Catch::StartsWith(std::string(row.name) + ": ") &&
                                     Catch::Contains("\"small_good\""));
        ++tested;
    }
    CHECK(tested > 50);
}

TEST_CASE("the last error belongs to the thread that caused it") {
    CHECK(piQueueFlush(nullptr) == PI_ERROR_INVALID_QUEUE);
    std::string other_first = "not asked";
    std::string other_second;
    pi_result other_code = PI_ERROR_INTERNAL;
    std::thread([&] {
        other_first = last_error();
        piGetLastError(&other_code, nullptr);
        piMemRelease(nullptr);
        other_second = last_error();
    }).join();
    CHECK(other_first.empty());
    CHECK(other_code == PI_SUCCESS);
    CHECK(other_second == "piMemRelease: mem is NULL");
    CHECK(last_error() == "piQueueFlush: queue is NULL");
}

TEST_CASE("a success does not change the last error") {
    const Loader loader({.plugins = {plugin_file("small_good")}});
    CHECK(piQueueFlush(nullptr) == PI_ERROR_INVALID_QUEUE);
    const char *text = nullptr;
    CHECK(piGetLastError(nullptr, &text) == PI_SUCCESS);
    CHECK(loader.plugins().size() == 1);
    CHECK(plugin_name(loader.plugins()[0]) == "small_good");
    CHECK(std::string(text) == "piQueueFlush: queue is NULL");
}

TEST_CASE("an error that a plugin sets is the caller's last error") {
    const Loader loader({.plugins = {plugin_file("small_platforms_unavailable")}});
    uint32_t count = 7;
    CHECK(piPlatformsGet(loader.plugins()[0], 0, nullptr, &count) == PI_ERROR_UNAVAILABLE);
    CHECK(last_error() == "libwonder.so.1: no such file");
    CHECK(count == 7);
}

TEST_CASE("a loader's descriptor is checked, and a wrong one creates nothing") {
    pi_loader loader = nullptr;
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    const auto refused = [&](pi_result code, const std::string &text) {
        CHECK(piLoaderCreate(&desc, &loader) == code);
        CHECK_THAT(last_error(), Catch::Contains(text));
        CHECK(loader == nullptr);
    };
    SECTION("no output") {
        CHECK(piLoaderCreate(&desc, nullptr) == PI_ERROR_INVALID_NULL_POINTER);
    }
    SECTION("type") {
        desc.type = PI_TYPE_QUEUE_DESC;
        refused(PI_ERROR_INVALID_DESCRIPTOR,
                "desc->type is PI_TYPE_QUEUE_DESC (3), should be PI_TYPE_LOADER_DESC (1)");
    }
    SECTION("size") {
        desc.struct_size = 4;
        refused(PI_ERROR_INVALID_DESCRIPTOR, "desc->struct_size is 4");
    }
    SECTION("flags") {
        desc.flags |= UINT64_C(1) << 40;
        refused(PI_ERROR_UNSUPPORTED_FEATURE, "0x10000000000");
    }
    SECTION("count without list") {
        desc.plugin_count = 2;
        refused(PI_ERROR_INVALID_NULL_POINTER, "desc->plugins is NULL, but its count is 2");
    }
    SECTION("NULL in a list") {
        const char *const plugins[] = {"host", nullptr};
        desc.plugins = plugins;
        desc.plugin_count = 2;
        refused(PI_ERROR_INVALID_NULL_POINTER, "desc->plugins[1]");
    }
    SECTION("log level") {
        desc.log_level = 99;
        refused(PI_ERROR_INVALID_VALUE, "desc->log_level is 99");
    }
    SECTION("malformed option") {
        const pi_loader_option options[] = {{"PI_LOG", "loud"}};
        desc.options = options;
        desc.option_count = 1;
        refused(PI_ERROR_INVALID_VALUE, "PI_LOG is \"loud\", should be one of trace");
    }
    SECTION("unknown chain") {
        const pi_struct_header chained{sizeof chained, 4711, nullptr};
        desc.next = &chained;
        refused(PI_ERROR_UNSUPPORTED_FEATURE, "4711");
    }
    SECTION("a chain that may be ignored, a shorter and a longer one are accepted") {
        const pi_struct_header chained{sizeof chained, 4711 | PI_TYPE_MAY_IGNORE_BIT, nullptr};
        desc.next = &chained;
        CHECK(piLoaderCreate(&desc, &loader) == PI_SUCCESS);
        CHECK(piLoaderRelease(loader) == PI_SUCCESS);
        desc.struct_size = offsetof(pi_loader_desc, plugins);
        desc.plugin_count = 17; // beyond its struct_size
        CHECK(piLoaderCreate(&desc, &loader) == PI_SUCCESS);
        CHECK(piLoaderRelease(loader) == PI_SUCCESS);
        struct {
            pi_loader_desc desc;
            uint64_t more;
        } longer{};
        longer.desc.struct_size = sizeof longer;
        longer.desc.type = PI_TYPE_LOADER_DESC;
        longer.desc.flags = desc.flags;
        CHECK(piLoaderCreate(&longer.desc, &loader) == PI_SUCCESS);
        CHECK(piLoaderRelease(loader) == PI_SUCCESS);
        loader = nullptr;
        longer.more = 1;
        CHECK(piLoaderCreate(&longer.desc, &loader) == PI_ERROR_UNSUPPORTED_FEATURE);
        CHECK(loader == nullptr);
    }
}

TEST_CASE("the loader's functions refuse handles that are not a loader") {
    const Loader loader({.plugins = {plugin_file("small_good")}});
    const auto wrong = reinterpret_cast<pi_loader>(loader.plugins()[0]);
    CHECK(piLoaderRelease(nullptr) == PI_ERROR_INVALID_LOADER);
    CHECK(last_error() == "piLoaderRelease: loader is NULL");
    CHECK(piLoaderRetain(wrong) == PI_ERROR_INVALID_LOADER);
    CHECK_THAT(last_error(), Catch::Contains("piLoaderRetain: loader is a plugin"));
    CHECK(piPluginsGet(nullptr, 0, nullptr, nullptr) == PI_ERROR_INVALID_LOADER);
    CHECK(piLoaderGetReports(nullptr, 0, nullptr, nullptr) == PI_ERROR_INVALID_LOADER);
    CHECK(piLoaderGetEnvironment(nullptr, 0, nullptr, nullptr) == PI_ERROR_INVALID_LOADER);
    CHECK(piLoaderSelectDevices(nullptr, nullptr, 0, nullptr, nullptr) == PI_ERROR_INVALID_LOADER);
    CHECK(piLoaderGetDeviceSelector(nullptr, nullptr, 0, nullptr, nullptr) ==
          PI_ERROR_INVALID_LOADER);
}

TEST_CASE("a list call of the loader without outputs is refused with the function's name") {
    const Loader loader({.plugins = {plugin_file("small_good")}});
    const auto refused = [](const char *function, pi_result result) {
        CHECK(result == PI_ERROR_INVALID_NULL_POINTER);
        CHECK(last_error().rfind(std::string(function) + ": the output array and out_count", 0) ==
              0);
    };
    refused("piPluginsGet", piPluginsGet(loader.get(), 0, nullptr, nullptr));
    refused("piLoaderGetReports", piLoaderGetReports(loader.get(), 0, nullptr, nullptr));
    refused("piLoaderGetEnvironment", piLoaderGetEnvironment(loader.get(), 0, nullptr, nullptr));
    refused("piLoaderSelectDevices",
            piLoaderSelectDevices(loader.get(), nullptr, 0, nullptr, nullptr));
}
