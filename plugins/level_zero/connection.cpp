// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "connection.hpp"
#include "memory.hpp"

#include <pi/sdk/external.hpp>

#include <cstring>

namespace pi::level_zero {

using namespace sdk;

namespace {

bool one_driver(const ConnectedPlace &src, const ConnectedPlace &dst) {
    return &src.device.platform() == &dst.device.platform();
}

bool one_context(const ConnectedPlace &src, const ConnectedPlace &dst) {
    return &src.context == &dst.context;
}

ConnectionAnswer between_drivers() {
    return {PI_MEMORY_CONNECTION_NONE,
            "the devices belong to two drivers, which do not share memory"};
}

ConnectionAnswer between_contexts() {
    return {PI_MEMORY_CONNECTION_MIGRATABLE,
            "memory belongs to one context; the plugin copies between two contexts of a driver "
            "(zeCommandListAppendMemoryCopyFromContext)"};
}

std::string why_no_access(const PeerAccess &access, const ConnectedPlace &src,
                          const ConnectedPlace &dst) {
    const char *const reason =
        access.listed ? "zeDeviceGetP2PProperties says yes, but zeDeviceCanAccessPeer says no"
                      : "zeDeviceGetP2PProperties";
    return text(dst.device.name(), " has no access to the memory of ", src.device.name(), " (",
                reason, "): the plugin copies");
}

} // namespace

ConnectionAnswer connect_buffers(const ConnectedPlace &src, const ConnectedPlace &dst) {
    if (!one_driver(src, dst))
        return between_drivers();
    if (!one_context(src, dst))
        return between_contexts();
    if (&src.place == &dst.place)
        return {PI_MEMORY_CONNECTION_UNIFIED, "the same device and context"};
    const PeerAccess access = dst.place.access(src.place);
    if (access.granted())
        return {PI_MEMORY_CONNECTION_UNIFIED,
                text(dst.device.name(), " has access to the memory of ", src.device.name(),
                     " (zeDeviceCanAccessPeer, zeDeviceGetP2PProperties)")};
    return {PI_MEMORY_CONNECTION_MIGRATABLE, why_no_access(access, src, dst)};
}

namespace {

bool in_host(const pi_memory_connection_query &query) {
    return query.kind == PI_MEMORY_KIND_IMPORTED || query.kind == PI_MEMORY_KIND_USM_HOST ||
           query.src_scope == SCOPE_HOST_PINNED;
}

bool is_usm(pi_memory_kind kind) {
    return kind == PI_MEMORY_KIND_USM_HOST || kind == PI_MEMORY_KIND_USM_DEVICE ||
           kind == PI_MEMORY_KIND_USM_SHARED;
}

const char *missing_usm(const ConnectedPlace &src, const ConnectedPlace &dst,
                        const pi_memory_connection_query &query) {
    const auto lacks_shared = [](const ConnectedPlace &place) {
        return !(place.device.usm_kinds() >> PI_USM_SHARED & 1);
    };
    if (query.src_scope)
        return "USM is in scope 0 (global)";
    if (query.kind == PI_MEMORY_KIND_USM_SHARED && (lacks_shared(src) || lacks_shared(dst)))
        return "a device has no shared allocations";
    return nullptr;
}

/// Why memory of this kind cannot exist at both places; NULL if it can.
const char *missing(const ConnectedPlace &src, const ConnectedPlace &dst,
                    const pi_memory_connection_query &query) {
    enforce<checks::check_connection_query>(query);
    if (query.src_scope >= SCOPE_COUNT || query.dst_scope >= SCOPE_COUNT)
        return "the only scopes are 0 (global) and 1 (host.pinned)";
    switch (query.kind) {
    case PI_MEMORY_KIND_BUFFER:
        return nullptr;
    case PI_MEMORY_KIND_IMPORTED:
        return query.src_scope                      ? "imported memory is in scope 0 (global)"
               : src.device.imports_host_pointers() ? nullptr
                                                    : "src cannot pin the application's memory";
    case PI_MEMORY_KIND_IMAGE:
        return query.src_scope || query.dst_scope ? "images are in scope 0 (global)"
               : !src.device.images()             ? "src has no images"
               : !dst.device.images()             ? "dst has no images"
                                                  : nullptr;
    default:
        return missing_usm(src, dst, query);
    }
}

ConnectionAnswer connect_images(const ConnectedPlace &src, const ConnectedPlace &dst) {
    if (&src.place == &dst.place)
        return {PI_MEMORY_CONNECTION_UNIFIED, "the same device and context"};
    return {PI_MEMORY_CONNECTION_MIGRATABLE, "an image is used in its own context, by its own "
                                             "device: the plugin copies through the host"};
}

/// Whether one device can use another's shared allocations.
bool shares(const ConnectedPlace &src, const ConnectedPlace &dst) {
    return &src.place == &dst.place ||
           (dst.device.access().sharedCrossDeviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
}

ConnectionAnswer connect(const ConnectedPlace &src, const ConnectedPlace &dst,
                         const pi_memory_connection_query &query) {
    if (const char *lack = missing(src, dst, query))
        return {PI_MEMORY_CONNECTION_NONE, lack};
    if (!one_driver(src, dst))
        return between_drivers();
    if (query.kind == PI_MEMORY_KIND_IMAGE)
        return connect_images(src, dst);
    if (!one_context(src, dst))
        return is_usm(query.kind)
                   ? ConnectionAnswer{PI_MEMORY_CONNECTION_NONE, "USM is valid in its own context"}
                   : between_contexts();
    if (in_host(query))
        return {PI_MEMORY_CONNECTION_UNIFIED, "all devices of its context use pinned host memory"};
    if (query.kind == PI_MEMORY_KIND_USM_SHARED)
        return shares(src, dst)
                   ? ConnectionAnswer{PI_MEMORY_CONNECTION_UNIFIED,
                                      "a shared allocation migrates to the device that uses it"}
                   : ConnectionAnswer{PI_MEMORY_CONNECTION_NONE,
                                      "dst does not use other devices' shared allocations "
                                      "(sharedCrossDeviceAllocCapabilities)"};
    return connect_buffers(src, dst);
}

void describe_unified(const ConnectedPlace &src, const ConnectedPlace &dst,
                      const pi_memory_connection_query &query, pi_memory_connection_info &info) {
    info.coherence = PI_COHERENCE_COHERENT;
    info.concurrent_writers = PI_CONCURRENT_WRITERS_DISJOINT_BYTES;
    info.path = PI_COPY_PATH_DIRECT;
    if (in_host(query)) {
        info.residency = src.device.integrated() ? pi_residency{PI_RESIDENCY_SAME_MEMORY}
                                                 : pi_residency{PI_RESIDENCY_REMOTE_ACCESS};
        info.link_kind = PI_LINK_SYSTEM_MEMORY;
        return;
    }
    if (&src.place == &dst.place) {
        info.atomics = 1;
        info.residency = PI_RESIDENCY_SAME_MEMORY;
        info.link_kind = PI_LINK_SAME_DEVICE;
        return;
    }
    if (query.kind == PI_MEMORY_KIND_USM_SHARED) {
        info.residency = PI_RESIDENCY_MIGRATES_WHOLE_OBJECT;
        return;
    }
    info.atomics = dst.place.access(src.place).atomics;
    info.residency = PI_RESIDENCY_REMOTE_ACCESS;
}

/// The types by which buffers in scope 0 can be shared. A device imports what it exported itself,
/// in any context. Whether another device or driver can import it cannot be queried: try it, with
/// file descriptors, which need no second process. No answer while there is no memory for the
/// trial.
uint32_t shared_types(const ConnectedPlace &src, const ConnectedPlace &dst) {
    const uint32_t types = export_types(src.device) & import_types(dst.device);
    if (src.device.id() == dst.device.id())
        return types;
    return dst.device.imports_of(src.device, [&]() -> std::optional<uint32_t> {
        uint32_t taken = 0;
        try {
            for (const pi_external_type type : {PI_EXTERNAL_DMA_BUF_FD, PI_EXTERNAL_OPAQUE_FD})
                if (types & external_bit(type) && Storage::passes(src.place, dst.place, type))
                    taken |= external_bit(type);
        } catch (const Error &) {
            return std::nullopt;
        }
        return taken;
    });
}

} // namespace

pi_memory_connection_info describe_connection(const ConnectedPlace &src, const ConnectedPlace &dst,
                                              const pi_memory_connection_query &query) {
    pi_memory_connection_info info{};
    const ConnectionAnswer answer = connect(src, dst, query);
    info.connection = answer.connection;
    if (answer.connection == PI_MEMORY_CONNECTION_UNIFIED)
        describe_unified(src, dst, query, info);
    else if (answer.connection == PI_MEMORY_CONNECTION_MIGRATABLE) // by find_executor()
        info.path = query.kind != PI_MEMORY_KIND_IMAGE &&
                            (in_host(query) || dst.device.access(src.device).granted())
                        ? PI_COPY_PATH_DIRECT
                        : PI_COPY_PATH_STAGED_BY_PLUGIN;
    if (query.kind == PI_MEMORY_KIND_BUFFER && query.src_scope == SCOPE_GLOBAL)
        info.external_handle_types = shared_types(src, dst);
    std::strncpy(info.reason, answer.reason.c_str(), sizeof info.reason - 1);
    return info;
}

} // namespace pi::level_zero
