// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>

namespace pi::drivers {

namespace {

using Json = nlohmann::json;

std::uint64_t bytes_of(const Json &value, const std::string &where) {
    if (value.is_number_unsigned())
        return value.get<std::uint64_t>();
    if (value.is_string()) {
        const std::map<std::string, double> units = {{"", 1},
                                                     {"B", 1},
                                                     {"kB", 1e3},
                                                     {"KB", 1e3},
                                                     {"MB", 1e6},
                                                     {"GB", 1e9},
                                                     {"TB", 1e12},
                                                     {"KiB", 1024.0},
                                                     {"MiB", 1048576.0},
                                                     {"GiB", 1073741824.0},
                                                     {"TiB", 1099511627776.0}};
        const std::string text = value.get<std::string>();
        char *end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        while (*end == ' ')
            ++end;
        const auto unit = units.find(end);
        if (end != text.c_str() && unit != units.end() && number >= 0)
            return static_cast<std::uint64_t>(std::llround(number * unit->second));
    }
    throw std::runtime_error(where + " is " + value.dump() +
                             "; a number of bytes, or a text such as \"16 GiB\", is needed");
}

/// The member; throws an exception that names it if it is missing.
const Json &member(const Json &object, const char *name, const std::string &where) {
    if (!object.is_object() || !object.contains(name))
        throw std::runtime_error(where + "." + name + " is missing");
    return object.at(name);
}

DeviceModel read_device(const Json &json, const std::string &where) {
    DeviceModel device;
    device.name = member(json, "name", where).get<std::string>();
    const Json &scopes = member(json, "scopes", where);
    if (!scopes.is_array() || scopes.empty())
        throw std::runtime_error(where + ".scopes is empty; at least one is needed");
    device.capacity = bytes_of(member(scopes[0], "capacity", where + ".scopes[0]"),
                               where + ".scopes[0].capacity");
    device.compute_units = json.value("compute_units", 1);
    device.tiles = json.value("tiles", 0);
    if (device.tiles != 0 && (device.tiles < 2 || device.compute_units % device.tiles != 0))
        throw std::runtime_error(where + ".tiles is " + std::to_string(device.tiles) +
                                 "; a number from 2 on that divides compute_units (" +
                                 std::to_string(device.compute_units) + ") is needed");
    device.integrated = json.value("integrated", false);
    device.uuid = json.value("uuid", "");
    device.luid = json.value("luid", "");
    device.pci_address = json.value("pci_address", "");
    return device;
}

/// "25 GB/s", or a number; 0 where there is none.
std::uint64_t bandwidth_of(const Json &json, const std::string &where) {
    if (!json.contains("bandwidth"))
        return 0;
    Json value = json.at("bandwidth");
    if (value.is_number())
        return static_cast<std::uint64_t>(std::llround(value.get<double>()));
    if (value.is_string())
        if (const auto text = value.get<std::string>(); text.ends_with("/s"))
            value = text.substr(0, text.size() - 2);
    return bytes_of(value, where + ".bandwidth");
}

using Indices = std::map<std::string, std::size_t>;

bool loses(const Json &json, const char *commands) {
    const Json lossy = json.value("loses_pages", Json::array());
    return std::find(lossy.begin(), lossy.end(), commands) != lossy.end();
}

/// A link gives `to` access to memory of `from`. Links of devices that were left out are ignored.
void read_link(const Json &json, const Indices &indices, const std::string &where,
               Machine &machine) {
    const LinkModel link{
        .access = json.value("connection", "none") == "unified",
        .atomics = json.value("atomics", false),
        .shared = json.contains("channels"),
        .kind = json.value("kind", ""),
        .bandwidth = bandwidth_of(json, where),
        .copies_lose_pages = loses(json, "copies"),
        .kernels_lose_pages = loses(json, "kernels"),
    };
    const auto join = [&](const std::string &from, const std::string &to) {
        const auto owner = indices.find(from), user = indices.find(to);
        if (user == indices.end())
            return;
        if (from == "host")
            machine.devices[user->second].host_bandwidth = link.bandwidth;
        if (owner == indices.end() || owner == user)
            return;
        machine.access[user->second][owner->second] = link.access;
        machine.links[user->second][owner->second] = link;
    };
    if (json.contains("between")) {
        const auto names = json.at("between").get<std::vector<std::string>>();
        for (const std::string &from : names)
            for (const std::string &to : names)
                join(from, to);
    } else {
        join(member(json, "from", where).get<std::string>(),
             member(json, "to", where).get<std::string>());
    }
}

Machine parse(const Json &json) {
    if (member(json, "pi_machine", "the machine") != 1)
        throw std::runtime_error("pi_machine is not 1");
    Machine machine;
    Indices indices;
    const Json &devices = member(json, "devices", "the machine");
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::string where = "devices[" + std::to_string(i) + "]";
        if (member(devices[i], "type", where) == "cpu")
            continue;
        DeviceModel device = read_device(devices[i], where);
        indices[device.name] = machine.devices.size();
        machine.devices.push_back(std::move(device));
    }
    const std::size_t count = machine.devices.size();
    machine.access.assign(count, std::vector<bool>(count, false));
    machine.links.assign(count, std::vector<LinkModel>(count));
    const Json links = json.value("links", Json::array());
    for (std::size_t i = 0; i < links.size(); ++i)
        read_link(links[i], indices, "links[" + std::to_string(i) + "]", machine);
    return machine;
}

} // namespace

bool Machine::copy_loses_pages(std::optional<std::size_t> from, std::size_t by,
                               std::optional<std::size_t> to) const {
    const auto loses = [this](std::size_t owner, std::size_t user) {
        return owner != user && links[user][owner].copies_lose_pages;
    };
    if (from && to && from != to)
        return loses(*from, *to);
    return (from && loses(*from, by)) || (to && loses(by, *to));
}

bool Machine::kernel_loses_pages(std::optional<std::size_t> owner, std::size_t by) const {
    return owner && owner != by && links[by][*owner].kernels_lose_pages;
}

Machine read_machine(const std::string &path) {
    if (path.empty())
        return {{{.name = "device", .capacity = std::uint64_t(4) << 30, .compute_units = 4}},
                {{false}},
                {{{}}}};
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error(path + ": cannot be read");
    try {
        return parse(Json::parse(file));
    } catch (const std::exception &error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

} // namespace pi::drivers
