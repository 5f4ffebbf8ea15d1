// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fields.hpp"
#include "machine.hpp"

#include <cstring>

namespace pi::sim {

namespace {

// ----- scopes ------------------------------------------------------------------------------------

void read_maintenance(const Value &value, ScopeSpec &spec) {
    if (!value.present())
        return;
    const uint64_t flags = spec.scope.flags;
    if (!(flags & PI_SCOPE_HOST_VISIBLE) || flags & PI_SCOPE_COHERENT)
        value.fail(
            "is given, but only memory whose flags have \"host_visible\" and no \"coherent\" is "
            "flushed and invalidated");
    value.object({"bandwidth", "latency"});
    spec.maintenance.emplace();
    read_bandwidth(value["bandwidth"], spec.maintenance->bandwidth);
    read_time(value["latency"], spec.maintenance->latency);
}

ScopeSpec read_scope(const Value &value) {
    value.object({"name", "flags", "capacity", "max_allocation", "min_alignment",
                  "offset_alignment", "flush_atom", "maintenance", "memory", "bus_address"});
    ScopeSpec spec;
    pi_memory_scope &scope = spec.scope;
    const Value name = value["name"];
    const std::string words = name.string("the scope's name");
    if (words.size() >= sizeof scope.name)
        name.fail("is ", name.shown(), "; at most ", sizeof scope.name - 1, " characters fit");
    std::strncpy(scope.name, words.c_str(), sizeof scope.name - 1);
    if (value["flags"].present())
        for (const Value &flag : value["flags"].array("scope flags"))
            scope.flags |= static_cast<uint64_t>(named(flag, scope_flags));
    const auto has = [&](uint64_t flag) { return (scope.flags & flag) != 0; };
    if (has(PI_SCOPE_COHERENT) && !has(PI_SCOPE_HOST_VISIBLE))
        value["flags"].fail(
            "has \"coherent\", but not \"host_visible\": coherence is with the host");
    if (has(PI_SCOPE_MAPS_IN_PLACE) && !has(PI_SCOPE_HOST_VISIBLE))
        value["flags"].fail("has \"maps_in_place\", but not \"host_visible\": a map of memory that "
                            "the host cannot address is a copy");
    scope.capacity = value["capacity"].bytes();
    if (!scope.capacity)
        value["capacity"].fail("is 0; a machine's memory has a size");
    scope.max_allocation = scope.capacity;
    if (value["max_allocation"].present())
        scope.max_allocation = value["max_allocation"].bytes();
    if (!scope.max_allocation || scope.max_allocation > scope.capacity)
        value["max_allocation"].fail("is ", value["max_allocation"].shown(),
                                     "; 1 to the capacity, ", scope.capacity, ", is needed");
    scope.min_alignment = 64;
    scope.offset_alignment = scope.flush_atom = 1;
    read_alignment(value["min_alignment"], scope.min_alignment);
    read_alignment(value["offset_alignment"], scope.offset_alignment);
    read_alignment(value["flush_atom"], scope.flush_atom);
    if (const Value memory = value["memory"]; memory.present()) {
        static constexpr Name memories[] = {{"device", 0}, {"host", 1}};
        spec.in_host = named(memory, memories);
    }
    if (value["bus_address"].present()) {
        if (!has(PI_SCOPE_CONTIGUOUS))
            value["bus_address"].fail("is given, but flags has no \"contiguous\": only contiguous "
                                      "memory has a bus address");
        spec.bus_address = value["bus_address"].bytes();
        if (scope.capacity > UINT64_MAX - spec.bus_address)
            value["bus_address"].fail("is ", value["bus_address"].shown(), ", from which on ",
                                      "the capacity, ", scope.capacity,
                                      " bytes, goes past the end of the bus's addresses");
    }
    read_maintenance(value["maintenance"], spec);
    return spec;
}

// ----- devices -----------------------------------------------------------------------------------

KernelSpec read_kernel(const Value &value) {
    value.object({"launch_time", "item_time"});
    KernelSpec kernel;
    read_time(value["launch_time"], kernel.launch_time);
    read_time(value["item_time"], kernel.item_time);
    return kernel;
}

void read_kernels(const Value &value, DeviceSpec &device) {
    if (!value.present())
        return;
    for (const auto &[name, kernel] : value.by_name("an object of kernels by their names"))
        device.kernels[name] = read_kernel(kernel);
}

void read_identities(const Value &value, DeviceSpec &device) {
    read_text(value["vendor"], device.vendor);
    read_text(value["version"], device.version);
    // Two devices may have the same identity: saved machines do, where two plugins drive one
    // physical device.
    read_identity(value["uuid"], device.uuid);
    read_identity(value["luid"], device.luid);
    read_text(value["pci_address"], device.pci_address);
    if (value["numa_node"].present())
        device.numa_node = static_cast<uint32_t>(value["numa_node"].integer(0, UINT32_MAX));
}

} // namespace

DeviceSpec read_device(const Value &value) {
    value.object({"name",
                  "type",
                  "vendor",
                  "version",
                  "uuid",
                  "luid",
                  "pci_address",
                  "numa_node",
                  "compute_units",
                  "integrated",
                  "fp16",
                  "fp64",
                  "out_of_order",
                  "host_pointer_import",
                  "host_pointer_copies",
                  "host_pointer_alignment",
                  "external_handle_types",
                  "export_handle_types",
                  "buffer_offset_mode",
                  "scopes",
                  "other_context",
                  "bandwidth",
                  "latency",
                  "kernel",
                  "kernels",
                  "lost_at"});
    DeviceSpec device;
    device.name = value["name"].string("the device's name");
    if (device.name == "host")
        value["name"].fail("is \"host\", which means the host in links");
    device.type = static_cast<pi_device_type>(named(value["type"], device_types));
    read_identities(value, device);
    if (value["compute_units"].present())
        device.compute_units = static_cast<uint32_t>(value["compute_units"].integer(1, 1u << 20));
    read_flag(value["integrated"], device.integrated);
    read_flag(value["fp16"], device.fp16);
    read_flag(value["fp64"], device.fp64);
    read_flag(value["out_of_order"], device.out_of_order);
    read_flag(value["host_pointer_import"], device.host_pointer_import);
    read_flag(value["host_pointer_copies"], device.host_pointer_copies);
    if (device.host_pointer_copies && !device.host_pointer_import)
        value["host_pointer_copies"].fail("is true, but the device imports no host pointers: "
                                          "host_pointer_import is false");
    read_alignment(value["host_pointer_alignment"], device.host_pointer_alignment);
    read_handle_types(value["external_handle_types"], device.external_handle_types);
    read_handle_types(value["export_handle_types"], device.export_handle_types);
    read_name(value["buffer_offset_mode"], offset_modes, device.offset_mode);
    for (const Value &scope : value["scopes"].array("memory scopes")) {
        ScopeSpec spec = read_scope(scope);
        for (const ScopeSpec &other : device.scopes)
            if (!std::strcmp(other.scope.name, spec.scope.name))
                scope["name"].fail("is ", scope["name"].shown(),
                                   ", the name of an earlier scope of the device");
        device.scopes.push_back(spec);
    }
    if (device.scopes.empty())
        value["scopes"].fail("is empty; a device has one scope at least");
    read_name(value["other_context"], connections, device.other_context);
    read_bandwidth(value["bandwidth"], device.memory.bandwidth);
    read_time(value["latency"], device.memory.latency);
    if (value["kernel"].present())
        device.kernel = read_kernel(value["kernel"]);
    read_kernels(value["kernels"], device);
    if (value["lost_at"].present())
        device.lost_at = static_cast<uint64_t>(value["lost_at"].nanoseconds());
    return device;
}

} // namespace pi::sim
