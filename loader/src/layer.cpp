// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layer.hpp"

#include "layers/layers.hpp"

#include <algorithm>

namespace pi::loader {
namespace {

std::string list_names(std::span<const Layer *const> layers) {
    std::string names;
    for (const Layer *layer : layers)
        names += (names.empty() ? "" : ", ") + std::string(layer->name);
    return names.empty() ? "none" : names;
}

} // namespace

const pi_dispatch &TableChain::next(const Layer &layer) const noexcept {
    return tables[std::min(position(layer) + 1, layer_count)];
}

std::vector<const Layer *> find_layers(const std::vector<std::string> &names,
                                       std::span<const Layer *const> known, Log &log) {
    std::vector<const Layer *> found;
    for (const std::string &name : names) {
        const auto layer = std::find_if(known.begin(), known.end(),
                                        [&](const Layer *row) { return row->name == name; });
        if (layer == known.end())
            log.warn("layer \"{}\" does not exist and is ignored; the layers are: {}", name,
                     list_names(known));
        else if (std::find(found.begin(), found.end(), *layer) != found.end())
            log.warn("layer \"{}\" is named twice; the second is ignored", name);
        else if (found.size() == TableChain::max_layers)
            log.warn("layer \"{}\" is ignored: at most {} can be enabled", name,
                     std::size_t{TableChain::max_layers});
        else
            found.push_back(*layer);
    }
    return found;
}

void attach_layers(TableChain &chain, std::span<const Layer *const> layers,
                   const pi_dispatch &base) {
    chain.layer_count = layers.empty() ? 0 : layers.size() + 2;
    chain.tables[chain.layer_count] = base;
    if (layers.empty())
        return;
    chain.layers[0] = &hold_layer;
    *std::copy(layers.begin(), layers.end(), chain.layers + 1) = &guard_layer;
    for (std::size_t i = chain.layer_count; i-- > 0;) {
        chain.tables[i] = chain.tables[i + 1];
        chain.layer_data[i] = chain.layers[i]->attach(*chain.instance, chain.tables[i]);
    }
}

void detach_layers(TableChain &chain) noexcept {
    for (std::size_t i = 0; i < chain.layer_count; ++i) {
        if (chain.layer_data[i] != nullptr)
            chain.layers[i]->detach(chain.layer_data[i]);
        chain.layer_data[i] = nullptr;
    }
}

void close_layers(TableChain &chain) noexcept {
    for (std::size_t i = 0; i < chain.layer_count; ++i) {
        if (chain.layer_data[i] != nullptr && chain.layers[i]->close != nullptr)
            chain.layers[i]->close(chain.layer_data[i]);
    }
}

void report_layers(TableChain &chain) noexcept {
    for (std::size_t i = 0; i < chain.layer_count; ++i) {
        if (chain.layer_data[i] != nullptr && chain.layers[i]->report != nullptr)
            chain.layers[i]->report(chain.layer_data[i]);
    }
}

} // namespace pi::loader
