// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/cost.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace pi::runtime {
namespace {

/// Between a place's memory and host memory.
LinkCost host_link(const PlaceInfo &place, const CostModel &model) {
    return {model.command_latency,
            place.shares_host_memory() ? model.host_bandwidth : model.link_bandwidth};
}

LinkCost device_link(const Connection &connection, const PlaceInfo &source,
                     const PlaceInfo &destination, const CostModel &model) {
    LinkCost cost;
    cost.latency = connection.latency != 0 ? static_cast<double>(connection.latency) * 1e-9
                                           : model.command_latency;
    cost.bandwidth = connection.bandwidth != 0 ? static_cast<double>(connection.bandwidth)
                                               : std::min(host_link(source, model).bandwidth,
                                                          host_link(destination, model).bandwidth);
    return cost;
}

} // namespace

CostTable::CostTable(uint32_t places, const CostModel &model)
    : model_(model), places_(places), links_(size_t{places} * places), in_host_memory_(places) {
    if (places > 0) {
        in_host_memory_[host_place] = 1;
    }
}

CostTable CostTable::estimate(const TopologyDescription &topology, const CostModel &model) {
    CostTable table(static_cast<uint32_t>(topology.places.size()), model);
    for (PlaceIndex from = 0; from < table.places_; ++from) {
        const PlaceInfo &source = topology.place(from);
        table.in_host_memory_[from] = from == host_place || source.shares_host_memory();
        for (PlaceIndex to = 0; to < table.places_; ++to) {
            const PlaceInfo &destination = topology.place(to);
            const Connection &connection = topology.buffer(from, to);
            if (from == to) {
                continue;
            }
            if (from == host_place || to == host_place) {
                table.set(from, to, host_link(from == host_place ? destination : source, model));
            } else if (connection.connection != PI_MEMORY_CONNECTION_NONE) {
                table.set(from, to, device_link(connection, source, destination, model));
            }
        }
    }
    return table;
}

uint64_t CostTable::index(PlaceIndex from, PlaceIndex to) const {
    if (from >= places_ || to >= places_) {
        throw std::out_of_range("CostTable: no link from place " + std::to_string(from) +
                                " to place " + std::to_string(to) + ": there are " +
                                std::to_string(places_) + " places");
    }
    return uint64_t{from} * places_ + to;
}

const CostTable::Link &CostTable::link(PlaceIndex from, PlaceIndex to) const {
    return links_[index(from, to)];
}

void CostTable::set_classes(PlaceIndex from, PlaceIndex to, const Link &link) {
    links_[index(from, to)] = link;
}

void CostTable::set(PlaceIndex from, PlaceIndex to, const LinkCost &cost) {
    Link link;
    link.fill(cost);
    set_classes(from, to, link);
}

double CostTable::seconds(PlaceIndex from, PlaceIndex to, uint64_t bytes) const {
    if (!linked(from, to)) {
        return std::numeric_limits<double>::infinity();
    }
    return link(from, to)[size_class_of(bytes)].seconds(bytes);
}

double CostTable::stage_seconds(PlaceIndex from, PlaceIndex to, uint64_t bytes) const {
    if (!linked(from, to)) {
        return std::numeric_limits<double>::infinity();
    }
    LinkCost cost = link(from, to)[size_class_of(bytes)];
    if (bytes > model_.cache_bytes && in_host_memory_[from] != 0 && in_host_memory_[to] != 0) {
        cost.bandwidth *= model_.cache_factor;
    }
    return model_.callback_latency + cost.seconds(bytes);
}

} // namespace pi::runtime
