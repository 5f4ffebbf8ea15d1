// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin with one platform, two devices and contexts that are counted objects, and with one
// injected error, selected at compile time:
//   PI_TEST_NAME     its name
//   PI_TEST_VARIANT  one of the enumerators below

#include "plugin_common.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace {

enum Variant {
    GOOD,
    WRONG_MAJOR,
    OLD,         // a table that ends after the required functions
    NEWER,       // a newer minor version: a longer table and an unknown capability
    OTHER_DRAFT, // another draft than the loader's headers
    SMALL_TABLE, // a table of a few slots
    CUT_SLOT,    // a size in the middle of a slot
    NULL_TABLE,
    MISSING_REQUIRED,
    BIT_WITHOUT_SLOT,
    SLOT_WITHOUT_BIT,
    UNKNOWN_BIT,
    THROWS,
    THROWS_NUMBER,
    THROWS_IN_PLATFORMS,
    THROWS_IN_DEVICES,
    EXITS_IN_MAIN,
    FAILS,
    UNAVAILABLE,
    PLATFORMS_UNAVAILABLE,
    WRONG_KIND,
    WRONG_DISPATCH,
    NO_INSTANCE,
    NO_TEARDOWN,
    BAD_NAME,
    LIES, // wrong counts and handles
    HANGS_IN_DLOPEN,
    HANGS_IN_MAIN,
    HANGS_IN_PLATFORMS,
    HANGS_IN_DEVICES,
    HANGS_IN_TEARDOWN
};
constexpr Variant variant = PI_TEST_VARIANT;

[[gnu::constructor]] void loaded() {
    if (variant == HANGS_IN_DLOPEN)
        test_plugin::wait_for_test();
}

struct Plugin;

struct Object {
    pi_object_header header;
    Plugin *plugin;
    std::atomic<uint32_t> references;
};

struct Plugin {
    pi_object_header header;
    const pi_host *host;
    Object platform;
    Object devices[2];
    struct {
        pi_dispatch table;
        void (*beyond[4])();
    } functions;
};

template <typename Handle>
Object *object(Handle handle) {
    return reinterpret_cast<Object *>(handle);
}
Plugin *instance(pi_plugin plugin) {
    return reinterpret_cast<Plugin *>(plugin);
}

pi_result fail(const Plugin *plugin, pi_result code, const char *text) {
    plugin->host->set_error(plugin->host, code, text);
    return code;
}

pi_result plugin_info(pi_plugin, pi_plugin_info name, uint64_t size, void *value,
                      uint64_t *out_size) {
    if (name != PI_PLUGIN_INFO_NAME)
        return PI_ERROR_INVALID_ENUMERATION;
    return test_plugin::give(PI_TEST_NAME, sizeof PI_TEST_NAME, size, value, out_size);
}

// "Extensions" of this plugin return the host's options, so that tests can see them.
pi_result plugin_extension(pi_plugin plugin, const char *name, uint64_t, const void **out_table) {
    const pi_host *host = instance(plugin)->host;
    const char *value = host->get_option(host, name);
    if (value == nullptr)
        return fail(instance(plugin), PI_ERROR_INVALID_NAME, "not set");
    *out_table = value;
    return PI_SUCCESS;
}

pi_result platforms(pi_plugin plugin, uint32_t capacity, pi_platform *out, uint32_t *out_count) {
    const pi_host *host = instance(plugin)->host;
    host->log(host, PI_LOG_TRACE, "asked for its platforms");
    if (variant == HANGS_IN_PLATFORMS)
        test_plugin::wait_for_test();
    if (variant == THROWS_IN_PLATFORMS)
        throw std::runtime_error("an injected exception");
    if (variant == PLATFORMS_UNAVAILABLE)
        return fail(instance(plugin), PI_ERROR_UNAVAILABLE, "libwonder.so.1: no such file");
    return test_plugin::give_one(reinterpret_cast<pi_platform>(&instance(plugin)->platform),
                                 capacity, out, out_count);
}

pi_result devices(pi_platform platform, pi_device_type, uint32_t capacity, pi_device *out,
                  uint32_t *out_count) {
    Plugin *plugin = object(platform)->plugin;
    const auto handle = [&](uint32_t i) {
        return reinterpret_cast<pi_device>(&plugin->devices[i]);
    };
    if (variant == HANGS_IN_DEVICES)
        test_plugin::wait_for_test();
    if (variant == THROWS_IN_DEVICES)
        throw 42;
    if (variant == LIES) {
        // Reports 2^32 - 1 devices: one device, a platform, and nothing else.
        if (out != nullptr && capacity > 0)
            out[0] = handle(0);
        if (out != nullptr && capacity > 1)
            out[1] = reinterpret_cast<pi_device>(platform);
        if (out_count != nullptr)
            *out_count = UINT32_MAX;
        return PI_SUCCESS;
    }
    for (uint32_t i = 0; out != nullptr && i < 2 && i < capacity; ++i)
        out[i] = handle(i);
    if (out_count != nullptr)
        *out_count = 2;
    return PI_SUCCESS;
}

pi_result context_create(pi_platform platform, const pi_context_desc *, pi_context *out_context) {
    Plugin *plugin = object(platform)->plugin;
    auto *context =
        new (std::nothrow) Object{{plugin->host->dispatch, PI_KIND_CONTEXT, 0}, plugin, {1}};
    if (context == nullptr)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    plugin->host->object_count(plugin->host, 1);
    *out_context = reinterpret_cast<pi_context>(context);
    return PI_SUCCESS;
}

pi_result context_retain(pi_context context) {
    object(context)->references.fetch_add(1);
    return PI_SUCCESS;
}

