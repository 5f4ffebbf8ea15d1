// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "connection.hpp"
#include "memory.hpp"
#include "nvml.hpp"

#include <cstring>
#include <optional>

namespace pi::cuda {

using namespace sdk;

namespace {

std::string why_not(const PeerAccess &access, const Place &src, const Place &dst) {
    if (!access.possible)
        return text(dst.device.name(), " has no access to the memory of ", src.device.name(),
                    " (cuDeviceCanAccessPeer): a copy bounces through the host, inside the driver");
    return text(access.call, ": ", error_name(src.device.api(), access.refusal), ": ",
                dst.device.name(), " was refused access to the memory of ", src.device.name(),
                access.refusal == CUDA_ERROR_TOO_MANY_PEERS
                    ? ", since it has the maximum number of peers"
                    : "",
                "; the driver copies");
}

} // namespace

ConnectionAnswer connect_buffers(const Place &src, const Place &dst) {
    if (&src.primary == &dst.primary)
        return {PI_MEMORY_CONNECTION_UNIFIED,
                &src.context == &dst.context
                    ? "the same device and context"
                    : "the same device: all contexts on it share its primary context"};
    const PeerAccess access = dst.primary.access(src.primary);
    if (access.granted)
        return {PI_MEMORY_CONNECTION_UNIFIED,
                text(dst.device.name(), " has access to the memory of ", src.device.name(),
                     " (cuCtxEnablePeerAccess)")};
    return {PI_MEMORY_CONNECTION_MIGRATABLE, why_not(access, src, dst)};
}

namespace {

/// No device uses another device's arrays, with or without peer access.
ConnectionAnswer connect_images(const Place &src, const Place &dst) {
    if (&src.primary == &dst.primary)
        return connect_buffers(src, dst);
    return {PI_MEMORY_CONNECTION_MIGRATABLE,
            text("only kernels and commands of ", src.device.name(),
                 " use its arrays: the driver copies between devices (cuMemcpy3DPeerAsync)")};
}

/// Whether the query is about pinned memory, which all devices use.
bool in_host(const pi_memory_connection_query &query) {
    return query.kind == PI_MEMORY_KIND_IMPORTED || query.kind == PI_MEMORY_KIND_USM_HOST ||
           query.src_scope == SCOPE_HOST_PINNED;
}

const char *missing_usm(const Place &src, const Place &dst,
                        const pi_memory_connection_query &query) {
    const auto lacks_shared = [](const Place &place) {
        return !(place.device.usm_kinds() >> PI_USM_SHARED & 1);
    };
    if (query.src_scope)
        return "USM is in scope 0 (global)";
    if (query.kind == PI_MEMORY_KIND_USM_SHARED && (lacks_shared(src) || lacks_shared(dst)))
        return "one of the devices has no managed memory that the host may access while it works";
    return nullptr;
}

/// Why memory of this kind cannot exist at both places; NULL if it can.
const char *missing(const Place &src, const Place &dst, const pi_memory_connection_query &query) {
    enforce<checks::check_connection_query>(query);
    if (query.src_scope >= SCOPE_COUNT || query.dst_scope >= SCOPE_COUNT)
        return "the only scopes are 0 (global) and 1 (host.pinned)";
    switch (query.kind) {
    case PI_MEMORY_KIND_BUFFER:
        return nullptr;
    case PI_MEMORY_KIND_IMPORTED:
        return query.src_scope ? "imported memory is in scope 0 (global)"
               : src.device.imports_host_memory()
                   ? nullptr
                   : "src can neither pin the application's memory nor use it unpinned";
    case PI_MEMORY_KIND_IMAGE:
        return query.src_scope ? "images are in scope 0 (global)" : nullptr;
    default:
        return missing_usm(src, dst, query);
    }
}

/// The application's memory: pinned by src for all devices, or used unpinned.
ConnectionAnswer connect_imported(const Place &src, const Place &dst) {
    if (dst.device.reads_pageable())
        return {PI_MEMORY_CONNECTION_UNIFIED,
                text(dst.device.name(), " uses the application's memory unpinned "
                                        "(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS)")};
    if (src.device.registers_host_memory())
        return {PI_MEMORY_CONNECTION_UNIFIED, "all devices use pinned host memory"};
    return {PI_MEMORY_CONNECTION_MIGRATABLE,
            text(src.device.name(), " cannot pin the application's memory, and ", dst.device.name(),
                 " uses only pinned memory: the plugin copies through pinned blocks")};
}

ConnectionAnswer connect(const Place &src, const Place &dst,
                         const pi_memory_connection_query &query) {
    if (const char *lack = missing(src, dst, query))
        return {PI_MEMORY_CONNECTION_NONE, lack};
    if (query.kind == PI_MEMORY_KIND_IMPORTED)
        return connect_imported(src, dst);
    if (in_host(query))
        return {PI_MEMORY_CONNECTION_UNIFIED, "all devices use pinned host memory"};
    if (query.kind == PI_MEMORY_KIND_USM_SHARED)
        return {PI_MEMORY_CONNECTION_UNIFIED, "managed memory migrates to the device that uses it"};
    return query.kind == PI_MEMORY_KIND_IMAGE ? connect_images(src, dst)
                                              : connect_buffers(src, dst);
}

std::optional<int> p2p_attribute(const Place &src, const Place &dst, CUdevice_P2PAttribute name) {
    int value = 0;
    if (src.device.api().cuDeviceGetP2PAttribute(&value, name, dst.device.id(), src.device.id()) !=
        CUDA_SUCCESS)
        return std::nullopt;
    return value;
}

/// Bandwidth between pinned memory and a device on a PCIe slot; 0 for other devices.
uint64_t slot_bandwidth(Device &device) {
    // Devices that walk the host's page tables are connected by other links.
    if (device.attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED) ||
        device.attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES))
        return 0;
    Nvml *const nvml = device.instance().nvml();
    return nvml ? nvml->pcie_bandwidth(device.pci_address()) : 0;
}

