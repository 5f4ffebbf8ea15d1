// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/cost.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace pi::runtime {
namespace {

LinkCost cost_of(const Speed &reported) {
    return {static_cast<double>(reported.latency) * 1e-9, static_cast<double>(reported.bandwidth)};
}

/// Between a place's memory and host memory.
LinkCost host_link(const PlaceInfo &place, const std::optional<Speed> &reported,
                   const CostModel &model) {
    if (reported) {
        return cost_of(*reported);
    }
    return {model.command_latency,
            place.shares_host_memory() ? model.host_bandwidth : model.link_bandwidth};
}

LinkCost device_link(const Connection &connection, const PlaceInfo &source,
                     const PlaceInfo &destination, const CostModel &model) {
    LinkCost cost;
    cost.latency = connection.latency != 0 ? static_cast<double>(connection.latency) * 1e-9
                                           : model.command_latency;
    cost.bandwidth =
        connection.bandwidth != 0
            ? static_cast<double>(connection.bandwidth)
            : std::min(host_link(source, source.host_read, model).bandwidth,
                       host_link(destination, destination.host_write, model).bandwidth);
    return cost;
}

} // namespace

CostTable::CostTable(uint32_t places, const CostModel &model)
    : model_(model), places_(places), links_(size_t{places} * places), place_costs_(places) {
    for (PlaceCost &place : place_costs_) {
        place.map = {2 * model.command_latency, std::numeric_limits<double>::infinity()};
        place.callback = model.callback_latency;
    }
    if (places > 0) {
        place_costs_[host_place].in_host_memory = true;
    }
}

CostTable CostTable::estimate(const TopologyDescription &topology, const CostModel &model) {
    CostTable table(static_cast<uint32_t>(topology.places.size()), model);
    for (PlaceIndex from = 0; from < table.places_; ++from) {
        const PlaceInfo &source = topology.place(from);
        PlaceCost &place = table.place_costs_[from];
        // Where a plugin says how fast it is, that holds for every size.
        place.in_host_memory =
            from == host_place || (source.shares_host_memory() && !source.host_read);
        if (source.map) {
            place.map = cost_of(*source.map);
        }
        if (source.callback_latency) {
            place.callback = static_cast<double>(*source.callback_latency) * 1e-9;
        }
        for (PlaceIndex to = 0; to < table.places_; ++to) {
            const PlaceInfo &destination = topology.place(to);
            const Connection &connection = topology.buffer(from, to);
            if (from == to) {
                continue;
            }
            if (from == host_place) {
                table.set(from, to, host_link(destination, destination.host_write, model));
            } else if (to == host_place) {
                table.set(from, to, host_link(source, source.host_read, model));
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

void CostTable::set_in_host_memory(PlaceIndex place, bool is) {
    place_costs_.at(place).in_host_memory = is;
}

bool CostTable::in_host_memory(PlaceIndex from, PlaceIndex to) const {
    return at(from).in_host_memory && at(to).in_host_memory;
}

double CostTable::stage_seconds(PlaceIndex from, PlaceIndex to, uint64_t bytes) const {
    if (!linked(from, to)) {
        return std::numeric_limits<double>::infinity();
    }
    LinkCost cost = link(from, to)[size_class_of(bytes)];
    if (bytes > model_.cache_bytes && in_host_memory(from, to)) {
        cost.bandwidth *= model_.cache_factor;
    }
    return callback_seconds(to == host_place ? from : to) + cost.seconds(bytes);
}

const CostTable::PlaceCost &CostTable::at(PlaceIndex place) const {
    return place_costs_.at(place);
}

double CostTable::map_seconds(PlaceIndex place, uint64_t bytes) const {
    return at(place).map.seconds(bytes);
}

void CostTable::set_map(PlaceIndex place, const LinkCost &cost) {
    place_costs_.at(place).map = cost;
}

double CostTable::callback_seconds(PlaceIndex place) const {
    return at(place).callback;
}

void CostTable::set_callback_seconds(PlaceIndex place, double seconds) {
    place_costs_.at(place).callback = seconds;
}

} // namespace pi::runtime
