// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include "names.hpp"

#include <algorithm>
#include <cstring>

namespace pi::sim {

namespace {

std::string list(std::span<const Name> names) {
    std::string all;
    for (const Name &one : names)
        all += sdk::text(all.empty() ? "" : ", ", '"', one.name, '"');
    return all;
}

int64_t named(const Value &value, std::span<const Name> names) {
    for (const Name &one : names)
        if (value.kind == Value::Kind::TEXT && value.text == one.name)
            return one.value;
    value.fail("is ", value.shown(), "; one of ", list(names), " is needed");
}

template <class T>
void read_name(const Value &value, std::span<const Name> names, T &out) {
    if (value.present())
        out = static_cast<T>(named(value, names));
}
void read_flag(const Value &value, bool &out) {
    if (value.present())
        out = value.flag();
}
void read_time(const Value &value, double &out) {
    if (value.present())
        out = value.nanoseconds();
}
void read_text(const Value &value, std::string &out) {
    if (value.present())
        out = value.string("a text");
}
void read_bandwidth(const Value &value, uint64_t &out) {
    if (value.present())
        out = value.bytes_a_second();
}

/// A power of two from 1 to 1 GiB.
void read_alignment(const Value &value, uint64_t &out) {
    if (!value.present())
        return;
    out = value.bytes();
    if (!out || out & (out - 1) || out > 1u << 30)
        value.fail("is ", value.shown(), "; a power of two from 1 to 1 GiB is needed");
}

/// Bytes as the digits of a text, two each; '-' between them is nothing.
template <size_t Size>
void read_identity(const Value &value, std::optional<std::array<uint8_t, Size>> &out) {
    if (!value.present())
        return;
    std::string digits = value.kind == Value::Kind::TEXT ? value.text : "";
    std::erase(digits, '-');
    if (digits.size() != 2 * Size ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        value.fail("is ", value.shown(), "; a text of ", 2 * Size, " hexadecimal digits is needed");
    out.emplace();
    for (size_t i = 0; i < Size; ++i)
        (*out)[i] = static_cast<uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
}

// ----- scopes -------------------------------------------------------------------------------------

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
    }
    read_maintenance(value["maintenance"], spec);
    return spec;
}

// ----- devices ------------------------------------------------------------------------------------

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
    if (value.kind != Value::Kind::OBJECT)
        value.fail("is ", value.shown(), "; an object of kernels by their names is needed");
    for (const auto &[name, kernel] : value.members)
        device.kernels[name] = read_kernel(kernel);
}

