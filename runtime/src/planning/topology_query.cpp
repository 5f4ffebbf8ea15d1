// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/device_query.hpp"
#include "planning/verified_pairs.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>
#include <pi/runtime/topology.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace pi::runtime {
namespace {

/// Empty where the plugin does not know, or reports no rate.
std::optional<Speed> device_speed(pi_device device, pi_device_info name) {
    const auto reported = device_info<std::array<uint64_t, 2>>(device, name, {});
    return reported[0] != 0 ? std::optional(Speed{reported[0], reported[1]}) : std::nullopt;
}

std::vector<uint64_t> device_channels(pi_device device, pi_device_info name) {
    const std::string reported = device_bytes(device, name);
    std::vector<uint64_t> channels(reported.size() / sizeof(uint64_t));
    std::copy_n(reported.begin(), channels.size() * sizeof(uint64_t),
                reinterpret_cast<char *>(channels.data()));
    return channels;
}

std::string default_name(pi_device device) {
    char plugin[64] = "plugin";
    piPluginGetInfo(plugin_of(device), PI_PLUGIN_INFO_NAME, sizeof plugin, plugin, nullptr);
    return std::string(plugin) + ":" + device_text(device, PI_DEVICE_INFO_NAME);
}

/// Without the number that distinguishes equal devices.
std::string key_of(pi_device device, const DeviceIdentity &identity) {
    std::string key = default_name(device);
    if (!identity.uuid.empty()) {
        key += " uuid " + hexadecimal(identity.uuid);
    } else if (!identity.pci_address.empty()) {
        key += " at " + identity.pci_address;
    }
    return key;
}

std::vector<pi_memory_scope> scopes_of(pi_device device) {
    uint32_t count = 0;
    check(piDeviceGetMemoryScopes(device, 0, nullptr, &count), "piDeviceGetMemoryScopes");
    std::vector<pi_memory_scope> scopes(count);
    check(piDeviceGetMemoryScopes(device, count, scopes.data(), &count), "piDeviceGetMemoryScopes");
    if (scopes.empty()) {
        throw Error(PI_ERROR_INTERNAL, "piDeviceGetMemoryScopes: the device has no scope 0");
    }
    return scopes;
}

PlaceInfo describe(const Place &place) {
    PlaceInfo info;
    info.name = place.name.empty() ? default_name(place.device) : place.name;
    info.identity.uuid = device_bytes(place.device, PI_DEVICE_INFO_UUID);
    info.identity.luid = device_bytes(place.device, PI_DEVICE_INFO_LUID);
    info.identity.pci_address = device_text(place.device, PI_DEVICE_INFO_PCI_ADDRESS);
    info.key = key_of(place.device, info.identity);
    info.type =
        device_info<pi_device_type>(place.device, PI_DEVICE_INFO_TYPE, PI_DEVICE_TYPE_OTHER);
    info.integrated = device_info<uint32_t>(place.device, PI_DEVICE_INFO_INTEGRATED, 0) != 0;
    info.scopes = scopes_of(place.device);
    info.maps_in_place = (info.scopes[0].flags & PI_SCOPE_MAPS_IN_PLACE) != 0;
    info.host_pointer_import =
        device_info<uint32_t>(place.device, PI_DEVICE_INFO_HOST_POINTER_IMPORT, 0) != 0;
    info.host_pointer_alignment = std::max<uint64_t>(
        1, device_info<uint64_t>(place.device, PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT, 1));
    info.host_read = device_speed(place.device, PI_DEVICE_INFO_HOST_READ_SPEED);
    info.host_write = device_speed(place.device, PI_DEVICE_INFO_HOST_WRITE_SPEED);
    info.map = device_speed(place.device, PI_DEVICE_INFO_MAP_SPEED);
    info.host_read_channels = device_channels(place.device, PI_DEVICE_INFO_HOST_READ_CHANNELS);
    info.host_write_channels = device_channels(place.device, PI_DEVICE_INFO_HOST_WRITE_CHANNELS);
    const auto callback =
        device_info<uint64_t>(place.device, PI_DEVICE_INFO_CALLBACK_LATENCY, UINT64_MAX);
    if (callback != UINT64_MAX) {
        info.callback_latency = callback;
    }
    return info;
}

Connection query(const Place &src, const Place &dst, pi_memory_kind kind, uint32_t src_scope = 0,
                 uint32_t dst_scope = 0) {
    const bool plain = kind == PI_MEMORY_KIND_BUFFER && src_scope == 0 && dst_scope == 0;
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = kind;
    query.src_scope = src_scope;
    query.dst_scope = dst_scope;
    auto answer = pi::desc<pi_memory_connection_info>();
    const pi_result result = piGetMemoryConnectionInfo(
        src.device, src.context, dst.device, dst.context, plain ? nullptr : &query, &answer);
    Connection connection;
    if (result == PI_SUCCESS) {
        connection = {answer.connection,
                      answer.coherence,
                      answer.residency,
                      answer.concurrent_writers,
                      answer.path,
                      answer.preferred_queue,
                      answer.link_kind,
                      answer.bandwidth,
                      answer.latency,
                      std::string(answer.reason, strnlen(answer.reason, sizeof answer.reason)),
                      answer.atomics != 0,
                      answer.external_handle_types,
                      {std::begin(answer.channels), std::end(answer.channels)}};
        std::erase(connection.channels, 0);
        return connection;
    }
    connection.reason = std::string("piGetMemoryConnectionInfo: ") + result_name(result) + ": " +
                        last_error_text(result);
    if (!plain) {
        return connection; // a backend may know nothing of this kind, or of this scope
    }
    check(piGetMemoryConnection(src.device, src.context, dst.device, dst.context,
                                &connection.connection),
          "piGetMemoryConnection");
    return connection;
}

Context make_context(pi_platform platform, const std::vector<pi_device> &devices) {
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = static_cast<uint32_t>(devices.size());
    desc.devices = devices.data();
    Context context;
    check(piContextCreate(platform, &desc, context.out()), "piContextCreate");
    return context;
}

} // namespace