/// A device's ports, each in one direction.
enum class Port : uint64_t { slot_out, slot_in, switch_out, switch_in, count };
uint64_t channel(const Device &device, Port port) {
    return static_cast<uint64_t>(device.id()) * static_cast<uint64_t>(Port::count) +
           static_cast<uint64_t>(port) + 1; // 0 means no channel
}

std::vector<uint64_t> slot_channel(const Device &device, Port port) {
    if (device.attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED))
        return {};
    return {channel(device, port)};
}

/// Describes the link between two devices, one of which has access to the other's memory.
void describe_link(const Place &src, const Place &dst, pi_memory_connection_info &info,
                   std::string &reason) {
    if (Nvml *const nvml = src.device.instance().nvml()) {
        const Link link = nvml->between(src.device.pci_address(), dst.device.pci_address());
        info.link_kind = link.kind;
        info.bandwidth = link.bandwidth;
        if (link.switched)
            sdk::write_channels(info, {channel(src.device, Port::switch_out),
                                       channel(dst.device, Port::switch_in)});
        else if (link.kind == PI_LINK_PCIE)
            sdk::write_channels(
                info, {channel(src.device, Port::slot_out), channel(dst.device, Port::slot_in)});
        if (link.nvlinks)
            reason += text("; NVLinks: ", link.nvlinks);
    }
    // 0 is the best rank of the machine; the driver does not document the others.
    if (const auto rank = p2p_attribute(src, dst, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK))
        reason += text("; performance rank ", *rank);
}

/// Where host memory resides while dst uses it.
pi_residency host_residency(const Place &src, const Place &dst,
                            const pi_memory_connection_query &query) {
    if (src.device.attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED))
        return PI_RESIDENCY_SAME_MEMORY;
    // Unpinned pages may migrate to the device that uses them, and back, unless the device walks
    // the host's page tables.
    const bool moves =
        query.kind == PI_MEMORY_KIND_IMPORTED && src.device.imports_pageable() &&
        !dst.device.attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
    return moves ? PI_RESIDENCY_UNKNOWN : PI_RESIDENCY_REMOTE_ACCESS;
}

void describe_unified(const Place &src, const Place &dst, const pi_memory_connection_query &query,
                      pi_memory_connection_info &info, std::string &reason) {
    info.coherence = PI_COHERENCE_COHERENT;
    info.concurrent_writers = PI_CONCURRENT_WRITERS_DISJOINT_BYTES;
    info.path = PI_COPY_PATH_DIRECT;
    if (in_host(query)) {
        info.residency = host_residency(src, dst, query);
        info.link_kind = PI_LINK_SYSTEM_MEMORY;
        info.bandwidth = slot_bandwidth(dst.device);
        return;
    }
    if (&src.primary == &dst.primary) {
        info.atomics = 1;
        info.residency = PI_RESIDENCY_SAME_MEMORY;
        info.link_kind = PI_LINK_SAME_DEVICE;
        if (query.kind == PI_MEMORY_KIND_BUFFER)
            info.external_handle_types = export_types_within(src.device);
        return;
    }
    if (query.kind == PI_MEMORY_KIND_USM_SHARED) {
        info.residency = PI_RESIDENCY_MIGRATES_WHOLE_OBJECT;
        return;
    }
    info.atomics =
        p2p_attribute(src, dst, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED).value_or(0) != 0;
    info.residency = PI_RESIDENCY_REMOTE_ACCESS;
    describe_link(src, dst, info, reason);
}

void describe_copy(const Place &src, const Place &dst, const pi_memory_connection_query &query,
                   pi_memory_connection_info &info) {
    if (query.kind == PI_MEMORY_KIND_IMPORTED) {
        info.path = PI_COPY_PATH_STAGED_BY_PLUGIN;
        return;
    }
    if (dst.primary.access(src.primary).granted) {
        info.path = PI_COPY_PATH_UNKNOWN; // the driver may copy directly or through the host
        return;
    }
    info.path = PI_COPY_PATH_STAGED_BY_DRIVER;
    // The bytes cross both slots; the driver does not report its rate for such copies.
    if (slot_bandwidth(src.device) && slot_bandwidth(dst.device))
        info.link_kind = PI_LINK_PCIE;
    if (query.kind == PI_MEMORY_KIND_BUFFER)
        sdk::write_channels(
            info, {channel(src.device, Port::slot_out), channel(dst.device, Port::slot_in)});
}

} // namespace

std::vector<uint64_t> to_host_channels(const Device &device) {
    return slot_channel(device, Port::slot_out);
}

std::vector<uint64_t> from_host_channels(const Device &device) {
    return slot_channel(device, Port::slot_in);
}

pi_memory_connection_info describe_connection(const Place &src, const Place &dst,
                                              const pi_memory_connection_query &query) {
    pi_memory_connection_info info{};
    ConnectionAnswer answer = connect(src, dst, query);
    info.connection = answer.connection;
    if (answer.connection == PI_MEMORY_CONNECTION_UNIFIED)
        describe_unified(src, dst, query, info, answer.reason);
    else if (answer.connection == PI_MEMORY_CONNECTION_MIGRATABLE)
        describe_copy(src, dst, query, info);
    std::strncpy(info.reason, answer.reason.c_str(), sizeof info.reason - 1);
    return info;
}

} // namespace pi::cuda
