// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine's platforms and devices as plain values: queried once, then printed by text.cpp or
// json.cpp.
#pragma once

#include <pi/pi.hpp>
#include <pi/runtime/topology.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pi_info {

/// A plugin file that was found, or a plugin that was requested by name, with its status.
struct Plugin {
    std::string name; ///< "" if unknown
    std::string path;
    std::string reason; ///< "" if loaded
    pi_plugin_status status = 0;
    std::string version; ///< "" unless loaded or unavailable
    std::vector<std::string> capabilities;
};
/// Opens the vendors' libraries, so that unavailable plugins are known.
std::vector<Plugin> find_plugins(pi::LoaderRef loader);

/// A device and its properties. A property that the backend does not report is empty, never 0.
struct Device {
    pi_device handle = nullptr;
    pi_platform platform_handle = nullptr;
    std::string selector; ///< "opencl:0:1"
    std::string plugin;
    std::string platform;
    std::string platform_version;
    std::string backend;
    std::string name;
    std::string kind; ///< "cpu", "gpu", ...
    std::string vendor;
    std::string version;
    std::string driver_version;

    std::string uuid; ///< hexadecimal, as is luid
    std::string luid;
    std::string pci_address;
    std::optional<uint32_t> numa_node;

    std::optional<uint32_t> vendor_id;
    std::optional<uint32_t> device_id;

    std::optional<uint64_t> memory;      ///< bytes of scope 0
    std::optional<uint64_t> free_memory; ///< bytes
    std::optional<uint64_t> max_allocation;
    std::optional<uint32_t> compute_units;
    std::optional<uint64_t> max_work_group_size;
    std::optional<uint32_t> clock_rate; ///< MHz, as the memory's
    std::optional<uint32_t> memory_clock_rate;
    std::optional<uint32_t> memory_bus_width; ///< bits
    std::optional<uint64_t> cache_size;       ///< bytes
    std::optional<uint32_t> cache_line_size;  ///< bytes
    std::optional<bool> error_correction;
    std::optional<bool> atomic_64;
    std::optional<bool> fp16;
    std::optional<bool> fp64;
    std::optional<bool> integrated; ///< shares physical memory with the host
    std::optional<bool> host_pointer_import;
    std::optional<uint64_t> host_pointer_alignment;
    std::vector<std::string> offset_modes;
    std::vector<std::string> program_formats;
    std::vector<std::string> il_versions;
    std::vector<std::string> extensions;
    std::vector<std::string> capabilities;
    std::vector<pi_memory_scope> scopes;
};
/// The devices of a selector; nullptr: those of PI_DEVICE_SELECTOR, else all. Throws
/// pi::Error with the loader's text.
std::vector<Device> find_devices(pi::LoaderRef loader, const char *selector);

/// A variable that PI reads.
struct Variable {
    std::string name;
    std::string type;
    std::string description;
    std::optional<std::string> value; ///< empty if not set
};
std::vector<Variable> find_variables(pi::LoaderRef loader);

/// How devices share contexts, which can change their connections.
enum class Contexts {
    shared, ///< one context per platform
    own     ///< one context per device
};

/// The result of verifying a pair of places.
struct Seen {
    pi_verified verified = PI_VERIFIED_UNKNOWN;
    std::string text; ///< if it failed
};

/// All places of the devices, and their connections.
struct Connections {
    pi::runtime::TopologyDescription topology; ///< [0] is host memory
    std::vector<size_t> device_of;             ///< by place: the index of its device; [0] unused
    std::vector<uint32_t> context_of;          ///< by place: a number for each context, from 0
    /// For verified pairs, by source and destination.
    std::map<std::pair<pi::runtime::PlaceIndex, pi::runtime::PlaceIndex>, Seen> seen;
    std::vector<std::string> problems; ///< why a device has no place, or a place no connections
    /// Keeps the contexts alive for measurements; NULL if there are no connections.
    std::shared_ptr<const pi::runtime::Topology> live;
};
/// Writes the devices as a machine file for the sim plugin. `costs`: a file of pi-bench calibrate,
/// whose figures replace those of the plugins, or "". Throws pi::runtime::Error, or
/// std::runtime_error if the costs are invalid.
void save_machine(const std::vector<Device> &devices, const std::string &file,
                  const std::string &costs);

Connections find_connections(const std::vector<Device> &devices, Contexts contexts);

/// Verifies each pair of places (deep), ignoring earlier results: takes seconds per pair. A pair
/// that cannot be verified becomes a problem.
void verify(Connections &connections);
Seen seen_of(const Connections &connections, pi::runtime::PlaceIndex src,
             pi::runtime::PlaceIndex dst);

/// For people: replaces control characters in texts of plugins, files and the environment.
void make_printable(std::vector<Plugin> &plugins);
void make_printable(std::vector<Device> &devices);
void make_printable(std::vector<Variable> &variables);
void make_printable(Connections &connections);

} // namespace pi_info
