// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "fields.hpp"

#include <algorithm>

namespace pi::sim {

namespace {

// ----- links -------------------------------------------------------------------------------------

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
    value.fail("is ", value.shown(), ", which is not a device of the machine; there are ", known);
}

/// Checks a link's members for the memory that it connects.
void check_link(const Value &value, const LinkSpec &link) {
    const Value connection = value["connection"];
    if (link.from == host_site || link.to == host_site) {
        for (const char *name :
             {"connection", "imported", "coherence", "residency", "concurrent_writers", "atomics",
              "preferred_queue", "external_handle_types", "loses_pages"})
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

/// The most channels of a link with which no transfer uses more than a query can return: one over
/// the host crosses two links.
size_t most_channels(const LinkSpec &link) {
    return link.from == host_site || link.to == host_site ? PI_CONNECTION_MAX_CHANNELS / 2
                                                          : PI_CONNECTION_MAX_CHANNELS;
}

/// Replaces "{from}" and "{to}" in a channel's name by the link's ends.
std::string channel_name(const Machine &machine, const LinkSpec &link, std::string_view name) {
    const std::pair<std::string_view, Site> words[] = {{"{from}", link.from}, {"{to}", link.to}};
    std::string whole;
    while (!name.empty()) {
        const auto word = std::find_if(std::begin(words), std::end(words), [&](const auto &one) {
            return name.starts_with(one.first);
        });
        const bool found = word != std::end(words);
        // A device may have such a name: do not replace within a replacement.
        if (!found)
            whole += name.front();
        else
            whole += word->second == host_site ? "host" : machine.devices[word->second - 1].name;
        name.remove_prefix(found ? word->first.size() : 1);
    }
    return whole;
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
    const Value channels = value["channels"];
    if (channels.present())
        for (const Value &channel : channels.array("names"))
            link.channels.push_back(channel_name(machine, link, channel.string("a name")));
    if (link.channels.size() > most_channels(link))
        channels.fail("has ", link.channels.size(), " names; this link takes at most ",
                      most_channels(link));
    if (link.channels.empty())
        link.channels.push_back(channel_name(machine, link, "link {from}>{to}"));
    link.line = value.line;
    machine.links.push_back(std::move(link));
}

void read_link(Machine &machine, const Value &value) {
    value.object({"from", "to", "between", "connection", "imported", "coherence", "atomics",
                  "residency", "concurrent_writers", "path", "preferred_queue", "kind", "bandwidth",
                  "latency", "channels", "reason", "external_handle_types", "loses_pages"});
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
    read_handle_types(value["external_handle_types"], link.external_handle_types);
    if (const Value lossy = value["loses_pages"]; lossy.present())
        for (const Value &commands : lossy.array("commands"))
            link.loses_pages |= static_cast<uint32_t>(named(commands, lossy_commands));
    const Value between = value["between"];
    if (!between.present()) {
        link.from = read_site(machine, value["from"]);
        link.to = read_site(machine, value["to"]);
        return add_link(machine, value, link, value["to"]);
    }
    if (value["from"].present() || value["to"].present())
        between.fail("is given together with from and to; it stands for all pairs of its devices, "
                     "both ways");
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

// ----- faults ------------------------------------------------------------------------------------

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
                      " is not a command: only piEnqueue... moves bytes");
        fault.part = part.number;
        if (fault.result == PI_SUCCESS)
            fault.result = PI_ERROR_BACKEND;
    }
    if (fault.delay != 0 && !command)
        value["delay"].fail("is given, but ", fault.function,
                            " is not a command: only piEnqueue... takes time");
    if (fault.result == PI_SUCCESS && fault.delay == 0)
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
                value["name"].fail("is ", value["name"].shown(), ", the name of an earlier device");
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
