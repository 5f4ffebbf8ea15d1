// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/calibrate.hpp>

#include <pi/runtime/error.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

namespace pi::runtime {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char *format = "pi costs";
constexpr int version = 1;

/// Two device keys: all contexts on two devices share one link.
using LinkKey = std::pair<std::string, std::string>;

Json to_json(const LinkCost &cost, uint64_t limit) {
    Json json;
    if (limit != UINT64_MAX) {
        json["up_to"] = limit;
    }
    json["latency"] = cost.latency;
    json["bandwidth"] = cost.bandwidth;
    return json;
}

/// A figure of a cost: finite, and not below `least`.
double figure(const Json &json, const char *name, double least) {
    const double value = json.at(name).get<double>();
    if (!std::isfinite(value) || value < least) {
        throw std::runtime_error(std::string(name) + " is " + json.at(name).dump() +
                                 ", which no link can have");
    }
    return value;
}

CostTable::Link link_of(const Json &json) {
    const Json &costs = json.at("costs");
    if (costs.size() != size_class_limits.size()) {
        throw std::runtime_error(std::to_string(costs.size()) + " costs instead of " +
                                 std::to_string(size_class_limits.size()) +
                                 ", one for each class of sizes");
    }
    CostTable::Link link;
    for (size_t index = 0; index < link.size(); ++index) {
        const Json &cost = costs.at(index);
        if (cost.value("up_to", UINT64_MAX) != size_class_limits[index]) {
            throw std::runtime_error("cost " + std::to_string(index) +
                                     " is of another class of sizes");
        }
        link[index] = {figure(cost, "latency", 0), figure(cost, "bandwidth", 1)};
    }
    return link;
}

struct File {
    double callback_latency = 0;
    std::map<std::string, double> callback_latencies; // by place, where it is another one
    std::set<std::string> places;
    std::map<LinkKey, CostTable::Link> links;
};

File read(const std::string &path) {
    std::ifstream stream(path);
    if (!stream) {
        throw std::runtime_error("cannot be read");
    }
    const Json json = Json::parse(stream);
    if (json.value("format", "") != format || json.value("version", 0) != version) {
        throw std::runtime_error(std::string("is not of the format \"") + format + "\", version " +
                                 std::to_string(version));
    }
    File file;
    file.callback_latency = figure(json, "callback_latency", 0);
    const Json others = json.value("callback_latencies", Json::object());
    for (const auto &entry : others.items()) {
        file.callback_latencies[entry.key()] = figure(others, entry.key().c_str(), 0);
    }
    file.places = json.at("places").get<std::set<std::string>>();
    for (const Json &link : json.at("links")) {
        const LinkKey key{link.at("from").get<std::string>(), link.at("to").get<std::string>()};
        try {
            file.links[key] = link_of(link);
        } catch (const std::exception &error) {
            throw std::runtime_error("link " + key.first + " -> " + key.second + ": " +
                                     error.what());
        }
    }
    return file;
}

} // namespace

void save_costs(const CostTable &costs, const TopologyDescription &topology,
                const std::string &path) {
    Json json;
    json["format"] = format;
    json["version"] = version;
    json["callback_latency"] = costs.model().callback_latency;
    std::set<std::string> places;
    std::map<LinkKey, Json> links;
    for (PlaceIndex from = 0; from < costs.places(); ++from) {
        const std::string &source = topology.place(from).key;
        places.insert(source);
        if (costs.callback_seconds(from) != costs.model().callback_latency) {
            json["callback_latencies"][source] = costs.callback_seconds(from);
        }
        for (PlaceIndex to = 0; to < costs.places(); ++to) {
            const LinkKey key{source, topology.place(to).key};
            if (!costs.linked(from, to) || links.count(key) != 0) {
                continue;
            }
            Json link{{"from", key.first}, {"to", key.second}, {"costs", Json::array()}};
            for (size_t index = 0; index < size_class_limits.size(); ++index) {
                link["costs"].push_back(
                    to_json(costs.link(from, to)[index], size_class_limits[index]));
            }
            links[key] = std::move(link);
        }
    }
    json["places"] = places;
    json["links"] = Json::array();
    for (auto &[key, link] : links) {
        json["links"].push_back(std::move(link));
    }
    std::ofstream stream(path);
    stream << json.dump(2) << '\n' << std::flush;
    if (!stream) {
        throw Error(PI_ERROR_INVALID_VALUE, "save_costs: " + path + " cannot be written");
    }
}

LoadedCosts load_costs(const std::string &path, const TopologyDescription &topology) {
    LoadedCosts result;
    File file;
    try {
        file = read(path);
    } catch (const std::exception &error) {
        result.message = path + ": " + error.what() + "; its costs are not used";
        return result;
    }
    for (const PlaceInfo &place : topology.places) {
        if (file.places.count(place.key) == 0) {
            result.message = path + " was measured on another machine: it knows no \"" + place.key +
                             "\"; its costs are not used";
            return result;
        }
    }
    CostModel model;
    model.callback_latency = file.callback_latency;
    CostTable costs = CostTable::estimate(topology, model);
    std::string unknown;
    for (PlaceIndex from = 0; from < costs.places(); ++from) {
        const auto other = file.callback_latencies.find(topology.place(from).key);
        costs.set_callback_seconds(
            from, other != file.callback_latencies.end() ? other->second : file.callback_latency);
        for (PlaceIndex to = 0; to < costs.places(); ++to) {
            if (!costs.linked(from, to)) {
                continue;
            }
            const auto found = file.links.find({topology.place(from).key, topology.place(to).key});
            if (found != file.links.end()) {
                costs.set_classes(from, to, found->second);
            } else {
                unknown += (unknown.empty() ? "" : ", ") + topology.place(from).name + " -> " +
                           topology.place(to).name;
            }
        }
    }
    if (!unknown.empty()) {
        result.message = path + " has no figures of " + unknown + ": estimated";
    }
    result.costs = std::move(costs);
    return result;
}

} // namespace pi::runtime
