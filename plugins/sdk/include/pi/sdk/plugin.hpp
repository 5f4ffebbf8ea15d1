// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin's identity and its piPluginMain.
#pragma once

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/object.hpp>

#include <string>
#include <string_view>

namespace pi::sdk {

struct PluginIdentity {
    const char *name;
    const char *version;
    uint64_t capabilities; ///< PI_CAPABILITY_ of the complete function groups in its table
};

/// An extension for piPluginGetExtension: a name and a table that begins with its size as uint64_t.
struct Extension {
    const char *name;
    const void *table;
};

/// An Instance is an Object of kind pi_plugin, made from the loader's host. The teardown releases
/// its only reference.
template <class Instance, const PluginIdentity &identity>
struct plugin_entries {
    static constexpr InfoRow<Instance> rows[] = {
        {PI_PLUGIN_INFO_NAME, [](Instance &, const InfoWriter &write) { write(identity.name); }},
        {PI_PLUGIN_INFO_VERSION,
         [](Instance &, const InfoWriter &write) { write(identity.version); }},
        {PI_PLUGIN_INFO_CAPABILITIES,
         [](Instance &, const InfoWriter &write) { write(uint64_t{identity.capabilities}); }},
    };
    static pi_result PI_CALL get_info(pi_plugin plugin, pi_plugin_info name, uint64_t size,
                                      void *value, uint64_t *out_size) {
        return call<Instance>(
            plugin, [&](Instance &self) { answer_info(self, rows, name, size, value, out_size); });
    }

    /// piPluginGetExtension of a plugin with these, an array of Extension.
    template <const auto &extensions>
    static pi_result PI_CALL get_extension(pi_plugin plugin, const char *name, uint64_t min_size,
                                           const void **out_table) {
        return call<Instance>(plugin, [&](Instance &) {
            const std::string_view wanted = require(name, "name");
            require(out_table, "out_table");
            std::string names;
            for (const Extension &each : extensions) {
                names += text(names.empty() ? "" : ", ", '"', each.name, '"');
                if (each.name != wanted)
                    continue;
                const uint64_t size = *static_cast<const uint64_t *>(each.table);
                if (min_size > size)
                    fail(PI_ERROR_UNSUPPORTED_FEATURE, "min_size is ", min_size,
                         "; this table has ", size, " bytes");
                *out_table = each.table;
                return;
            }
            fail(PI_ERROR_INVALID_NAME, "name is \"", wanted, "\"; the plugin has ", names);
        });
    }

    static void PI_CALL teardown(pi_plugin instance) { Instance::from(instance).release(); }

    /// piPluginMain. The table must live as long as the library.
    static pi_result main(const pi_host *host, pi_plugin_desc *out_desc,
                          const pi_dispatch &functions) {
        return guard(host, [&] {
            pi_sdk_state_version(out_desc);
            out_desc->name = identity.name;
            out_desc->version = identity.version;
            out_desc->capabilities = identity.capabilities;
            out_desc->functions = &functions;
            out_desc->teardown = teardown;
            out_desc->instance = make<Instance>(host).give();
        });
    }
};

} // namespace pi::sdk