pi_result context_release(pi_context context) {
    if (object(context)->references.fetch_sub(1) == 1) {
        const pi_host *host = object(context)->plugin->host;
        delete object(context);
        host->log(host, PI_LOG_DEBUG, "context gone");
        host->object_count(host, -1);
    }
    return PI_SUCCESS;
}

pi_result connection(pi_device src, pi_context, pi_device, pi_context,
                     pi_memory_connection *out_connection) {
    const pi_host *host = object(src)->plugin->host;
    host->log(host, PI_LOG_TRACE, "asked for a connection");
    *out_connection = PI_MEMORY_CONNECTION_MIGRATABLE;
    return PI_SUCCESS;
}

void teardown(pi_plugin plugin) {
    const pi_host *host = instance(plugin)->host;
    if (variant == HANGS_IN_TEARDOWN)
        test_plugin::wait_for_test();
    host->log(host, PI_LOG_INFO, "teardown");
    delete instance(plugin);
}

void fill(Plugin &plugin) {
    pi_dispatch &table = plugin.functions.table;
    table.piPluginGetInfo = plugin_info;
    table.piPluginGetExtension = plugin_extension;
    table.piPlatformsGet = platforms;
    table.piDevicesGet = devices;
    table.piContextCreate = context_create;
    table.piContextRetain = context_retain;
    table.piContextRelease = context_release;
    table.piGetMemoryConnection = connection;
    test_plugin::fill_required(table);
}

void plant(Plugin &plugin, pi_plugin_desc &desc) {
    pi_dispatch &table = plugin.functions.table;
    switch (variant) {
    case WRONG_MAJOR:
        desc.version_major = PI_VERSION_MAJOR + 9;
        break;
    case OLD:
        table.struct_size = offsetof(pi_dispatch, piEventGetNativeHandle);
        break;
    case NEWER:
        desc.version_minor = table.version_minor = PI_VERSION_MINOR + 7;
        desc.draft = 0;
        table.struct_size = sizeof plugin.functions;
        plugin.functions.beyond[0] = [] {};
        desc.capabilities |= UINT64_C(1) << 62;
        break;
    case OTHER_DRAFT:
        desc.draft = PI_VERSION_DRAFT + 1;
        break;
    case SMALL_TABLE:
        table.struct_size = offsetof(pi_dispatch, piDevicesGet);
        break;
    case CUT_SLOT:
        table.struct_size = sizeof table - 3;
        break;
    case NULL_TABLE:
        desc.functions = nullptr;
        break;
    case MISSING_REQUIRED:
        table.piQueueFinish = nullptr;
        break;
    case BIT_WITHOUT_SLOT:
        desc.capabilities |= PI_CAPABILITY_USM_POOL;
        table.piUsmPoolCreate = &test_plugin::Refusal<decltype(table.piUsmPoolCreate)>::call;
        table.piUsmPoolRetain = &test_plugin::Refusal<decltype(table.piUsmPoolRetain)>::call;
        table.piUsmPoolRelease = &test_plugin::Refusal<decltype(table.piUsmPoolRelease)>::call;
        break;
    case SLOT_WITHOUT_BIT:
        table.piMemImport = &test_plugin::Refusal<decltype(table.piMemImport)>::call;
        break;
    case UNKNOWN_BIT:
        desc.capabilities |= UINT64_C(1) << 62;
        break;
    case WRONG_KIND:
        plugin.header.kind = PI_KIND_QUEUE;
        break;
    case WRONG_DISPATCH:
        plugin.header.dispatch = &table;
        break;
    case NO_INSTANCE:
        desc.instance = nullptr;
        break;
    case NO_TEARDOWN:
        desc.teardown = nullptr;
        break;
    case BAD_NAME:
        desc.name = "Small Plugin";
        break;
    default:
        break;
    }
}

// Variants whose instance is never torn down use a static one.
Plugin *make_instance() {
    static Plugin never_torn_down;
    const bool shared = variant == WRONG_MAJOR || variant == OTHER_DRAFT ||
                        variant == NO_INSTANCE || variant == NO_TEARDOWN;
    return shared ? &never_torn_down : new Plugin();
}

} // namespace

pi_result piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    if (variant == THROWS)
        throw std::runtime_error("an injected exception");
    if (variant == THROWS_NUMBER)
        throw 42;
    if (variant == EXITS_IN_MAIN)
        std::_Exit(33);
    if (variant == FAILS) {
        host->set_error(host, PI_ERROR_BACKEND, "the injected failure of main");
        return PI_ERROR_BACKEND;
    }
    if (variant == HANGS_IN_MAIN)
        test_plugin::wait_for_test();
    if (variant == UNAVAILABLE) {
        host->set_error(host, PI_ERROR_UNAVAILABLE, "no such device here");
        return PI_ERROR_UNAVAILABLE;
    }
    Plugin *plugin = make_instance();
    plugin->header = {host->dispatch, PI_KIND_PLUGIN, 0};
    plugin->host = host;
    plugin->platform.header = {host->dispatch, PI_KIND_PLATFORM, 0};
    plugin->platform.plugin = plugin;
    for (Object &device : plugin->devices) {
        device.header = {host->dispatch, PI_KIND_DEVICE, 0};
        device.plugin = plugin;
    }
    fill(*plugin);
    out_desc->version_major = PI_VERSION_MAJOR;
    out_desc->version_minor = PI_VERSION_MINOR;
    out_desc->draft = PI_VERSION_DRAFT;
    out_desc->name = PI_TEST_NAME;
    out_desc->version = "1";
    out_desc->functions = &plugin->functions.table;
    out_desc->instance = reinterpret_cast<pi_plugin>(plugin);
    out_desc->teardown = teardown;
    plant(*plugin, *out_desc);
    return PI_SUCCESS;
}
