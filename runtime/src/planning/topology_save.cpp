// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A topology as a machine file. docs/machine-files.md has the format, and the values where nothing
// is known.
#include "base/device_query.hpp"

#include <pi/runtime/cost.hpp>
#include <pi/runtime/error.hpp>
#include <pi/runtime/topology.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <utility>

namespace pi::runtime {
namespace {

using Json = nlohmann::ordered_json;

/// Enumerators from 0 on, as machine files write them.
constexpr std::array connections{"none", "migratable", "unified"};
constexpr std::array coherences{"unknown", "coherent", "flush_invalidate", "map_unmap"};
constexpr std::array residencies{"unknown", "same_memory", "remote_access",
                                 "migrates_whole_object"};
constexpr std::array writers{"none", "disjoint_views", "disjoint_bytes"};
constexpr std::array paths{"unknown", "direct", "staged_by_driver", "staged_by_plugin"};
constexpr std::array queues{"either", "src", "dst"};
constexpr std::array kinds{"unknown", "same_device", "system_memory", "pcie",
                           "nvlink",  "xe_link",     "network",       "other"};

constexpr std::pair<uint64_t, const char *> flags[] = {{PI_SCOPE_HOST_VISIBLE, "host_visible"},
                                                       {PI_SCOPE_COHERENT, "coherent"},
                                                       {PI_SCOPE_CONTIGUOUS, "contiguous"},
                                                       {PI_SCOPE_PINNED, "pinned"},
                                                       {PI_SCOPE_LAYOUT, "layout"},
                                                       {PI_SCOPE_POOLABLE, "poolable"},
                                                       {PI_SCOPE_MAPS_IN_PLACE, "maps_in_place"}};

/// Handles that are file descriptors.
constexpr std::pair<pi_external_type, const char *> handle_types[] = {
    {PI_EXTERNAL_DMA_BUF_FD, "dma_buf_fd"}, {PI_EXTERNAL_OPAQUE_FD, "opaque_fd"}};

/// Leaves out what files have no word for.
Json handle_types_json(uint32_t types) {
    Json json = Json::array();
    for (const auto &[type, text] : handle_types) {
        if ((types >> type & 1U) != 0) {
            json.push_back(text);
        }
    }
    return json;
}

/// A value of a newer plugin that files have no word for becomes the last word.
template <size_t Count>
const char *word(const std::array<const char *, Count> &words, uint32_t value) {
    return words[std::min<size_t>(value, Count - 1)];
}

const char *type_word(pi_device_type type) {
    return (type & PI_DEVICE_TYPE_CPU) != 0           ? "cpu"
           : (type & PI_DEVICE_TYPE_GPU) != 0         ? "gpu"
           : (type & PI_DEVICE_TYPE_ACCELERATOR) != 0 ? "accelerator"
                                                      : "other";
}

/// A power of two that a file may have.
uint64_t alignment(uint64_t value) {
    return std::bit_floor(std::clamp<uint64_t>(value, 1, uint64_t{1} << 30));
}

/// Omits a figure that is not known, or 0.
void put_speed(Json &json, double bandwidth, double nanoseconds) {
    constexpr double at_once = 1e18;
    if (bandwidth >= 1 && bandwidth < at_once) {
        json["bandwidth"] = static_cast<uint64_t>(std::llround(bandwidth));
    }
    if (nanoseconds > 0) {
        json["latency"] = std::round(nanoseconds);
    }
}

/// Writes channels by names that are unique in the machine; omits unknown channels.
void put_channels(Json &json, uint32_t instance, const std::vector<uint64_t> &channels) {
    for (const uint64_t channel : channels) {
        json["channels"].push_back(std::to_string(instance) + "." + std::to_string(channel));
    }
}

/// The classes of sizes as one line: a small transfer takes the latency, a large one goes at the
/// bandwidth.
void put_speed(Json &json, const CostTable::Link &link) {
    const bool alike = link.back() == link.front();
    put_speed(json, alike ? link.back().bandwidth : link.back().large_bandwidth(),
              1e9 * link.front().latency);
}

Json scope_json(const pi_memory_scope &scope) {
    Json json;
    const std::string name(scope.name, strnlen(scope.name, sizeof scope.name));
    json["name"] = name;
    uint64_t reported = scope.flags;
    if ((reported & PI_SCOPE_MAPS_IN_PLACE) != 0) {
        reported |= PI_SCOPE_HOST_VISIBLE; // files have no memory that can only be mapped
    }
    if ((reported & PI_SCOPE_HOST_VISIBLE) == 0) {
        reported &= ~uint64_t{PI_SCOPE_COHERENT};
    }
    json["flags"] = Json::array();
    for (const auto &[flag, text] : flags) {
        if ((reported & flag) != 0) {
            json["flags"].push_back(text);
        }
    }
    const uint64_t capacity = std::max<uint64_t>({scope.capacity, scope.max_allocation, 1});
    json["capacity"] = capacity;
    if (scope.max_allocation != 0) {
        json["max_allocation"] = scope.max_allocation;
    }
    json["min_alignment"] = alignment(scope.min_alignment);
    json["offset_alignment"] = alignment(scope.offset_alignment);
    json["flush_atom"] = alignment(scope.flush_atom);
    if (name.starts_with("host.")) {
        json["memory"] = "host";
    }
    return json;
}

/// The topology's devices, each with its places.
struct Machine {
    explicit Machine(const Topology &the_topology) : topology(the_topology) {
        for (PlaceIndex place = 1; place < topology.size(); ++place) {
            const auto known =
                std::find_if(places.begin(), places.end(), [&](const std::vector<PlaceIndex> &one) {
                    return topology.device(one.front()) == topology.device(place);
                });
            if (known == places.end()) {
                places.push_back({place});
            } else {
                known->push_back(place);
            }
        }
        std::set<std::string> taken{"host"}; // the host's name
        for (const std::vector<PlaceIndex> &device : places) {
            const std::string own =
                device_text(topology.device(device.front()), PI_DEVICE_INFO_NAME);
            std::string name = own;
            for (int number = 2; !taken.insert(name).second; ++number) {
                name = own + " #" + std::to_string(number);
            }
            names.push_back(name);
        }
    }

