// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi.h>
#include <pi/runtime/export.hpp>
#include <pi/runtime/handle.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pi::runtime {

/// The number of a place in its topology. 0 is always the bare host; the others follow in the order in
/// which they were given.
using PlaceIndex = uint32_t;
inline constexpr PlaceIndex host_place = 0;

/// Where bytes can live: a device in a context.
struct Place {
    pi_device device = nullptr;
    pi_context context = nullptr;
    std::string name; ///< for people ("opencl:0:1"); empty = "<plugin>:<device's name>"
};

enum class SameDevice { no, yes, unknown };

/// Who a device is. Two are the same physical device if an identity that both have is equal.
struct DeviceIdentity {
    std::string uuid;        ///< the 16 raw bytes; empty = the backend has none
    std::string luid;        ///< the 8 raw bytes
    std::string pci_address; ///< "0000:c1:00.0"
};
/// Yes if some identity that both have is equal; no if they share one and none is equal; else unknown.
/// Names decide nothing.
PI_RUNTIME_EXPORT SameDevice same_device(const DeviceIdentity &a, const DeviceIdentity &b);

/// What a plugin says that a command takes: the latency, and its bytes at that rate.
struct Speed {
    uint64_t bandwidth = 0; ///< bytes a second, not 0
    uint64_t latency = 0;   ///< nanoseconds
};

/// What the runtime knows of a place, asked once. Zeros where the backend does not say.
struct PlaceInfo {
    std::string name;
    /// Tells the device again in another process: plugin, name, UUID or PCI address, and a number where
    /// several have the same. Two contexts on one device have the same key. "host" for the host.
    std::string key;
    uint32_t instance =
        0; ///< places of one plugin instance wait for each other's events; 0: the host
    DeviceIdentity identity;
    pi_device_type type = PI_DEVICE_TYPE_OTHER;
    bool integrated = false; ///< shares physical memory with the host (every CPU does)
    /// A map of scope 0 costs no copy: PI_SCOPE_MAPS_IN_PLACE.
    bool maps_in_place = false;
    bool host_pointer_import = false;
    uint64_t host_pointer_alignment = 1; ///< bytes, of pointer and size
    std::vector<pi_memory_scope> scopes;
    /// Of scope 0, where the plugin says it: reads and writes, and a map for reading in place or the unmap
    /// after writing.
    std::optional<Speed> host_read, host_write, map;
    /// PI_CONNECTION_MAX_CHANNELS: that those reads and writes take; empty where the plugin does not say it.
    std::vector<uint64_t> host_read_channels, host_write_channels;
    /// Nanoseconds from a command's end to its callback, where the plugin says it.
    std::optional<uint64_t> callback_latency;

    bool shares_host_memory() const noexcept {
        return integrated || (type & PI_DEVICE_TYPE_CPU) != 0;
    }
};

/// The plugin's answer for one directed pair and one kind of memory: what memory of src is to dst.
struct Connection {
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    pi_coherence coherence = PI_COHERENCE_UNKNOWN;
    pi_residency residency = PI_RESIDENCY_UNKNOWN;
    pi_concurrent_writers concurrent_writers = PI_CONCURRENT_WRITERS_NONE;
    pi_copy_path path = PI_COPY_PATH_UNKNOWN;
    pi_preferred_queue preferred_queue = PI_PREFERRED_QUEUE_EITHER;
    pi_link_kind link_kind = PI_LINK_UNKNOWN;
    uint64_t bandwidth = 0;             ///< bytes a second; 0 = unknown
    uint64_t latency = 0;               ///< nanoseconds; 0 = unknown
    std::string reason;                 ///< a sentence of the plugin, or of the runtime
    bool atomics = false;               ///< of dst on src's memory
    uint32_t external_handle_types = 0; ///< 1 << PI_EXTERNAL_: what src exports and dst imports
    std::vector<uint64_t>
        channels; ///< PI_CONNECTION_MAX_CHANNELS: that a copy takes; empty = unknown
};

/// A topology without handles: what the pure functions (routes) work on, and what tests make up.
struct TopologyDescription {
    std::vector<PlaceInfo> places;    ///< [0] is the host
    std::vector<Connection> buffers;  ///< [src * places + dst]: ordinary buffers in scope 0
    std::vector<Connection> imported; ///< likewise: memory that src made of a host pointer
    /// Likewise, by a scope's name: buffers in it at both ends, where that is scope 0 not everywhere.
    std::map<std::string, std::vector<Connection>> scoped;

