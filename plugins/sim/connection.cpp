// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "connection.hpp"

#include "entries.hpp"
#include "plugin.hpp"

#include <pi/sdk/connection.hpp>
#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pi::sim {

using sdk::fail;

pi_memory_connection connect(const Place &src, const Place &dst, bool in_host) {
    if (src == dst)
        return PI_MEMORY_CONNECTION_UNIFIED;
    pi_memory_connection connection = PI_MEMORY_CONNECTION_UNIFIED;
    if (&src.device != &dst.device) {
        const Link *link = src.device.instance().links().find(src.device.site(), dst.device.site());
        connection = !link     ? pi_memory_connection{PI_MEMORY_CONNECTION_NONE}
                     : in_host ? link->spec().imported
                               : link->spec().connection;
    }
    return &src.context == &dst.context ? connection
                                        : std::min(connection, src.device.spec().other_context);
}

uint32_t shared_handle_types(const Device &src, const Device &dst) {
    const uint32_t both = src.export_types() & dst.import_types();
    if (&src == &dst)
        return both;
    const Link *link = src.instance().links().find(src.site(), dst.site());
    return link ? both & link->spec().external_handle_types : 0;
}

namespace {

struct Ends {
    Place src, dst;
    Site from = src.device.site(), to = dst.device.site(); ///< the memory that the query is about
};

Ends check_ends(Device &src_device, pi_context src_context, pi_device dst_device,
                pi_context dst_context) {
    const pi_host *host = src_device.host();
    const Context &from = sdk::checked<Context>(host, src_context, "src_context");
    const Context &to = sdk::checked<Context>(host, dst_context, "dst_context");
    return {{from.device(src_device.handle(), "src_device"), from},
            {to.device(dst_device, "dst_device"), to}};
}

/// Checks a query, and sets the sites of the memory that it is about.
void check_query(const pi_memory_connection_query &query, Ends &ends) {
    sdk::enforce<checks::check_connection_query>(query);
    const auto check_scope = [](uint32_t scope, const Device &device, const char *name) {
        if (scope >= device.scope_count())
            fail(PI_ERROR_INVALID_VALUE, name, " is ", scope, "; ", device.spec().name, " has ",
                 device.scope_count(), " scopes, numbered from 0");
    };
    check_scope(query.src_scope, ends.src.device, "src_scope");
    check_scope(query.dst_scope, ends.dst.device, "dst_scope");
    if (ends.dst.device.spec().scopes[query.dst_scope].in_host)
        ends.to = host_site;
    if (query.kind == PI_MEMORY_KIND_BUFFER) {
        if (ends.src.device.spec().scopes[query.src_scope].in_host)
            ends.from = host_site;
        return;
    }
    if (query.kind != PI_MEMORY_KIND_IMPORTED)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "kind is ", query.kind,
             ": a simulated machine has buffers and imported memory, no images and no USM");
    if (!ends.src.device.spec().host_pointer_import)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, ends.src.device.spec().name,
             " imports no host pointers (host_pointer_import in the machine file)");
    ends.from = host_site;
}

/// Writes the bandwidth, latency and channels of a copy between the memories of the query.
void write_speed(const Ends &ends, pi_memory_connection_info &info) {
    const Speed speed = ends.src.device.instance().links().speed(ends.from, ends.to);
    info.bandwidth = speed.bandwidth;
    info.latency =
        std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(speed.latency))); // 0 means unknown
    sdk::write_channels(info, ends.src.device.instance().links().channels(ends.from, ends.to));
}

void answer_within(const Ends &ends, pi_memory_connection_info &info, std::string &reason) {
    info.link_kind = PI_LINK_SAME_DEVICE;
    write_speed(ends, info);
    info.path = PI_COPY_PATH_DIRECT;
    reason = ends.src == ends.dst
                 ? "both ends are one place"
                 : "one device in two contexts (other_context in the machine file)";
    if (info.connection != PI_MEMORY_CONNECTION_UNIFIED)
        return;
    info.coherence = PI_COHERENCE_COHERENT;
    info.atomics = 1;
    info.residency = PI_RESIDENCY_SAME_MEMORY;
    info.concurrent_writers = PI_CONCURRENT_WRITERS_DISJOINT_BYTES;
}

void answer_over(const Ends &ends, pi_memory_connection_info &info, std::string &reason) {
    const Links &links = ends.src.device.instance().links();
    const Link *link = links.find(ends.src.device.site(), ends.dst.device.site());
    if (!link) {
        reason = "the machine file has no link from " + ends.src.device.spec().name + " to " +
                 ends.dst.device.spec().name;
        return;
    }
    const LinkSpec &spec = link->spec();
    reason = spec.reason.empty() ? sdk::text("the link of line ", spec.line, " of the machine file")
                                 : spec.reason;
    info.link_kind = spec.kind;
    if (info.connection == PI_MEMORY_CONNECTION_NONE)
        return;
    write_speed(ends, info);
    info.path = spec.path;
    info.preferred_queue = spec.preferred_queue;
    if (info.connection != PI_MEMORY_CONNECTION_UNIFIED)
        return;
    info.coherence = spec.coherence ? spec.coherence : pi_coherence{PI_COHERENCE_COHERENT};
    info.atomics = spec.atomics;
    info.residency = spec.residency ? spec.residency : pi_residency{PI_RESIDENCY_REMOTE_ACCESS};
    info.concurrent_writers = spec.concurrent_writers;
}

} // namespace

namespace entries {

pi_result PI_CALL piGetMemoryConnection(pi_device src_device, pi_context src_context,
                                        pi_device dst_device, pi_context dst_context,
                                        pi_memory_connection *out_connection) {
    return sdk::call<Device>(src_device, [&](Device &self) {
        const Ends ends = check_ends(self, src_context, dst_device, dst_context);
        *sdk::require(out_connection, "out_connection") =
            connect(ends.src, ends.dst, self.spec().scopes[0].in_host);
    });
}

pi_result PI_CALL piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                            pi_device dst_device, pi_context dst_context,
                                            const pi_memory_connection_query *query,
                                            pi_memory_connection_info *out_info) {
    return sdk::call<Device>(src_device, [&](Device &self) {
        Ends ends = check_ends(self, src_context, dst_device, dst_context);
        const auto known = sdk::read_optional_desc(query, PI_TYPE_MEMORY_CONNECTION_QUERY);
        check_query(known, ends);
        pi_memory_connection_info info{};
        info.connection = connect(ends.src, ends.dst, ends.from == host_site);
        std::string reason;
        if (&ends.src.device == &ends.dst.device)
            answer_within(ends, info, reason);
        else
            answer_over(ends, info, reason);
        if (known.kind == PI_MEMORY_KIND_BUFFER && known.src_scope == 0)
            info.external_handle_types = shared_handle_types(ends.src.device, ends.dst.device);
        std::strncpy(info.reason, reason.c_str(), sizeof info.reason - 1);
        sdk::write_struct(info, PI_TYPE_MEMORY_CONNECTION_INFO, out_info);
    });
}

} // namespace entries

} // namespace pi::sim