void Topology::add_place(const Place &place) {
    if (place.device == nullptr || place.context == nullptr) {
        throw Error(PI_ERROR_INVALID_VALUE,
                    "place " + std::to_string(devices_.size()) + " has no " +
                        (place.device == nullptr ? "device" : "context") +
                        " (the bare host is always place 0 and is not given)");
    }
    for (size_t index = 1; index < devices_.size(); ++index) {
        if (devices_[index].get() == place.device && contexts_[index].get() == place.context) {
            throw Error(PI_ERROR_INVALID_VALUE, "place " + std::to_string(devices_.size()) +
                                                    " is place " + std::to_string(index) +
                                                    " given twice");
        }
    }
    const pi_platform platform = platform_of(place.context);
    if (platform != platform_of(place.device)) {
        throw Error(PI_ERROR_INVALID_DEVICE,
                    "place " + std::to_string(devices_.size()) +
                        ": its device is of another platform than its context, or of another "
                        "loader's");
    }
    PlaceInfo info = describe(place);
    const pi_plugin plugin = plugin_of(platform);
    const auto known = std::find(instances_.begin(), instances_.end(), plugin);
    info.instance = static_cast<uint32_t>(known - instances_.begin()) + 1;
    if (known == instances_.end()) {
        instances_.push_back(plugin);
    }
    const std::string name = info.name;
    const auto taken = [this](const std::string &wanted) {
        return std::any_of(
            description_.places.begin(), description_.places.end(),
            [&](const PlaceInfo &known_place) { return known_place.name == wanted; });
    };
    for (uint32_t number = 2; taken(info.name); ++number) {
        info.name = name + " #" + std::to_string(number);
    }
    std::vector<pi_device> &equal = devices_by_key_[info.key];
    const auto position = std::find(equal.begin(), equal.end(), place.device) - equal.begin();
    if (position == static_cast<ptrdiff_t>(equal.size())) {
        equal.push_back(place.device);
    }
    if (position > 0) {
        info.key += " #" + std::to_string(position + 1);
    }
    description_.places.push_back(std::move(info));
    devices_.push_back(Device::share(place.device));
    contexts_.push_back(Context::share(place.context));
}

