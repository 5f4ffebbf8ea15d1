// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connections: host memory is usable everywhere in the process, whichever context and NUMA node it
// is of.
#include "context.hpp"
#include "entries.hpp"
#include "shared.hpp"

#include <pi/sdk/descriptor.hpp>

#include <cstring>

namespace pi::host {

using sdk::fail;

namespace {

struct Ends {
    const Device &src;
    const Device &dst;
};

Ends check_ends(Device &src_device, pi_context src_context, pi_device dst_device,
                pi_context dst_context) {
    const pi_host *host = src_device.host();
    const Context &from = sdk::checked<Context>(host, src_context, "src_context");
    const Context &to = sdk::checked<Context>(host, dst_context, "dst_context");
    return {from.device(src_device.handle(), "src_device"), to.device(dst_device, "dst_device")};
}

void check_query(const pi_memory_connection_query &query) {
    sdk::enforce<checks::check_connection_query>(query);
    if (query.src_scope >= scope_count || query.dst_scope >= scope_count)
        fail(PI_ERROR_INVALID_VALUE, "src_scope is ", query.src_scope, " and dst_scope is ",
             query.dst_scope, "; the devices have ", scope_count, " scopes, numbered from 0");
}

pi_memory_connection_info answer(Ends ends, const pi_memory_connection_query &query) {
    pi_memory_connection_info info{};
    // Sub-devices share the memory of their node.
    const bool same = &ends.src.node() == &ends.dst.node();
    const char *reason = same ? "both ends are one NUMA node and share its memory"
                              : "all NUMA nodes address one memory; the far one is slower";
    info.connection = PI_MEMORY_CONNECTION_UNIFIED;
    info.coherence = PI_COHERENCE_COHERENT;
    info.atomics = 1;
    info.residency = same ? PI_RESIDENCY_SAME_MEMORY : PI_RESIDENCY_REMOTE_ACCESS;
    info.concurrent_writers = PI_CONCURRENT_WRITERS_DISJOINT_BYTES;
    info.path = PI_COPY_PATH_DIRECT;
    info.preferred_queue = PI_PREFERRED_QUEUE_EITHER;
    if (query.kind == PI_MEMORY_KIND_BUFFER &&
        query.src_scope == scope_global) // as check_export_requirements() has it
        info.external_handle_types = export_types() & import_types;
    info.link_kind = same ? PI_LINK_SAME_DEVICE : PI_LINK_SYSTEM_MEMORY;
    std::strncpy(info.reason, reason, sizeof info.reason - 1);
    return info;
}

} // namespace

namespace entries {

pi_result PI_CALL piGetMemoryConnection(pi_device src_device, pi_context src_context,
                                        pi_device dst_device, pi_context dst_context,
                                        pi_memory_connection *out_connection) {
    return sdk::call<Device>(src_device, [&](Device &self) {
        check_ends(self, src_context, dst_device, dst_context);
        *sdk::require(out_connection, "out_connection") = PI_MEMORY_CONNECTION_UNIFIED;
    });
}

pi_result PI_CALL piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                            pi_device dst_device, pi_context dst_context,
                                            const pi_memory_connection_query *query,
                                            pi_memory_connection_info *out_info) {
    return sdk::call<Device>(src_device, [&](Device &self) {
        const Ends ends = check_ends(self, src_context, dst_device, dst_context);
        const auto known = sdk::read_optional_desc(query, PI_TYPE_MEMORY_CONNECTION_QUERY);
        check_query(known);
        sdk::write_struct(answer(ends, known), PI_TYPE_MEMORY_CONNECTION_INFO, out_info);
    });
}

} // namespace entries

} // namespace pi::host
