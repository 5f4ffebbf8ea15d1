// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is on this machine, as plain values: asked once, then printed by text.cpp or json.cpp.
#pragma once

#include <pi/pi_loader.h>
#include <pi/runtime/topology.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pi_info {

/// A plugin file that was found, or a name that was asked for, and what became of it.
struct Plugin {
    std::string name; ///< "" when the file did not tell one
    std::string path;
    std::string reason; ///< "" when loaded
    pi_plugin_status status = 0;
    std::string version; ///< "" unless loaded or unavailable
    std::vector<std::string> capabilities;
};
/// Opens the vendors' libraries, so that what is unavailable is known.
std::vector<Plugin> find_plugins(pi_loader loader);

/// A device and what it tells of itself. What the backend has no answer to is empty, never 0.
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

    std::optional<uint64_t> memory; ///< bytes of scope 0
    std::optional<uint64_t> max_allocation;
    std::optional<uint32_t> compute_units;
    std::optional<uint64_t> max_work_group_size;
    std::optional<bool> fp16;
    std::optional<bool> fp64;
    std::optional<bool> integrated; ///< shares physical memory with the host
    std::optional<bool> host_pointer_import;
    std::optional<uint64_t> host_pointer_alignment;
    std::vector<std::string> offset_modes;
    std::vector<std::string> program_formats;
    std::vector<std::string> capabilities;
    std::vector<pi_memory_scope> scopes;
};
/// The devices that a selector names; nullptr: those of PI_DEVICE_SELECTOR, else all. Throws
/// pi::runtime::Error with the loader's text.
std::vector<Device> find_devices(pi_loader loader, const char *selector);

/// A variable that PI reads.
struct Variable {
    std::string name;
    std::string type;
    std::string description;
    std::optional<std::string> value; ///< in force
};
std::vector<Variable> find_variables(pi_loader loader);

/// How devices are put into contexts: what memory means to another device can depend on it.
enum class Contexts {
    shared, ///< the devices of a platform share one
    own     ///< each device has its own
};

/// What a verification of a pair of places saw.
struct Seen {
    pi_verified verified = PI_VERIFIED_UNKNOWN;
    std::string text; ///< when failed
};

/// All places of the devices and what memory of each is to each other.
struct Connections {
    pi::runtime::TopologyDescription topology; ///< [0] is the bare host
    std::vector<size_t> device_of;             ///< by place: the index of its device; [0] unused
    std::vector<uint32_t> context_of;          ///< by place: a number for each context, from 0
    /// By source and destination, those that were verified.
    std::map<std::pair<pi::runtime::PlaceIndex, pi::runtime::PlaceIndex>, Seen> seen;
    std::vector<std::string> problems; ///< why a device has no place, or a place no connections
    /// Keeps the contexts, for who measures; NULL where there are no connections.
    std::shared_ptr<const pi::runtime::Topology> live;
};
/// Writes the devices as a machine file for the sim plugin. `costs`: a file of pi-bench calibrate whose
/// figures go before what the plugins say, or "". Throws pi::runtime::Error, or std::runtime_error with
/// what is wrong with the costs.
void save_machine(const std::vector<Device> &devices, const std::string &file,
                  const std::string &costs);

Connections find_connections(const std::vector<Device> &devices, Contexts contexts);

/// Verifies each pair of places deep, whatever was seen before: seconds a pair. A pair that cannot be verified is a problem.
void verify(Connections &connections);
Seen seen_of(const Connections &connections, pi::runtime::PlaceIndex src,
             pi::runtime::PlaceIndex dst);

/// For people: texts of plugins, files and the environment without control characters.
void make_printable(std::vector<Plugin> &plugins);
void make_printable(std::vector<Device> &devices);
void make_printable(std::vector<Variable> &variables);
void make_printable(Connections &connections);

} // namespace pi_info
