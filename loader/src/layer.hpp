// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chain of layers. Each plugin instance has its own, so that several plugins and loaders can be
// wrapped differently at the same time; nothing is static.
//
// handle -> tables[0] -> layer 0 -> ... -> tables[layer_count]: the plugin
//
// A layer replaces slots of its own table and calls on through the next one. A slot that it does
// not replace holds the next table's function, so a layer costs nothing there. Without layers,
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

/// A kind of layer. Constant; one object serves all chains.
struct Layer {
    const char *name;
    /// Replaces slots of `table`, a copy of the next one. Returns the layer's data for this
    /// instance, or nullptr. May throw: the plugin is then refused.
    void *(*attach)(PluginInstance &instance, pi_dispatch &table);
    /// Frees the data, after the plugin's teardown.
    void (*detach)(void *data) noexcept;
    /// The loader is released: the layer releases its deferred objects, and defers no more
    /// releases. nullptr: it has none.
    void (*close)(void *data) noexcept = nullptr;
    /// All objects have been released or the wait has ended: the remaining ones are leaks of the
    /// application. nullptr: nothing to report.
    void (*report)(void *data) noexcept = nullptr;
};

/// The tables of one plugin instance, found from any of its handles: these point to tables[0], the
/// chain's first member.
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

    /// For a layer's own queries (...GetInfo and the like) and for callbacks that only observe.
    /// Through the next table they would look like calls of the application: other layers would
    /// count them, record them, make them fail, or assume that the application knows the answer.
    /// Calls that change anything (retain, release, signal) go through the next table, because the
    /// other layers must see them.
    const pi_dispatch &queries() const noexcept { return base(); }

    /// The position of a layer; `room` if it is not in the chain.
    std::size_t position(const Layer &layer) const noexcept {
        for (std::size_t i = 0; i < layer_count; ++i) {
            if (layers[i] == &layer)
                return i;
        }
        return room;
    }

    /// For the application's calls that a layer passes on, and for calls by which it changes
    /// something itself.
    const pi_dispatch &next(const Layer &layer) const noexcept;
    void *data(const Layer &layer) const noexcept {
        const std::size_t i = position(layer);
        return i < layer_count ? layer_data[i] : nullptr;
    }
};

/// The layers that come with the loader.
std::span<const Layer *const> shipped_layers() noexcept;

/// The layers with these names, outermost first. Unknown and repeated names, and those beyond the
/// maximum, are ignored with a warning.
std::vector<const Layer *> find_layers(const std::vector<std::string> &names,
                                       std::span<const Layer *const> known, Log &log);

/// Fills the tables: the base, which is complete, and those of the layers above it.
void attach_layers(TableChain &chain, std::span<const Layer *const> layers,
                   const pi_dispatch &base);
void detach_layers(TableChain &chain) noexcept;
void close_layers(TableChain &chain) noexcept;
void report_layers(TableChain &chain) noexcept;

} // namespace pi::loader