void read_identities(const Value &value, DeviceSpec &device) {
    read_text(value["vendor"], device.vendor);
    read_text(value["version"], device.version);
    read_identity(value["uuid"], device.uuid);
    read_identity(value["luid"], device.luid);
    read_text(value["pci_address"], device.pci_address);
    if (value["numa_node"].present())
        device.numa_node = static_cast<uint32_t>(value["numa_node"].integer(0, UINT32_MAX));
}

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
                  "host_pointer_alignment",
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
    read_alignment(value["host_pointer_alignment"], device.host_pointer_alignment);
    read_name(value["buffer_offset_mode"], offset_modes, device.offset_mode);
    for (const Value &scope : value["scopes"].array("memory scopes")) {
        ScopeSpec spec = read_scope(scope);
        for (const ScopeSpec &other : device.scopes)
            if (!std::strcmp(other.scope.name, spec.scope.name))
                scope["name"].fail("is ", scope["name"].shown(),
                                   ", which an earlier scope of the device is called");
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

// ----- links --------------------------------------------------------------------------------------

Site read_site(const Machine &machine, const Value &value) {
    const std::string name = value.string("\"host\" or a device's name");
    if (name == "host")
        return host_site;
    std::string known = "host";
    for (size_t i = 0; i < machine.devices.size(); ++i) {
        if (machine.devices[i].name == name)
            return site_of(i);
        known += ", " + machine.devices[i].name;
    }
    value.fail("is ", value.shown(), ", which is no device of the machine; there are ", known);
}

/// What is wrong with what a link says of its memory.
void check_link(const Value &value, const LinkSpec &link) {
    const Value connection = value["connection"];
    if (link.from == host_site || link.to == host_site) {
        for (const char *name : {"connection", "imported", "coherence", "residency",
                                 "concurrent_writers", "atomics", "preferred_queue"})
            if (value[name].present())
                value[name].fail("is given for a link with the host: what the host can do with a "
                                 "device's memory comes from its scopes and host_pointer_import");
        return;
    }
    if (!connection.present())
        connection.fail("is missing; one of ", list(connections), " is needed between two devices");
    if (link.connection == PI_MEMORY_CONNECTION_UNIFIED) {
        if (link.residency == PI_RESIDENCY_UNKNOWN)
            connection.fail("is \"unified\", which needs a residency: one of \"same_memory\", "
                            "\"remote_access\", \"migrates_whole_object\"");
        if (link.coherence == PI_COHERENCE_UNKNOWN)
            connection.fail("is \"unified\", which needs a coherence, such as \"coherent\"");
    } else if (link.residency != PI_RESIDENCY_UNKNOWN) {
        value["residency"].fail("is ", value["residency"].shown(),
                                ", but only \"unified\" memory is used where it is; connection is ",
                                connection.shown());
    }
    if (link.residency == PI_RESIDENCY_MIGRATES_WHOLE_OBJECT &&
        link.concurrent_writers != PI_CONCURRENT_WRITERS_NONE)
        value["concurrent_writers"].fail(
            "is ", value["concurrent_writers"].shown(),
            ", but an object that migrates as a whole has one writer at "
            "a time: \"none\" is needed");
    if (link.connection == PI_MEMORY_CONNECTION_NONE &&
        link.imported == PI_MEMORY_CONNECTION_NONE && link.speed.bandwidth)
        value["bandwidth"].fail("is ", value["bandwidth"].shown(),
                                ", but connection is \"none\": nothing goes over this link");
}

/// "{from}" and "{to}" in a channel's name are the link's ends.
std::string channel_name(const Machine &machine, const LinkSpec &link, std::string name) {
    const auto replace = [&](std::string_view word, Site site) {
        const std::string end = site == host_site ? "host" : machine.devices[site - 1].name;
        for (size_t at; (at = name.find(word)) != std::string::npos;)
            name.replace(at, word.size(), end);
    };
    replace("{from}", link.from);
    replace("{to}", link.to);
    return name;
}

void add_link(Machine &machine, const Value &value, LinkSpec link, const Value &where) {
    if (link.from == link.to)
        where.fail("joins ", where.shown(),
                   " with itself; a device's bandwidth and latency are its "
                   "own fields");
    for (const LinkSpec &other : machine.links)
        if (other.from == link.from && other.to == link.to)
            where.fail("is a second link of the same two ends and direction; the first is in line ",
                       other.line);
    check_link(value, link);
    if (value["channels"].present())
        for (const Value &channel : value["channels"].array("names"))
            link.channels.push_back(channel_name(machine, link, channel.string("a name")));
    if (link.channels.empty())
        link.channels.push_back(channel_name(machine, link, "link {from}>{to}"));
    link.line = value.line;
    machine.links.push_back(std::move(link));
}

void read_link(Machine &machine, const Value &value) {
    value.object({"from", "to", "between", "connection", "imported", "coherence", "atomics",
                  "residency", "concurrent_writers", "path", "preferred_queue", "kind", "bandwidth",
                  "latency", "channels", "reason"});
    LinkSpec link;
    read_name(value["connection"], connections, link.connection);
    link.imported = link.connection;
    read_name(value["imported"], connections, link.imported);
    read_name(value["coherence"], coherences, link.coherence);
    read_flag(value["atomics"], link.atomics);
    read_name(value["residency"], residencies, link.residency);
    read_name(value["concurrent_writers"], writers, link.concurrent_writers);
    read_name(value["path"], copy_paths, link.path);
    read_name(value["preferred_queue"], preferred_queues, link.preferred_queue);
    read_name(value["kind"], link_kinds, link.kind);
    read_bandwidth(value["bandwidth"], link.speed.bandwidth);
    read_time(value["latency"], link.speed.latency);
    read_text(value["reason"], link.reason);
    const Value between = value["between"];
    if (!between.present()) {
        link.from = read_site(machine, value["from"]);
        link.to = read_site(machine, value["to"]);
        return add_link(machine, value, link, value["to"]);
    }
    if (value["from"].present() || value["to"].present())
        between.fail(
            "is given beside from and to; it stands for all pairs of its devices, both ways");
    const std::vector<Value> &ends = between.array("device names");
    if (ends.size() < 2)
        between.fail("names ", ends.size(), " devices; two at least are needed");
    for (const Value &from : ends)
        for (const Value &to : ends)
            if (&from != &to) {
                link.from = read_site(machine, from);
                link.to = read_site(machine, to);
                add_link(machine, value, link, to);
            }
}

// ----- faults -------------------------------------------------------------------------------------

FaultSpec read_fault(const Value &value) {
    value.object({"function", "call", "count", "result", "part", "delay"});
    FaultSpec fault;
    const Value function = value["function"];
    fault.function = function.string("a function's name");
    if (std::find(std::begin(function_names), std::end(function_names), fault.function) ==
        std::end(function_names))
        function.fail("is ", function.shown(),
                      "; a function of pi.h, such as "
                      "\"piEnqueueMemBufferCopy\", is needed");
    if (value["call"].present())
        fault.call = value["call"].integer(1, never - 1);
    if (value["count"].present())
        fault.count = value["count"].integer(1, never - fault.call);
    read_name(value["result"], results, fault.result);
    read_time(value["delay"], fault.delay);
    const bool command = fault.function.starts_with("piEnqueue");
    if (const Value part = value["part"]; part.present()) {
        if (part.kind != Value::Kind::NUMBER || part.number < 0 || part.number >= 1)
            part.fail("is ", part.shown(), "; a number from 0 to less than 1 is needed");
        if (!command)
            part.fail("is given, but ", fault.function,
                      " is no command: only piEnqueue... moves bytes");
        fault.part = part.number;
        if (fault.result == PI_SUCCESS)
            fault.result = PI_ERROR_BACKEND;
    }
    if (fault.delay && !command)
        value["delay"].fail("is given, but ", fault.function,
                            " is no command: only piEnqueue... takes time");
    if (fault.result == PI_SUCCESS && !fault.delay)
        value.fail("does nothing: a result, a part or a delay is needed");
    return fault;
}

} // namespace

