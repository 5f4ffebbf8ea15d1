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
    import,      ///< both use one piece of host memory, which devices import
    migrate,     ///< plugins copy, over one link or from device to device over several
    host_bounce  ///< through host memory
};
inline constexpr uint32_t route_kind_count = 5;
PI_RUNTIME_EXPORT const char *to_string(RouteKind kind) noexcept;

/// How a bounce goes through the host. All but `staged` touch each byte once.
enum class BounceStyle : uint32_t {
    none,
    read,            ///< the destination is the host: one read
    write,           ///< the source is the host: one write
    map_source,      ///< the source is mapped in place, and written from there
    map_destination, ///< the destination is mapped in place, and read to there
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
    /// The links that every byte crosses. A bounce with a mapped end is one hop: the bytes are touched
    /// once. Empty for none_needed, direct_use and import.
    std::vector<Hop> hops;
    /// Over several hops the bytes go in pieces of so many, one behind the other; 0 = in one.
    uint64_t chunk = 0;
};

/// A route with its predicted cost, or refused.
struct Candidate {
    Route route;
    bool possible = false;
    double seconds = 0; ///< predicted, when possible: on idle links
    /// Of direct use over a link: predicted seconds for which a use of all these bytes is on that link, each time.
    double each_use = 0;
    /// Predicted seconds by which transfers under way make it later: it ends after seconds + delay. Buffer::explain and
    /// the plans of acquires have it, candidates() leaves 0.
    ///
    /// A transfer is under way from when its commands are submitted until its end is known; while it waits for a kernel,
    /// say, it is not, as nothing tells when it will begin. Waiting for staging memory is in no prediction. Nor does anything tell how far one is: it counts as a
    /// whole, as if all began now, which holds for what begins at one time, and is too long for the rest. On a link pieces
    /// take turns: of each other transfer go first at most as many as this one has. What begins later is not known, and
    /// delays only transfers in several pieces.
    ///
    /// Each direction of a link counts apart; the places of one device share its links; links between places in host
    /// memory are one. Wires that other links share are not known.
    ///
    /// Routes are chosen without it: the same bytes cross the same links however busy these are.
    double delay = 0;
    std::string
        reason; ///< why refused: "host pointer misaligned: 16 of 64"; else why it costs that
    /// Of a possible one: connections that it needs and that are to be verified first.
    std::vector<MemoryPair> unverified{};
    bool verification_failed = false; ///< refused for that: the reason says what was seen
};

/// Bits of RouteRequest::allowed and StorageDescription::routes: 1 << RouteKind.
using RouteMask = uint32_t;
inline constexpr RouteMask all_routes = (1U << route_kind_count) - 1;
constexpr RouteMask mask_of(RouteKind kind) {
    return 1U << static_cast<uint32_t>(kind);
}

/// Bits of RouteRequest::styles and StorageDescription::styles: 1 << BounceStyle.
using StyleMask = uint32_t;
inline constexpr StyleMask all_styles = (1U << bounce_style_count) - 1;
constexpr StyleMask mask_of(BounceStyle style) {
    return 1U << static_cast<uint32_t>(style);
}

/// One question: bytes at `source`, wanted at `destination`.
struct RouteRequest {
    PlaceIndex source = host_place;
    PlaceIndex destination = host_place;
    uint64_t bytes = 0;
    /// Disjoint ranges that these bytes form. Of several none is mapped, as a map is one range: no command may write what
    /// lies between them while it lasts, and a map for writing gives that no value.
    uint64_t pieces = 1;
    bool source_imported = false; ///< the source's memory was made of a host pointer
    /// The source's memory was given to the storage: whether it is of the allocator that the connection speaks of, nobody
    /// tells. Another device uses it only where its residency is the same memory.
    bool source_given = false;
    bool source_scope_0 = true; ///< ordinary memory, which most connections speak of
    bool destination_scope_0 = true;
    std::string scope{}; ///< of the ends that are not in scope 0; empty = no connection is known
    bool source_maps = true; ///< the source's scope can be mapped in place (with PlaceInfo's word)
    bool destination_maps = true;
    /// The destination has memory of its own for these bytes: nothing can be used in place any more.
    bool destination_has_memory = false;
    /// The host bytes that an import would use; address 0 = the runtime allocates them aligned.
    uint64_t host_address = 0;
    uint64_t host_size = 0;
    bool demands_device_memory = false; ///< contiguous or pinned: imported memory would not do
    /// Only one of both ends has memory in the storage's layout: neither's would do for the other.
    bool other_layout = false;
    RouteMask allowed = all_routes;
    StyleMask styles = all_styles; ///< ways of a bounce that are allowed
    /// A connection that failed there is never used; NULL: the plugins are believed.
    const Verification *verification = nullptr;
    /// Nor is one that nobody has tried; else Candidate::unverified names it.
    bool verified_only = false;
};

/// Every way there is, the possible ones first, cheapest on idle links first; then the refused ones, each with its
/// reason. The first is the cheapest of all paths over the table's links, of any number of hops. A pure
/// function of its arguments. Unknown places are std::out_of_range.
PI_RUNTIME_EXPORT std::vector<Candidate> candidates(const TopologyDescription &topology,
                                                    const RouteRequest &request,
                                                    const CostTable &costs);

} // namespace pi::runtime
