// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places and connections. A device for which no context can be created loses only its own row.
#include "inventory.hpp"

#include "query.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/handle.hpp>

#include <map>

namespace pi_info {
namespace {

using pi::runtime::Context;
using pi::runtime::Place;
using pi::runtime::Topology;

/// Indices of devices that share a context, in the order of their first one.
std::vector<std::vector<size_t>> group(const std::vector<Device> &devices, Contexts contexts) {
    std::vector<std::vector<size_t>> groups;
    std::map<pi_platform, size_t> known;
    for (size_t i = 0; i < devices.size(); ++i) {
        const auto [found, is_new] = known.try_emplace(devices[i].platform_handle, groups.size());
        if (is_new || contexts == Contexts::own) {
            groups.push_back({i});
        } else {
            groups[found->second].push_back(i);
        }
    }
    return groups;
}

Context make_context(const std::vector<Device> &devices, const std::vector<size_t> &members) {
    std::vector<pi_device> handles;
    handles.reserve(members.size());
    for (const size_t member : members) {
        handles.push_back(devices[member].handle);
    }
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = static_cast<uint32_t>(handles.size());
    desc.devices = handles.data();
    Context context;
    pi::runtime::check(
        piContextCreate(devices[members.front()].platform_handle, &desc, context.out()),
        "piContextCreate");
    return context;
}

std::string names_of(const std::vector<Device> &devices, const std::vector<size_t> &members) {
    std::string names;
    for (const size_t member : members) {
        names += (names.empty() ? "" : ", ") + devices[member].selector;
    }
    return names;
}

} // namespace

Connections find_connections(const std::vector<Device> &devices, Contexts contexts) {
    Connections result;
    result.topology = pi::runtime::unconnected_places(0);
    result.device_of.push_back(0);
    result.context_of.push_back(0);

    std::vector<Context> owned;
    std::vector<Place> places;
    for (const std::vector<size_t> &members : group(devices, contexts)) {
        try {
            owned.push_back(make_context(devices, members));
        } catch (const pi::runtime::Error &error) {
            result.problems.push_back("no context for " + names_of(devices, members) + ": " +
                                      error.what());
            continue;
        }
        for (const size_t member : members) {
            places.push_back(
                {devices[member].handle, owned.back().get(), devices[member].selector});
            result.device_of.push_back(member);
            result.context_of.push_back(static_cast<uint32_t>(owned.size()) - 1);
        }
    }
    try {
        result.live = Topology::from_places(places);
        result.topology = result.live->description();
    } catch (const pi::runtime::Error &error) {
        result.problems.push_back(std::string("no connections: ") + error.what());
    }
    return result;
}

} // namespace pi_info
