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

/// The index of a place in its topology. 0 is always the bare host; the others follow in the given
/// order.
using PlaceIndex = uint32_t;
inline constexpr PlaceIndex host_place = 0;

/// A location of bytes: a device in a context.
struct Place {
    pi_device device = nullptr;
    pi_context context = nullptr;
    std::string name; ///< for people ("opencl:0:1"); empty = "<plugin>:<device's name>"
};

enum class SameDevice { no, yes, unknown };

/// The identity of a device. Two devices are the same physical device if an identity that both have
/// is equal.
struct DeviceIdentity {
    std::string uuid;        ///< the 16 raw bytes; empty = the backend has none
    std::string luid;        ///< the 8 raw bytes
    std::string pci_address; ///< "0000:c1:00.0"
};
/// yes if an identity that both have is equal; no if both have at least one of the same kind and
/// none of these is equal; else unknown. Names decide nothing.
PI_RUNTIME_EXPORT SameDevice same_device(const DeviceIdentity &a, const DeviceIdentity &b);

/// The time that a command takes, as a plugin reports it: the latency, plus its bytes at that rate.
struct Speed {
    uint64_t bandwidth = 0; ///< bytes per second, not 0
    uint64_t latency = 0;   ///< nanoseconds
};

/// Properties of a place, queried once. Zero if the backend does not report them.
struct PlaceInfo {
    std::string name;
    /// Identifies the device across processes: plugin, name, UUID or PCI address, and a number if
    /// several devices are equal in these. Two contexts on one device have the same key. "host" for
    /// the host.
    std::string key;
    /// Places with the same number belong to one plugin instance, and can wait for each other's
    /// events. 0: the host.
    uint32_t instance = 0;
    DeviceIdentity identity;
    pi_device_type type = PI_DEVICE_TYPE_OTHER;
    bool integrated = false; ///< shares physical memory with the host (every CPU does)
    /// A map of scope 0 needs no copy: PI_SCOPE_MAPS_IN_PLACE.
    bool maps_in_place = false;
    bool host_pointer_import = false;
    uint64_t host_pointer_alignment = 1; ///< bytes, of pointer and size
    std::vector<pi_memory_scope> scopes;
    /// Speeds for scope 0, if the plugin reports them: reads, writes, and a map for reading in
    /// place or an unmap after writing.
    std::optional<Speed> host_read, host_write, map;
    /// Channels (PI_CONNECTION_MAX_CHANNELS) that these reads and writes occupy; empty = not
    /// reported.
    std::vector<uint64_t> host_read_channels, host_write_channels;
    /// Nanoseconds from the end of a command to its callback, if the plugin reports it.
    std::optional<uint64_t> callback_latency;

    bool shares_host_memory() const noexcept {
        return integrated || (type & PI_DEVICE_TYPE_CPU) != 0;
    }
};

/// The plugin's answer for one directed pair and one kind of memory: how dst can use memory of src.
struct Connection {
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    pi_coherence coherence = PI_COHERENCE_UNKNOWN;
    pi_residency residency = PI_RESIDENCY_UNKNOWN;
    pi_concurrent_writers concurrent_writers = PI_CONCURRENT_WRITERS_NONE;
    pi_copy_path path = PI_COPY_PATH_UNKNOWN;
    pi_preferred_queue preferred_queue = PI_PREFERRED_QUEUE_EITHER;
    pi_link_kind link_kind = PI_LINK_UNKNOWN;
    uint64_t bandwidth = 0;             ///< bytes per second; 0 = unknown
    uint64_t latency = 0;               ///< nanoseconds; 0 = unknown
    std::string reason;                 ///< one sentence, of the plugin or of the runtime
    bool atomics = false;               ///< dst's atomics work on src's memory
    uint32_t external_handle_types = 0; ///< 1 << PI_EXTERNAL_: src exports and dst imports the type
    /// Channels (PI_CONNECTION_MAX_CHANNELS) that a copy occupies; empty = unknown.
    std::vector<uint64_t> channels;
};

/// A topology without handles, for pure functions (routes) and for tests.
struct TopologyDescription {
    std::vector<PlaceInfo> places;    ///< [0] is the host
    std::vector<Connection> buffers;  ///< [src * places + dst]: ordinary buffers in scope 0
    std::vector<Connection> imported; ///< likewise: memory that src created from a host pointer
    /// Likewise, by the name of a scope: buffers in that scope at both ends, if it is not scope 0
    /// at all places.
    std::map<std::string, std::vector<Connection>> scoped;

