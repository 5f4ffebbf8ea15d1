// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/error.hpp>
#include <pi/runtime/topology.hpp>

#include <algorithm>
#include <cstring>
#include <map>

namespace pi::runtime {
namespace {

/// A fixed-size device info, or the fallback where the backend has no answer.
template <class T>
T device_info(pi_device device, pi_device_info name, T fallback) {
    T value{};
    return piDeviceGetInfo(device, name, sizeof value, &value, nullptr) == PI_SUCCESS ? value
                                                                                      : fallback;
}

/// The bytes of an info of any size; empty where the backend has no answer.
std::string device_bytes(pi_device device, pi_device_info name) {
    uint64_t size = 0;
    if (piDeviceGetInfo(device, name, 0, nullptr, &size) != PI_SUCCESS || size == 0) {
        return {};
    }
    std::string bytes(size, '\0');
    if (piDeviceGetInfo(device, name, size, bytes.data(), nullptr) != PI_SUCCESS) {
        return {};
    }
    return bytes;
}

std::string device_text(pi_device device, pi_device_info name) {
    return std::string(device_bytes(device, name).c_str());
}

pi_platform platform_of(pi_device device) {
    pi_platform platform = nullptr;
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr),
          "piDeviceGetInfo(PLATFORM)");
    return platform;
}

pi_plugin plugin_of(pi_device device) {
    pi_plugin plugin = nullptr;
    check(piPlatformGetInfo(platform_of(device), PI_PLATFORM_INFO_PLUGIN, sizeof plugin, &plugin,
                            nullptr),
          "piPlatformGetInfo(PLUGIN)");
    return plugin;
}

std::string default_name(pi_device device) {
    char plugin[64] = "plugin";
    piPluginGetInfo(plugin_of(device), PI_PLUGIN_INFO_NAME, sizeof plugin, plugin, nullptr);
    return std::string(plugin) + ":" + device_text(device, PI_DEVICE_INFO_NAME);
}

/// Without the number that tells equal devices apart.
std::string key_of(pi_device device, const DeviceIdentity &identity) {
    std::string key = default_name(device);
    if (!identity.uuid.empty()) {
        constexpr const char *digits = "0123456789abcdef";
        key += " uuid ";
        for (const char byte : identity.uuid) {
            key += digits[static_cast<unsigned char>(byte) >> 4];
            key += digits[static_cast<unsigned char>(byte) & 15];
        }
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
    return info;
}

Connection query(const Place &src, const Place &dst, pi_memory_kind kind) {
    pi_memory_connection_query question{};
    question.struct_size = sizeof question;
    question.type = PI_TYPE_MEMORY_CONNECTION_QUERY;
    question.kind = kind;
    pi_memory_connection_info answer{};
    answer.struct_size = sizeof answer;
    answer.type = PI_TYPE_MEMORY_CONNECTION_INFO;
    const pi_result result =
        piGetMemoryConnectionInfo(src.device, src.context, dst.device, dst.context,
                                  kind == PI_MEMORY_KIND_BUFFER ? nullptr : &question, &answer);
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
                      std::string(answer.reason, strnlen(answer.reason, sizeof answer.reason))};
        return connection;
    }
    connection.reason = std::string("piGetMemoryConnectionInfo: ") + result_name(result) + ": " +
                        last_error_text(result);
    if (kind != PI_MEMORY_KIND_BUFFER) {
        return connection; // a backend may know nothing of this kind
    }
    check(piGetMemoryConnection(src.device, src.context, dst.device, dst.context,
                                &connection.connection),
          "piGetMemoryConnection");
    return connection;
}

Context make_context(pi_platform platform, const std::vector<pi_device> &devices) {
    pi_context_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_CONTEXT_DESC;
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
    PlaceInfo info = describe(place);
    const pi_plugin plugin = plugin_of(place.device);
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
    pi_platform platform = nullptr;
    check(piContextGetInfo(context, PI_CONTEXT_INFO_PLATFORM, sizeof platform, &platform, nullptr),
          "piContextGetInfo(PLATFORM)");
    pi_plugin plugin = nullptr;
    check(piPlatformGetInfo(platform, PI_PLATFORM_INFO_PLUGIN, sizeof plugin, &plugin, nullptr),
          "piPlatformGetInfo(PLUGIN)");
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
