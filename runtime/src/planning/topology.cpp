// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/verified_pairs.hpp"

#include <pi/runtime/error.hpp>
#include <pi/runtime/topology.hpp>

#include <algorithm>
#include <array>

namespace pi::runtime {
namespace {

const char *connection_name(pi_memory_connection connection) {
    constexpr std::array names{"none", "migratable", "unified"};
    return connection < names.size() ? names[connection] : "?";
}

/// The host's access to a place's memory, and the place's access to the host's.
std::string host_column(const PlaceInfo &place) {
    return place.maps_in_place ? "mapped" : "copied";
}
std::string host_row(const PlaceInfo &place) {
    if (!place.host_pointer_import) {
        return "copied";
    }
    return "import/" + std::to_string(place.host_pointer_alignment);
}

std::string cell(const TopologyDescription &topology, const Verification *verification,
                 PlaceIndex src, PlaceIndex dst) {
    if (src == dst) {
        return src == host_place ? "unified"
                                 : connection_name(topology.buffer(src, dst).connection);
    }
    if (src == host_place) {
        return host_row(topology.place(dst));
    }
    if (dst == host_place) {
        return host_column(topology.place(src));
    }
    std::string name = connection_name(topology.buffer(src, dst).connection);
    if (verification == nullptr) {
        return name;
    }
    const Verified verified = verification->of({.src = src, .dst = dst});
    if (verified != Verified::yes) {
        return verified == Verified::failed ? "failed" : name;
    }
    const Verified kernels = verification->of({.src = src, .dst = dst, .kernels = true});
    return kernels == Verified::failed ? "copies +" : name + " +";
}

std::string padded(std::string text, size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text;
}

} // namespace

SameDevice same_device(const DeviceIdentity &a, const DeviceIdentity &b) {
    bool comparable = false;
    for (auto member :
         {&DeviceIdentity::uuid, &DeviceIdentity::luid, &DeviceIdentity::pci_address}) {
        const std::string &left = a.*member;
        const std::string &right = b.*member;
        if (left.empty() || right.empty()) {
            continue;
        }
        if (left == right) {
            return SameDevice::yes;
        }
        comparable = true;
    }
    return comparable ? SameDevice::no : SameDevice::unknown;
}

SameDevice Topology::same_device(PlaceIndex a, PlaceIndex b) const {
    if (a == b || (device(a) != nullptr && device(a) == device(b))) {
        return SameDevice::yes;
    }
    if (a == host_place || b == host_place) {
        return SameDevice::no;
    }
    return runtime::same_device(info(a).identity, info(b).identity);
}

const Connection *TopologyDescription::in_scope(const std::string &scope, PlaceIndex src,
                                                PlaceIndex dst) const {
    const auto has = [&](PlaceIndex index) {
        const std::vector<pi_memory_scope> &scopes = place(index).scopes;
        return std::any_of(scopes.begin(), scopes.end(),
                           [&](const pi_memory_scope &each) { return scope == each.name; });
    };
    const auto found = scoped.find(scope);
    return found == scoped.end() || !has(src) || !has(dst)
               ? nullptr
               : &found->second.at(src * places.size() + dst);
}

TopologyDescription unconnected_places(uint32_t count) {
    TopologyDescription topology;
    const size_t places = size_t{1} + count;
    topology.places.resize(places);
    topology.buffers.resize(places * places);
    topology.imported.resize(places * places);
    topology.places[0].name = topology.places[0].key = "host";
    topology.places[0].type = PI_DEVICE_TYPE_CPU;
    topology.places[0].integrated = true;
    topology.places[0].maps_in_place = true;
    for (uint32_t index = 0; index < places; ++index) {
        PlaceInfo &place = topology.places[index];
        place.instance = index;
        if (index > 0) {
            place.name = place.key = "place " + std::to_string(index);
        }
        for (auto *matrix : {&topology.buffers, &topology.imported}) {
            Connection &self = (*matrix)[index * places + index];
            self.connection = PI_MEMORY_CONNECTION_UNIFIED;
            self.residency = PI_RESIDENCY_SAME_MEMORY;
            self.concurrent_writers = PI_CONCURRENT_WRITERS_DISJOINT_BYTES;
        }
    }
    return topology;
}

namespace {

std::string table(const TopologyDescription &topology, const Verification *verification) {
    const auto count = static_cast<PlaceIndex>(topology.places.size());
    size_t width = 14;
    for (const PlaceInfo &place : topology.places) {
        width = std::max(width, place.name.size() + 2);
    }
    std::string text = padded("from \\ to", width);
    for (const PlaceInfo &place : topology.places) {
        text += padded(place.name, width);
    }
    text += '\n';
    for (PlaceIndex src = 0; src < count; ++src) {
        text += padded(topology.place(src).name, width);
        for (PlaceIndex dst = 0; dst < count; ++dst) {
            text += padded(cell(topology, verification, src, dst), width);
        }
        text += '\n';
    }
    return text;
}

} // namespace

std::string to_string(const TopologyDescription &topology) {
    return table(topology, nullptr);
}

std::string to_string(const TopologyDescription &topology, const Verification &verification) {
    std::string text = table(topology, &verification);
    const auto count = static_cast<PlaceIndex>(topology.places.size());
    for (PlaceIndex src = 1; src < count; ++src) {
        for (PlaceIndex dst = 1; dst < count; ++dst) {
            MemoryPair pair{.src = src, .dst = dst};
            pair.kernels = verification.of(pair) != Verified::failed;
            if (verification.of(pair) == Verified::failed) {
                text += topology.place(src).name + " -> " + topology.place(dst).name +
                        ": verification failed: " + verification.text(pair) + "\n";
            }
        }
    }
    return text;
}

Topology::Topology() = default;
Topology::~Topology() = default;

const Verification &Topology::verification() const noexcept {
    return *verified_pairs_;
}

} // namespace pi::runtime