uint32_t Topology::instance_of(pi_context context) const {
    const pi_plugin plugin = plugin_of(platform_of(context));
    const auto known = std::find(instances_.begin(), instances_.end(), plugin);
    return known == instances_.end() ? 0 : static_cast<uint32_t>(known - instances_.begin()) + 1;
}

void Topology::query_connections() {
    const size_t count = description_.places.size();
    description_.buffers.resize(count * count);
    description_.imported.resize(count * count);
    for (PlaceIndex src = 1; src < count; ++src) {
        for (PlaceIndex dst = 1; dst < count; ++dst) {
            const Place from{device(src), context(src), {}};
            const Place to{device(dst), context(dst), {}};
            description_.buffers[src * count + dst] = query(from, to, PI_MEMORY_KIND_BUFFER);
            description_.imported[src * count + dst] = query(from, to, PI_MEMORY_KIND_IMPORTED);
            query_scopes(src, dst);
        }
    }
}

void Topology::query_scopes(PlaceIndex src, PlaceIndex dst) {
    const size_t count = description_.places.size();
    const std::vector<pi_memory_scope> &sources = info(src).scopes;
    const std::vector<pi_memory_scope> &destinations = info(dst).scopes;
    for (uint32_t from = 0; from < sources.size(); ++from) {
        for (uint32_t to = 0; to < destinations.size(); ++to) {
            if ((from == 0 && to == 0) ||
                std::strcmp(sources[from].name, destinations[to].name) != 0) {
                continue;
            }
            std::vector<Connection> &matrix = description_.scoped[sources[from].name];
            matrix.resize(count * count);
            matrix[src * count + dst] =
                query({device(src), context(src), {}}, {device(dst), context(dst), {}},
                      PI_MEMORY_KIND_BUFFER, from, to);
        }
    }
}

std::shared_ptr<const Topology> Topology::from_places(std::span<const Place> places) {
    std::shared_ptr<Topology> topology(new Topology);
    topology->description_ = unconnected_places(0);
    topology->devices_.emplace_back();
    topology->contexts_.emplace_back();
    for (const Place &place : places) {
        topology->add_place(place);
    }
    topology->query_connections();
    topology->verified_pairs_ = std::make_unique<VerifiedPairs>(*topology);
    return topology;
}

std::shared_ptr<const Topology>
Topology::from_groups(std::span<const std::vector<pi_device>> groups,
                      std::span<const std::string> names) {
    std::vector<Context> owned;
    std::vector<Place> places;
    for (const std::vector<pi_device> &group : groups) {
        std::map<pi_platform, std::vector<pi_device>> platforms;
        for (pi_device device : group) {
            platforms[platform_of(device)].push_back(device);
        }
        std::map<pi_platform, pi_context> contexts;
        for (const auto &[platform, devices] : platforms) {
            contexts[platform] = owned.emplace_back(make_context(platform, devices)).get();
        }
        for (pi_device device : group) {
            places.push_back({device, contexts.at(platform_of(device)), {}});
        }
    }
    if (!names.empty() && names.size() != places.size()) {
        throw Error(PI_ERROR_INVALID_VALUE, std::to_string(names.size()) + " names for " +
                                                std::to_string(places.size()) + " devices");
    }
    for (size_t index = 0; index < names.size(); ++index) {
        places[index].name = names[index];
    }
    return from_places(places);
}

std::shared_ptr<const Topology> Topology::from_devices(std::span<const pi_device> devices,
                                                       std::span<const std::string> names) {
    const std::vector<pi_device> group(devices.begin(), devices.end());
    return from_groups(std::span(&group, 1), names);
}

} // namespace pi::runtime
