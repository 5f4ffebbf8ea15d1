// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chain that layers hang in. Each plugin instance has one, so that several plugins and loaders
// can be wrapped differently at once; nothing is static.
//
//     handle -> tables[0] -> layer 0 -> tables[1] -> layer 1 -> ... -> tables[layer_count]: the plugin
//
// A layer replaces slots of its own table and calls on through the next one; slots that it leaves
// alone hold what the next table holds, so a layer costs only where it does something. Without layers
// tables[0] is the plugin's own table, completed by defaults.
#pragma once

#include "log.hpp"

#include <pi/pi_plugin.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace pi::loader {

class PluginInstance;

/// A kind of layer. Constant; one object serves every chain that it hangs in.
struct Layer {
    const char *name;
    /// Replaces slots of `table`, which comes as a copy of the next one. Returns the layer's data for
    /// this instance, or nullptr if it needs none. May throw: the plugin is then refused.
    void *(*attach)(PluginInstance &instance, pi_dispatch &table);
    /// Gives the data back, after the plugin's teardown.
    void (*detach)(void *data) noexcept;
    /// The loader is released: the layer gives back the objects that it holds, and keeps none from now on.
    /// nullptr: it holds none.
    void (*close)(void *data) noexcept = nullptr;
    /// The last objects have been waited for: what is left now is the application's. nullptr: no matter.
    void (*report)(void *data) noexcept = nullptr;
};

/// The tables of one plugin instance, found from any of its handles: tables[0] is the one that is
/// stamped into them, and it is the chain's first member.
struct TableChain {
    static constexpr std::size_t max_layers = 8; ///< that can be enabled
    static constexpr std::size_t room =
        max_layers +
        2; ///< one more is around them (layers/hold.cpp), one behind (layers/guard.cpp)

    pi_dispatch tables[room + 1];
    std::size_t layer_count;
    const Layer *layers[room];
    void *layer_data[room];
    PluginInstance *instance;

    static const TableChain &of(const pi_dispatch *outermost) noexcept {
        static_assert(offsetof(TableChain, tables) == 0);
        return *reinterpret_cast<const TableChain *>(outermost);
    }

    /// The plugin's own functions and the defaults, behind all layers.
    const pi_dispatch &base() const noexcept { return tables[layer_count]; }

    /// What a layer asks questions of its own through (...GetInfo and the like). Through the next table they would look like
    /// the application's: other layers would count them, record them, make them fail, and take the application to have
    /// read the answer. So it is with a callback that only looks on. What changes anything (retains, releases, signals)
    /// goes through the next table: the layers there have to know of it.
    const pi_dispatch &questions() const noexcept { return base(); }

    /// The position of a layer; `room` if it is not in the chain.
    std::size_t position(const Layer &layer) const noexcept {
        for (std::size_t i = 0; i < layer_count; ++i) {
            if (layers[i] == &layer)
                return i;
        }
        return room;
    }

    /// What a layer calls on through: the application's calls, and what it changes itself.
    const pi_dispatch &next(const Layer &layer) const noexcept;
    void *data(const Layer &layer) const noexcept {
        const std::size_t i = position(layer);
        return i < layer_count ? layer_data[i] : nullptr;
    }
};

/// The layers that come with the loader.
std::span<const Layer *const> shipped_layers() noexcept;

/// The layers of these names, outermost first. Unknown and repeated names, and more than a chain can
/// hold, are warned about and left out.
std::vector<const Layer *> find_layers(const std::vector<std::string> &names,
                                       std::span<const Layer *const> known, Log &log);

/// Fills the tables: the base, which is complete, and above it those of the layers, if there are any.
void attach_layers(TableChain &chain, std::span<const Layer *const> layers,
                   const pi_dispatch &base);
void detach_layers(TableChain &chain) noexcept;
void close_layers(TableChain &chain) noexcept;
void report_layers(TableChain &chain) noexcept;

} // namespace pi::loader