    /// The best connection from any place of one device to any of another, or of the same: in one
    /// context more is possible than in two.
    const Connection *best(size_t from, size_t to,
                           const std::vector<Connection> &of_topology) const {
        const Connection *found = nullptr;
        for (const PlaceIndex source : places[from]) {
            for (const PlaceIndex destination : places[to]) {
                const Connection &one = of_topology[source * topology.size() + destination];
                if (source != destination &&
                    (found == nullptr || one.connection > found->connection)) {
                    found = &one;
                }
            }
        }
        return found;
    }

    const Topology &topology;
    std::vector<std::vector<PlaceIndex>> places; ///< by device
    std::vector<std::string> names;              ///< likewise
};

void put_identity(Json &json, pi_device device, const DeviceIdentity &identity) {
    if (identity.uuid.size() == 16) {
        json["uuid"] = hexadecimal(identity.uuid);
    }
    if (identity.luid.size() == 8) {
        json["luid"] = hexadecimal(identity.luid);
    }
    if (!identity.pci_address.empty()) {
        json["pci_address"] = identity.pci_address;
    }
    const auto node = device_info<uint32_t>(device, PI_DEVICE_INFO_NUMA_NODE, UINT32_MAX);
    if (node != UINT32_MAX) {
        json["numa_node"] = node;
    }
}

/// Speed of copies between devices: as measured, otherwise as the plugin reports it.
void put_speed(Json &json, const Machine &machine, size_t from, size_t to,
               const Connection &reported, const CostTable *costs) {
    for (const PlaceIndex source : machine.places[from]) {
        for (const PlaceIndex destination : machine.places[to]) {
            if (costs != nullptr && source != destination && costs->linked(source, destination)) {
                put_speed(json, costs->link(source, destination));
                return;
            }
        }
    }
    put_speed(json, static_cast<double>(reported.bandwidth), static_cast<double>(reported.latency));
}

Json device_json(const Machine &machine, size_t index, const CostTable *costs) {
    const TopologyDescription &all = machine.topology.description();
    const PlaceIndex place = machine.places[index].front();
    const pi_device device = machine.topology.device(place);
    const PlaceInfo &info = all.place(place);
    Json json;
    json["name"] = machine.names[index];
    json["type"] = type_word(info.type);
    json["vendor"] = device_text(device, PI_DEVICE_INFO_VENDOR);
    json["version"] = device_text(device, PI_DEVICE_INFO_VERSION);
    put_identity(json, device, info.identity);
    json["compute_units"] = std::clamp<uint32_t>(
        device_info<uint32_t>(device, PI_DEVICE_INFO_COMPUTE_UNITS, 1), 1, 1U << 20);
    json["integrated"] = info.integrated;
    json["fp16"] = device_info<uint32_t>(device, PI_DEVICE_INFO_FP16, 0) != 0;
    json["fp64"] = device_info<uint32_t>(device, PI_DEVICE_INFO_FP64, 0) != 0;
    const auto queue_flags = device_info<uint64_t>(device, PI_DEVICE_INFO_QUEUE_FLAGS, 0);
    json["out_of_order"] = (queue_flags & PI_QUEUE_OUT_OF_ORDER) != 0;
    json["host_pointer_import"] = info.host_pointer_import;
    json["host_pointer_alignment"] = alignment(info.host_pointer_alignment);
    json["external_handle_types"] =
        handle_types_json(device_info<uint32_t>(device, PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, 0));
    json["export_handle_types"] =
        handle_types_json(device_info<uint32_t>(device, PI_DEVICE_INFO_EXPORT_HANDLE_TYPES, 0));
    const auto mode =
        device_info<uint32_t>(device, PI_DEVICE_INFO_BUFFER_OFFSET_MODE, PI_BUFFER_OFFSET_POINTER);
    json["buffer_offset_mode"] = mode == PI_BUFFER_OFFSET_SUB_BUFFER ? "sub_buffer" : "pointer";
    const Connection *other = machine.best(index, index, all.buffers);
    json["other_context"] = word(connections, other != nullptr ? other->connection : 0);
    put_speed(json, machine, index, index, all.buffer(place, place), costs);
    json["scopes"] = Json::array();
    for (const pi_memory_scope &scope : info.scopes) {
        json["scopes"].push_back(scope_json(scope));
    }
    if (info.map && info.maps_in_place && (info.scopes.at(0).flags & PI_SCOPE_COHERENT) == 0) {
        Json &maintenance = json["scopes"][0]["maintenance"] = Json::object();
        put_speed(maintenance, static_cast<double>(info.map->bandwidth),
                  static_cast<double>(info.map->latency));
    }
    return json;
}

/// One device's connection to another.
Json link_json(const Machine &machine, size_t from, size_t to, const CostTable *costs) {
    const TopologyDescription &all = machine.topology.description();
    const Connection &buffers = *machine.best(from, to, all.buffers);
    const Connection &imported = *machine.best(from, to, all.imported);
    Json json{{"from", machine.names[from]}, {"to", machine.names[to]}};
    json["connection"] = word(connections, buffers.connection);
    json["imported"] = word(connections, imported.connection);
    const bool unified = buffers.connection == PI_MEMORY_CONNECTION_UNIFIED;
    if (unified) {
        json["residency"] =
            word(residencies, std::max<uint32_t>(buffers.residency, PI_RESIDENCY_SAME_MEMORY));
    }
    if (unified || imported.connection == PI_MEMORY_CONNECTION_UNIFIED) {
        const Connection &used = unified ? buffers : imported;
        json["coherence"] =
            word(coherences, std::max<uint32_t>(used.coherence, PI_COHERENCE_COHERENT));
        const bool migrates = used.residency == PI_RESIDENCY_MIGRATES_WHOLE_OBJECT;
        json["concurrent_writers"] = word(writers, migrates ? 0 : used.concurrent_writers);
        json["atomics"] = used.atomics;
    }
    const bool imports_alone = buffers.connection == PI_MEMORY_CONNECTION_NONE &&
                               imported.connection != PI_MEMORY_CONNECTION_NONE;
    const Connection &reported = imports_alone ? imported : buffers;
    if (reported.connection != PI_MEMORY_CONNECTION_NONE) {
        json["path"] = word(paths, reported.path);
        json["preferred_queue"] = word(queues, reported.preferred_queue);
        put_speed(json, machine, from, to, reported, costs);
    }
    put_channels(json, all.place(machine.places[from].front()).instance, reported.channels);
    json["external_handle_types"] = handle_types_json(buffers.external_handle_types);
    json["kind"] = word(kinds, reported.link_kind);
    json["reason"] = reported.reason;
    return json;
}

Json machine_json(const Topology &topology, const std::string &name, const CostTable *costs) {
    const Machine machine(topology);
    const CostTable used = costs != nullptr ? *costs : CostTable::estimate(topology.description());
    Json json;
    json["pi_machine"] = 1;
    json["name"] = name;
    json["description"] =
        "Recorded by pi::runtime. Figures that devices do not report have the defaults of "
        "docs/machine-files.md.";
    put_speed(json["host"] = Json::object(), used.model().host_bandwidth, 0);
    json["devices"] = Json::array();
    json["links"] = Json::array();
    for (size_t device = 0; device < machine.names.size(); ++device) {
        json["devices"].push_back(device_json(machine, device, costs));
        const PlaceIndex place = machine.places[device].front();
        for (const bool up : {true, false}) {
            Json link{{"from", up ? "host" : machine.names[device]},
                      {"to", up ? machine.names[device] : "host"}};
            put_speed(link, up ? used.link(host_place, place) : used.link(place, host_place));
            const PlaceInfo &info = topology.info(place);
            put_channels(link, info.instance,
                         up ? info.host_write_channels : info.host_read_channels);
            json["links"].push_back(std::move(link));
        }
    }
    for (size_t from = 0; from < machine.names.size(); ++from) {
        for (size_t to = 0; to < machine.names.size(); ++to) {
            if (from != to) {
                json["links"].push_back(link_json(machine, from, to, costs));
            }
        }
    }
    return json;
}

} // namespace

void Topology::save(const std::string &path, const CostTable *costs) const {
    if (size() < 2) {
        throw Error(PI_ERROR_INVALID_VALUE, "Topology::save: there is no device to save");
    }
    if (costs != nullptr && costs->places() != size()) {
        throw Error(PI_ERROR_INVALID_VALUE,
                    "Topology::save: the costs are of " + std::to_string(costs->places()) +
                        " places, the topology has " + std::to_string(size()));
    }
    const std::string name = std::filesystem::path(path).stem().string();
    std::ofstream stream(path);
    stream << machine_json(*this, name, costs)
                  .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
           << '\n'
           << std::flush;
    if (!stream) {
        throw Error(PI_ERROR_INVALID_VALUE, "Topology::save: " + path + " cannot be written");
    }
}

} // namespace pi::runtime
