// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/cost.hpp>
#include <pi/runtime/export.hpp>
#include <pi/runtime/topology.hpp>
#include <pi/runtime/verification.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pi::runtime {

/// How bytes that are valid at one place become usable at another.
enum class RouteKind : uint32_t {
    none_needed, ///< they are valid there already
    direct_use,  ///< the destination uses the source's memory: UNIFIED
    import,      ///< both use the same host memory, which devices import
    migrate,     ///< plugins copy, over one link or over several from device to device
    host_bounce  ///< through host memory
};
inline constexpr uint32_t route_kind_count = 5;
PI_RUNTIME_EXPORT const char *to_string(RouteKind kind) noexcept;

/// How a bounce goes through the host. All but `staged` touch each byte once.
enum class BounceStyle : uint32_t {
    none,
    read,            ///< the destination is the host: one read
    write,           ///< the source is the host: one write
    map_source,      ///< the source is mapped in place and written to the destination
    map_destination, ///< the destination is mapped in place and read into from the source
    staged           ///< read and write in chunks through staging buffers
};
inline constexpr uint32_t bounce_style_count = 6;
PI_RUNTIME_EXPORT const char *to_string(BounceStyle style) noexcept;

/// One crossing of a link.
struct Hop {
    PlaceIndex from = host_place;
    PlaceIndex to = host_place;
    friend bool operator==(const Hop &, const Hop &) = default;
};

struct Route {
    RouteKind kind = RouteKind::none_needed;
    BounceStyle style = BounceStyle::none;
    PlaceIndex source = host_place;
    PlaceIndex destination = host_place;
    /// The links that every byte crosses. A bounce with a mapped end is one hop, since it touches
    /// the bytes once. Empty for none_needed, direct_use and import.
    std::vector<Hop> hops;
    /// Bytes of the pieces that go over several hops one after the other; 0 = one piece.
    uint64_t chunk = 0;
};

/// A route with its predicted cost, or with the reason why it is refused.
struct Candidate {
    Route route;
    bool possible = false;
    double seconds = 0; ///< predicted if possible, on idle links
    /// For direct use over a link: predicted seconds of link time for each use of all these bytes.
    double each_use = 0;
    /// Predicted delay in seconds by transfers in flight: the route ends after seconds + delay. Set
    /// by Buffer::explain and in the plans of acquires; 0 from candidates().
    ///
    /// A transfer is in flight from the submission of its commands until its end is known. While it
    /// waits, for a kernel for example, it is not, since its beginning cannot be predicted. Waiting
    /// for staging memory is not predicted. Progress is unknown, so each transfer counts as a
    /// whole, as if all began now: exact for transfers that begin together, too long for others. On
    /// a link pieces take turns: of each other transfer at most as many pieces go first as this one
    /// has. Transfers that begin later are unknown; they delay only transfers of several pieces.
    ///
    /// Each direction of a link counts separately. The places of a device share its links. Links
    /// between places in host memory count as one. Wires that different links share are unknown.
    ///
    /// Routes are chosen without the delay: the same bytes cross the same links, however busy these
    /// are.
    double delay = 0;
    /// Why it is refused: "host pointer misaligned: 16 of 64"; if possible, why it has this cost.
    std::string reason;
    /// Of a possible route: the connections that must be verified before it is used.
    std::vector<MemoryPair> unverified{};
    /// Refused because verification failed; `reason` says which bytes were wrong.
    bool verification_failed = false;
};

/// Bits of RouteRequest::allowed and StorageDescriptor::routes: 1 << RouteKind.
using RouteMask = uint32_t;
inline constexpr RouteMask all_routes = (1U << route_kind_count) - 1;
constexpr RouteMask mask_of(RouteKind kind) {
    return 1U << static_cast<uint32_t>(kind);
}

/// Bits of RouteRequest::styles and StorageDescriptor::styles: 1 << BounceStyle.
using StyleMask = uint32_t;
inline constexpr StyleMask all_styles = (1U << bounce_style_count) - 1;
constexpr StyleMask mask_of(BounceStyle style) {
    return 1U << static_cast<uint32_t>(style);
}

/// The request for a route: bytes at `source` are needed at `destination`.
struct RouteRequest {
    PlaceIndex source = host_place;
    PlaceIndex destination = host_place;
    uint64_t bytes = 0;
    /// Number of disjoint ranges that form these bytes. With several, nothing is mapped, since a
    /// map covers one range: meanwhile no command could write the bytes between the ranges, and a
    /// map for writing leaves them undefined.
    uint64_t pieces = 1;
    bool source_imported = false; ///< the source's memory was created from a host pointer
    /// The application provided the source's memory, so its allocator, which the connection depends
    /// on, is unknown. Another device uses it in place only if its residency is SAME_MEMORY.
    bool source_given = false;
    bool source_scope_0 = true; ///< ordinary memory, which most connections describe
    bool destination_scope_0 = true;
    std::string scope{};     ///< scope of the ends outside scope 0; empty = no connection is known
    bool source_maps = true; ///< the source's scope can be mapped in place, if PlaceInfo allows it
    bool destination_maps = true;
    /// The destination already has its own memory for these bytes, which rules out use in place.
    bool destination_has_memory = false;
    /// The host bytes that an import would use; address 0 = the runtime allocates them, aligned.
    uint64_t host_address = 0;
    uint64_t host_size = 0;
    bool requires_device_memory = false; ///< contiguous or pinned: rules out imported memory
    /// Exactly one end has memory in the storage's layout, so neither can use the other's.
    bool other_layout = false;
    RouteMask allowed = all_routes;
    StyleMask styles = all_styles; ///< allowed bounce styles
    /// Connections that failed verification are never used. NULL: all connections are trusted.
    const Verification *verification = nullptr;
    /// true: connections that were not verified yet are not used either. false:
    /// Candidate::unverified names them.
    bool verified_only = false;
};

/// All routes: the possible ones first, the cheapest on idle links first; then the refused ones,
/// each with its reason. The first is the cheapest of all paths over the links of the table, with
/// any number of hops. A pure function of its arguments. Unknown places throw std::out_of_range.
PI_RUNTIME_EXPORT std::vector<Candidate> candidates(const TopologyDescription &topology,
                                                    const RouteRequest &request,
                                                    const CostTable &costs);

} // namespace pi::runtime