Machine read_machine(const Document &document, const std::string &path) {
    const Value &root = document.root();
    root.object({"pi_machine", "name", "host", "devices", "links", "faults"});
    const Value version = root["pi_machine"];
    if (!version.present() || version.kind != Value::Kind::NUMBER || version.whole != 1)
        version.fail("is ", version.shown(), "; 1, the version of the format, is needed");
    Machine machine;
    machine.path = path;
    machine.name = root["name"].string("the machine's name");
    if (const Value host = root["host"]; host.present()) {
        host.object({"bandwidth", "latency"});
        read_bandwidth(host["bandwidth"], machine.host_memory.bandwidth);
        read_time(host["latency"], machine.host_memory.latency);
    }
    for (const Value &value : root["devices"].array("devices")) {
        DeviceSpec device = read_device(value);
        for (const DeviceSpec &other : machine.devices)
            if (other.name == device.name)
                value["name"].fail("is ", value["name"].shown(),
                                   ", which an earlier device is called");
        machine.devices.push_back(std::move(device));
    }
    if (machine.devices.empty())
        root["devices"].fail("is empty; a machine has one device at least");
    if (root["links"].present())
        for (const Value &link : root["links"].array("links"))
            read_link(machine, link);
    if (root["faults"].present())
        for (const Value &fault : root["faults"].array("faults"))
            machine.faults.push_back(read_fault(fault));
    return machine;
}

} // namespace pi::sim