    const PlaceInfo &place(PlaceIndex index) const { return places.at(index); }
    const Connection &buffer(PlaceIndex src, PlaceIndex dst) const {
        return buffers.at(src * places.size() + dst);
    }
    const Connection &import(PlaceIndex src, PlaceIndex dst) const {
        return imported.at(src * places.size() + dst);
    }
    /// NULL if the pair was not queried, because a place has no scope of this name.
    PI_RUNTIME_EXPORT const Connection *in_scope(const std::string &scope, PlaceIndex src,
                                                 PlaceIndex dst) const;
};
/// The host and `count` more places, each connected only with itself.
PI_RUNTIME_EXPORT TopologyDescription unconnected_places(uint32_t count);
/// The connections as a table for people: one row per source; the host is a derived row and column.
PI_RUNTIME_EXPORT std::string to_string(const TopologyDescription &topology);

class CostTable;
class Verification;
class VerifiedPairs;
class Runtime;
class RuntimeState;

/// The same with the results of verification: "unified +" is verified; "copies +" is one where only
/// kernels see other bytes; "failed" lost bytes, and a line below the table says which.
PI_RUNTIME_EXPORT std::string to_string(const TopologyDescription &topology,
                                        const Verification &verification);

/// All places of an application and the connections of every ordered pair, queried once; immutable
/// and thread-safe. Keeps contexts and devices alive. It also holds the results of verification so
/// far, which all runtimes of the topology share.
class PI_RUNTIME_EXPORT Topology {
public:
    ~Topology();
    /// The places in the given order; contexts and devices are retained. PI_ERROR_INVALID_VALUE: a
    /// place twice, or without a device or context. PI_ERROR_INVALID_DEVICE: a device of another
    /// platform or another loader than its context. Places of different loaders reach each other
    /// through the host.
    static std::shared_ptr<const Topology> from_places(std::span<const Place> places);
    /// Creates one context for each group and each of its platforms; the places are in the order of
    /// the devices. `names`: one per device, or empty.
    static std::shared_ptr<const Topology>
    from_groups(std::span<const std::vector<pi_device>> groups,
                std::span<const std::string> names = {});
    /// One group: all devices of a platform share a context.
    static std::shared_ptr<const Topology> from_devices(std::span<const pi_device> devices,
                                                        std::span<const std::string> names = {});

    const TopologyDescription &description() const noexcept { return description_; }
    /// Number of places, including the host.
    uint32_t size() const noexcept { return static_cast<uint32_t>(description_.places.size()); }
    const PlaceInfo &info(PlaceIndex place) const { return description_.place(place); }
    /// NULL for the host.
    pi_device device(PlaceIndex place) const { return devices_.at(place).get(); }
    pi_context context(PlaceIndex place) const { return contexts_.at(place).get(); }
    SameDevice same_device(PlaceIndex a, PlaceIndex b) const;
    /// PlaceInfo::instance of the context's plugin; 0 if no place belongs to that plugin.
    uint32_t instance_of(pi_context context) const;
    /// With the results of verification so far.
    std::string to_string() const { return runtime::to_string(description_, verification()); }
    const Verification &verification() const noexcept;

    /// Writes the devices of the places as a machine file, which the sim plugin can simulate
    /// (PI_SIM_MACHINE): its devices then answer as these do. docs/machine-files.md says which
    /// values stand in for those that a device does not report. `costs`: measured for this
    /// topology; they take precedence over the plugins' reports. PI_ERROR_INVALID_VALUE: there is
    /// no device, the costs are for another number of places, or the file cannot be written.
    void save(const std::string &path, const CostTable *costs = nullptr) const;

private:
    friend class Runtime;
    friend class RuntimeState; // they verify

    Topology();
    void add_place(const Place &place);
    void query_connections();
    void query_scopes(PlaceIndex src, PlaceIndex dst);

    TopologyDescription description_;
    // The release of a loader waits for contexts, but not for devices: devices are destroyed first.
    std::vector<Context> contexts_;                                // [0] is empty: the host
    std::vector<Device> devices_;                                  // likewise
    std::vector<pi_plugin> instances_;                             // [PlaceInfo::instance - 1]
    std::map<std::string, std::vector<pi_device>> devices_by_key_; // devices that look the same
    std::unique_ptr<VerifiedPairs> verified_pairs_;
};

} // namespace pi::runtime
