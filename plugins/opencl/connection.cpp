// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "connection.hpp"
#include "memory.hpp"

#include <cstring>

namespace pi::opencl {

using namespace sdk;

ConnectionAnswer connect_buffers(const Place &src, const Place &dst) {
    if (&src.context == &dst.context)
        return {PI_MEMORY_CONNECTION_UNIFIED,
                &src.device == &dst.device ? "the same device and context"
                                           : "all devices of an OpenCL context use its memory"};
    if (&src.context.platform() == &dst.context.platform())
        return {
            PI_MEMORY_CONNECTION_MIGRATABLE,
            "two contexts of one OpenCL platform share no buffers: the plugin maps both ends and "
            "copies"};
    return {PI_MEMORY_CONNECTION_NONE,
            text("the OpenCL platforms ", src.context.platform().name(), " and ",
                 dst.context.platform().name(), " share nothing but host memory")};
}

namespace {

/// The USM kind of a memory kind; 0 if it is not USM.
pi_usm_kind usm_kind(pi_memory_kind kind) {
    static_assert(
        PI_MEMORY_KIND_USM_DEVICE - PI_MEMORY_KIND_USM_HOST == PI_USM_DEVICE - PI_USM_HOST &&
        PI_MEMORY_KIND_USM_SHARED - PI_MEMORY_KIND_USM_HOST == PI_USM_SHARED - PI_USM_HOST);
    return kind >= PI_MEMORY_KIND_USM_HOST && kind <= PI_MEMORY_KIND_USM_SHARED
               ? kind - PI_MEMORY_KIND_USM_HOST + PI_USM_HOST
               : 0;
}

/// What both ends can do with src's USM, as CL_UNIFIED_SHARED_MEMORY_ bits.
cl_bitfield usm_access(const Place &src, const Place &dst, pi_usm_kind kind) {
    const UsmAccess &access = dst.device.usm();
    const bool own = &src.device.root() == &dst.device.root();
    return src.device.usm().own[kind] & (own ? access.own : access.others)[kind];
}

const char *missing_usm(const Place &src, const Place &dst, pi_usm_kind kind) {
    if (!(src.device.usm_kinds() & dst.device.usm_kinds() & 1u << kind))
        return "one of the devices has no USM of this kind";
    if (&src.context != &dst.context)
        return "USM belongs to one OpenCL context";
    return usm_access(src, dst, kind) ? nullptr
                                      : "dst has no access to USM of this kind of other devices";
}

/// Why memory of this kind cannot exist at both places; NULL if it can.
const char *missing(const Place &src, const Place &dst, const pi_memory_connection_query &query) {
    enforce<checks::check_connection_query>(query);
    if (query.src_scope >= SCOPE_COUNT || query.dst_scope >= SCOPE_COUNT)
        return "the only scopes are 0 (global) and 1 (host.pinned)";
    const bool to_buffer =
        query.kind == PI_MEMORY_KIND_BUFFER || query.kind == PI_MEMORY_KIND_IMPORTED;
    if ((query.src_scope && query.kind != PI_MEMORY_KIND_BUFFER) || (query.dst_scope && !to_buffer))
        return "scope 1 (host.pinned) has buffers only";
    switch (query.kind) {
    case PI_MEMORY_KIND_BUFFER:
        return nullptr;
    case PI_MEMORY_KIND_IMPORTED:
        return src.device.import_alignment() ? nullptr : "src does not use host memory in place";
    case PI_MEMORY_KIND_IMAGE:
        if (!src.device.images() || !dst.device.images())
            return "one of the devices has no images (CL_DEVICE_IMAGE_SUPPORT)";
        return &src.context == &dst.context ? nullptr : "images are not copied between contexts";
    case PI_MEMORY_KIND_USM_HOST:
    case PI_MEMORY_KIND_USM_DEVICE:
    case PI_MEMORY_KIND_USM_SHARED:
    default:
        return missing_usm(src, dst, usm_kind(query.kind));
    }
}

void describe_unified(const Place &src, const Place &dst, const pi_memory_connection_query &query,
                      pi_memory_connection_info &info) {
    const bool host_memory = src.device.integrated() && dst.device.integrated();
    // A device with memory of its own: its driver does not report where it keeps host.pinned
    // buffers.
    const bool known = host_memory || query.src_scope == query.dst_scope;
    // Within a context, events make one queue's writes visible to other queues.
    info.coherence = PI_COHERENCE_COHERENT;
    if (&src.device == &dst.device && known) {
        info.residency = PI_RESIDENCY_SAME_MEMORY;
        info.link_kind = PI_LINK_SAME_DEVICE;
    } else {
        info.residency = host_memory ? PI_RESIDENCY_SAME_MEMORY : PI_RESIDENCY_UNKNOWN;
        info.link_kind = host_memory ? PI_LINK_SYSTEM_MEMORY : PI_LINK_UNKNOWN;
    }
    info.path = PI_COPY_PATH_DIRECT;
}

void describe_migratable(const Place &src, const Place &dst, pi_memory_connection_info &info) {
    info.path = PI_COPY_PATH_STAGED_BY_PLUGIN;
    if (src.device.integrated() && dst.device.integrated())
        info.link_kind = PI_LINK_SYSTEM_MEMORY;
}

} // namespace

pi_memory_connection_info describe_connection(const Place &src, const Place &dst,
                                              const pi_memory_connection_query &query) {
    pi_memory_connection_info info{};
    ConnectionAnswer answer = connect_buffers(src, dst);
    const char *lack = missing(src, dst, query);
    if (lack)
        answer = {PI_MEMORY_CONNECTION_NONE, lack};
    info.connection = answer.connection;
    // In OpenCL two queues that write one buffer at the same time are undefined, whichever bytes
    // they write.
    info.concurrent_writers = PI_CONCURRENT_WRITERS_NONE;
    if (const pi_usm_kind kind = usm_kind(query.kind); kind && !lack) {
        const cl_bitfield access = usm_access(src, dst, kind);
        if (access & CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL)
            info.concurrent_writers = PI_CONCURRENT_WRITERS_DISJOINT_BYTES;
        info.atomics = (access & CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL) != 0;
    }
    if (answer.connection == PI_MEMORY_CONNECTION_UNIFIED)
        describe_unified(src, dst, query, info);
    else if (answer.connection == PI_MEMORY_CONNECTION_MIGRATABLE)
        describe_migratable(src, dst, info);
    std::strncpy(info.reason, answer.reason.c_str(), sizeof info.reason - 1);
    return info;
}

} // namespace pi::opencl
