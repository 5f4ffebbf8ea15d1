// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output.hpp"

#include "names.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace pi_info {
namespace {

using nlohmann::ordered_json;
using pi::runtime::PlaceInfo;

template <class T>
ordered_json nullable(const std::optional<T> &value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}
ordered_json nullable(const std::string &text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

template <class List, class Convert>
ordered_json array(const List &list, Convert convert) {
    ordered_json result = ordered_json::array();
    for (const auto &element : list) {
        result.push_back(convert(element));
    }
    return result;
}

/// Vendors' names are not always UTF-8. The output may go to a terminal: control characters that
/// JSON need not escape occur only in strings.
std::string dump(const ordered_json &document) {
    const std::string text = document.dump(2, ' ', false, ordered_json::error_handler_t::replace);
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
        if (byte == 0x7F) {
            out += "\\u007f";
        } else if (byte == 0xC2 && next < 0xA0) {
            out += fmt::format("\\u{:04x}", next);
            ++at;
        } else {
            out += text[at];
        }
    }
    return out + "\n";
}

ordered_json plugin_json(const Plugin &plugin) {
    return {{"name", plugin.name},
            {"path", plugin.path},
            {"status", status_name(plugin.status)},
            {"reason", plugin.reason},
            {"version", nullable(plugin.version)},
            {"capabilities", plugin.capabilities}};
}

ordered_json scope_json(const pi_memory_scope &scope) {
    const auto known = [](uint64_t number) {
        return number == 0 ? ordered_json(nullptr) : ordered_json(number);
    };
    return {{"name", std::string(scope.name, strnlen(scope.name, sizeof scope.name))},
            {"flags", scope_flag_names(scope.flags)},
            {"capacity", known(scope.capacity)},
            {"max_allocation", known(scope.max_allocation)},
            {"min_alignment", scope.min_alignment},
            {"offset_alignment", scope.offset_alignment},
            {"flush_atom", scope.flush_atom}};
}

ordered_json device_json(const Device &device) {
    return {{"selector", device.selector},
            {"plugin", device.plugin},
            {"name", device.name},
            {"kind", device.kind},
            {"platform", device.platform},
            {"platform_version", nullable(device.platform_version)},
            {"backend", device.backend},
            {"vendor", nullable(device.vendor)},
            {"version", nullable(device.version)},
            {"driver_version", nullable(device.driver_version)},
            {"uuid", nullable(device.uuid)},
            {"luid", nullable(device.luid)},
            {"pci_address", nullable(device.pci_address)},
            {"numa_node", nullable(device.numa_node)},
            {"vendor_id", nullable(device.vendor_id)},
            {"device_id", nullable(device.device_id)},
            {"memory", nullable(device.memory)},
            {"free_memory", nullable(device.free_memory)},
            {"max_allocation", nullable(device.max_allocation)},
            {"memory_clock_rate", nullable(device.memory_clock_rate)},
            {"memory_bus_width", nullable(device.memory_bus_width)},
            {"error_correction", nullable(device.error_correction)},
            {"cache_size", nullable(device.cache_size)},
            {"cache_line_size", nullable(device.cache_line_size)},
            {"compute_units", nullable(device.compute_units)},
            {"clock_rate", nullable(device.clock_rate)},
            {"max_work_group_size", nullable(device.max_work_group_size)},
            {"atomic_64", nullable(device.atomic_64)},
            {"fp16", nullable(device.fp16)},
            {"fp64", nullable(device.fp64)},
            {"integrated", nullable(device.integrated)},
            {"host_pointer_import", nullable(device.host_pointer_import)},
            {"host_pointer_alignment", nullable(device.host_pointer_alignment)},
            {"offset_modes", device.offset_modes},
            {"program_formats", device.program_formats},
            {"il_versions", device.il_versions},
            {"extensions", device.extensions},
            {"capabilities", device.capabilities},
            {"scopes", array(device.scopes, scope_json)}};
}

/// `derived`: not reported by a plugin. "import" says whether, and with which alignment, host
/// memory can be used in place; "maps_in_place" whether a map is the place's own memory.
ordered_json places_json(const std::vector<Device> &devices, const Connections &connections) {
    ordered_json places = ordered_json::array();
    for (size_t i = 0; i < connections.topology.places.size(); ++i) {
        const PlaceInfo &place = connections.topology.places[i];
        const bool host = i == pi::runtime::host_place;
        places.push_back(
            {{"name", place.name},
             {"derived", host},
             {"device", host ? ordered_json(nullptr)
                             : ordered_json(devices[connections.device_of[i]].selector)},
             {"context", host ? ordered_json(nullptr) : ordered_json(connections.context_of[i])},
             {"maps_in_place", place.maps_in_place},
             {"import", host || place.host_pointer_import},
             {"import_alignment", place.host_pointer_alignment}});
    }
    return places;
}

ordered_json connections_json(const Connections &all) {
    const pi::runtime::TopologyDescription &topology = all.topology;
    ordered_json connections = ordered_json::array();
    for (uint32_t src = 1; src < topology.places.size(); ++src) {
        for (uint32_t dst = 1; dst < topology.places.size(); ++dst) {
            const pi::runtime::Connection &answer = topology.buffer(src, dst);
            const Seen seen = seen_of(all, src, dst);
            const auto known = [](uint64_t number) {
                return number == 0 ? ordered_json(nullptr) : ordered_json(number);
            };
            connections.push_back(
                {{"src", topology.place(src).name},
                 {"dst", topology.place(dst).name},
                 {"connection", connection_name(answer.connection)},
                 {"verified", verified_name(seen.verified)},
                 {"seen", nullable(seen.text)},
                 {"imported", connection_name(topology.import(src, dst).connection)},
                 {"coherence", coherence_name(answer.coherence)},
                 {"residency", residency_name(answer.residency)},
                 {"concurrent_writers", concurrent_writers_name(answer.concurrent_writers)},
                 {"path", copy_path_name(answer.path)},
                 {"preferred_queue", preferred_queue_name(answer.preferred_queue)},
                 {"link", link_name(answer.link_kind)},
                 {"bandwidth", known(answer.bandwidth)},
                 {"latency", known(answer.latency)},
                 {"channels", answer.channels},
                 {"reason", answer.reason}});
        }
    }
    return connections;
}

/// Bytes per second and seconds; `figures` names their source.
ordered_json links_json(const pi::runtime::TopologyDescription &topology,
                        const std::vector<Link> &links) {
    return array(links, [&](const Link &link) -> ordered_json {
        return {{"src", topology.place(link.from).name},
                {"dst", topology.place(link.to).name},
                {"link", link.kind},
                {"bandwidth", nullable(link.bandwidth)},
                {"latency", nullable(link.latency)},
                {"figures", source_name(link.source)}};
    });
}

ordered_json tree_json(const Node &node) {
    return {{"kind", node_kind_name(node.kind)},
            {"name", node.name},
            {"children", array(node.children, tree_json)}};
}

} // namespace

std::string to_json(const std::vector<Plugin> &plugins, const std::vector<Device> &devices,
                    const Connections &connections, const std::vector<Link> &links) {
    return dump({{"plugins", array(plugins, plugin_json)},
                 {"devices", array(devices, device_json)},
                 {"places", places_json(devices, connections)},
                 {"connections", connections_json(connections)},
                 {"links", links_json(connections.topology, links)},
                 {"tree", tree_json(find_tree(devices, connections))}});
}

std::string to_json(const std::vector<Plugin> &plugins) {
    // An object, not nlohmann's pair of strings.
    ordered_json document = ordered_json::object();
    document["plugins"] = array(plugins, plugin_json);
    return dump(document);
}

std::string to_json(const std::vector<Variable> &variables) {
    ordered_json document = ordered_json::object();
    document["environment"] = array(variables, [](const Variable &variable) -> ordered_json {
        return {{"name", variable.name},
                {"type", variable.type},
                {"description", variable.description},
                {"value", nullable(variable.value)}};
    });
    return dump(document);
}

} // namespace pi_info