    const PlaceInfo &place(PlaceIndex index) const { return places.at(index); }
    const Connection &buffer(PlaceIndex src, PlaceIndex dst) const {
        return buffers.at(src * places.size() + dst);
    }
    const Connection &import(PlaceIndex src, PlaceIndex dst) const {
        return imported.at(src * places.size() + dst);
    }
    /// NULL where it was not asked: a place has no scope of this name.
    PI_RUNTIME_EXPORT const Connection *in_scope(const std::string &scope, PlaceIndex src,
                                                 PlaceIndex dst) const;
};
/// The host and `count` more places, nothing connected but each with itself.
PI_RUNTIME_EXPORT TopologyDescription unconnected_places(uint32_t count);
/// The matrix as a table for people: one row a source, the host as a derived row and column.
PI_RUNTIME_EXPORT std::string to_string(const TopologyDescription &topology);

class CostTable;
class Verification;
class VerifiedPairs;
class Runtime;
class RuntimeState;

/// The same with what is known of the connections: "unified +" of one that was verified, "copies +" of one where
/// only kernels see other bytes, "failed" of one that lost bytes, and below the table what was seen of it.
PI_RUNTIME_EXPORT std::string to_string(const TopologyDescription &topology,
                                        const Verification &verification);

/// All places of an application and every ordered pair's answer, asked once, immutable, thread-safe. It
/// keeps contexts and devices alive. Beside the plugins' answers it has what runtimes have verified of them
/// so far; that is shared by all runtimes of the topology.
class PI_RUNTIME_EXPORT Topology {
public:
    ~Topology();
    /// Places as given; contexts and devices are retained. A place given twice, or without a device or
    /// context, is PI_ERROR_INVALID_VALUE; a device of another platform than its context, or of another
    /// loader's, PI_ERROR_INVALID_DEVICE. Places of several loaders reach each other through the host.
    static std::shared_ptr<const Topology> from_places(std::span<const Place> places);
    /// Makes one context for each group and each platform in it; the order of the places is that of the
    /// devices. `names`: as many as devices in all, or empty.
    static std::shared_ptr<const Topology>
    from_groups(std::span<const std::vector<pi_device>> groups,
                std::span<const std::string> names = {});
    /// One group: devices of one platform share a context.
    static std::shared_ptr<const Topology> from_devices(std::span<const pi_device> devices,
                                                        std::span<const std::string> names = {});

    const TopologyDescription &description() const noexcept { return description_; }
    /// The host counted.
    uint32_t size() const noexcept { return static_cast<uint32_t>(description_.places.size()); }
    const PlaceInfo &info(PlaceIndex place) const { return description_.place(place); }
    /// NULL for the host.
    pi_device device(PlaceIndex place) const { return devices_.at(place).get(); }
    pi_context context(PlaceIndex place) const { return contexts_.at(place).get(); }
    SameDevice same_device(PlaceIndex a, PlaceIndex b) const;
    /// PlaceInfo::instance of the plugin that a context belongs to; 0 if no place is of that plugin.
    uint32_t instance_of(pi_context context) const;
    /// With what is known so far.
    std::string to_string() const { return runtime::to_string(description_, verification()); }
    const Verification &verification() const noexcept;

    /// Writes the places' devices as a machine file, which the sim plugin simulates (PI_SIM_MACHINE); so it
    /// is read again: by that plugin, whose devices answer as these do. docs/machine-files.md says what is
    /// put where a device tells nothing. `costs`: measured ones of this topology, which go before what the
    /// plugins say. PI_ERROR_INVALID_VALUE if there is no device, the costs are of another number of places,
    /// or the file cannot be written.
    void save(const std::string &path, const CostTable *costs = nullptr) const;

private:
    friend class Runtime;
    friend class RuntimeState; // which verify

    Topology();
    void add_place(const Place &place);
    void query_connections();
    void query_scopes(PlaceIndex src, PlaceIndex dst);

    TopologyDescription description_;
    // A loader that is released waits for contexts, and not for devices: the devices go first.
    std::vector<Context> contexts_;                                // [0] is empty: the host
    std::vector<Device> devices_;                                  // likewise
    std::vector<pi_plugin> instances_;                             // [PlaceInfo::instance - 1]
    std::map<std::string, std::vector<pi_device>> devices_by_key_; // those that look the same
    std::unique_ptr<VerifiedPairs> verified_pairs_;
};

} // namespace pi::runtime
