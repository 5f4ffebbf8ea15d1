// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/path.hpp"

#include <pi/runtime/route.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace pi::runtime {
namespace {

/// The largest power of two that divides an address.
uint64_t alignment_of(uint64_t address) {
    return address & (~address + 1);
}

/// The request, and what every candidate looks up.
struct RouteQuery {
    const TopologyDescription &topology;
    const RouteRequest &request;
    const CostTable &costs;
    const PlaceInfo &source;
    const PlaceInfo &destination;

    bool source_is_host() const { return request.source == host_place; }
    bool destination_is_host() const { return request.destination == host_place; }
    /// Whether an end lies elsewhere than in scope 0.
    bool other_scope() const { return !request.source_scope_0 || !request.destination_scope_0; }
    const Connection *scoped() const {
        return request.source_imported || source_is_host() || destination_is_host()
                   ? nullptr
                   : topology.in_scope(request.scope, request.source, request.destination);
    }
    const Connection &connection() const {
        if (const Connection *in_scope = other_scope() ? scoped() : nullptr) {
            return *in_scope;
        }
        return request.source_imported ? topology.import(request.source, request.destination)
                                       : topology.buffer(request.source, request.destination);
    }
    /// Memory on the way is in scope 0: from another scope only the host can surely be reached.
    bool usable(const Hop &hop) const {
        if (hop.from == host_place || hop.to == host_place) {
            return true;
        }
        if (hop.from == request.source &&
            (!request.source_scope_0 ||
             (request.source_imported &&
              topology.import(hop.from, hop.to).connection == PI_MEMORY_CONNECTION_NONE))) {
            return false;
        }
        return (hop.to != request.destination || request.destination_scope_0) &&
               may_use(
                   verified({.src = hop.from, .dst = hop.to, .imported = is_imported(hop.from)}));
    }
    bool is_imported(PlaceIndex from) const {
        return from == request.source && request.source_imported;
    }
    Verified verified(const MemoryPair &pair) const {
        return request.verification != nullptr ? request.verification->of(pair) : Verified::yes;
    }
    bool may_use(Verified verified) const {
        return verified == Verified::yes ||
               (verified == Verified::unknown && !request.verified_only);
    }
    /// The memory that a route uses from one end to the other.
    MemoryPair ends() const {
        return {.src = request.source,
                .dst = request.destination,
                .imported = request.source_imported,
                .scope = other_scope() && scoped() != nullptr ? request.scope : std::string()};
    }
    /// The connections that a route relies on: what the plugins report of them must be true.
    std::vector<MemoryPair> relies_on(const Route &route) const {
        if (route.kind == RouteKind::direct_use) {
            std::vector<MemoryPair> pairs(2, ends());
            pairs.back().kernels = true; // kernels may be bound to it
            return pairs;
        }
        if (route.kind == RouteKind::import) {
            return {{.src = request.destination, .dst = request.destination, .imported = true}};
        }
        if (route.hops.size() == 1) {
            return route.kind == RouteKind::migrate ? std::vector{ends()}
                                                    : std::vector<MemoryPair>();
        }
        std::vector<MemoryPair> pairs;
        for (const Hop &hop : route.hops) {
            if (hop.from != host_place && hop.to != host_place) {
                pairs.push_back(
                    {.src = hop.from, .dst = hop.to, .imported = is_imported(hop.from)});
            }
        }
        return pairs;
    }
    std::optional<Path> path(bool through_host,
                             double limit = std::numeric_limits<double>::infinity()) const {
        PathQuery path;
        path.limit = limit;
        path.from = request.source;
        path.to = request.destination;
        path.bytes = request.bytes;
        path.through_host = through_host;
        path.usable = [this](const Hop &hop) { return usable(hop); };
        return cheapest_path(costs, path);
    }
};

Candidate make(const RouteQuery &query, RouteKind kind, BounceStyle style = BounceStyle::none) {
    Candidate candidate;
    candidate.route.kind = kind;
    candidate.route.style = style;
    candidate.route.source = query.request.source;
    candidate.route.destination = query.request.destination;
    return candidate;
}

Candidate refused(Candidate candidate, std::string reason) {
    candidate.reason = std::move(reason);
    return candidate;
}

Candidate possible(Candidate candidate, double seconds, std::string reason) {
    candidate.possible = true;
    candidate.seconds = seconds;
    candidate.reason = std::move(reason);
    return candidate;
}

bool is_allowed(const RouteQuery &query, RouteKind kind) {
    return (query.request.allowed & mask_of(kind)) != 0;
}

constexpr const char *not_allowed = "not allowed for this storage";
constexpr const char *has_memory = "the destination has memory of its own already";
constexpr const char *other_layout =
    "only one of the two is in the storage's layout, the other is dense";
constexpr const char *given_memory =
    "the memory was given, and may be of an allocator that the connection does not cover";
constexpr const char *unknown_scope = "no connection is known for these scopes";

std::string connection_text(const RouteQuery &query) {
    constexpr std::array names{"none", "migratable", "unified"};
    const Connection &connection = query.connection();
    std::string text = "the connection is ";
    text += connection.connection < names.size() ? names[connection.connection] : "unknown";
    if (!connection.reason.empty()) {
        text += ": " + connection.reason;
    }
    return text;
}

Candidate direct_use(const RouteQuery &query) {
    Candidate candidate = make(query, RouteKind::direct_use);
    const RouteRequest &request = query.request;
    if (!is_allowed(query, RouteKind::direct_use)) {
        return refused(candidate, not_allowed);
    }
    if (request.destination_has_memory) {
        return refused(candidate, has_memory);
    }
    if (query.source_is_host() || query.destination_is_host()) {
        return refused(candidate, "the bare host has no connection: its memory is imported");
    }
    if (request.other_layout) {
        return refused(candidate, other_layout);
    }
    if (query.other_scope() && query.scoped() == nullptr) {
        return refused(candidate, unknown_scope);
    }
    if (query.connection().connection != PI_MEMORY_CONNECTION_UNIFIED) {
        return refused(candidate, connection_text(query));
    }
    if (request.source_given && query.connection().residency != PI_RESIDENCY_SAME_MEMORY) {
        return refused(candidate, given_memory);
    }
    std::string text = connection_text(query) + "; 0 bytes to move";
    if (query.connection().residency == PI_RESIDENCY_REMOTE_ACCESS) {
        if (query.costs.linked(request.source, request.destination)) {
            candidate.each_use =
                query.costs.seconds(request.source, request.destination, request.bytes);
        }
        text += ", but each use is over the link";
    } else if (query.connection().residency == PI_RESIDENCY_MIGRATES_WHOLE_OBJECT) {
        text += ", but the driver moves the whole object to its user";
    }
    return possible(candidate, 0, text);
}

Candidate import_host_memory(const RouteQuery &query) {
    Candidate candidate = make(query, RouteKind::import);
    const RouteRequest &request = query.request;
    const PlaceInfo &place = query.destination;
    const uint64_t needed = place.host_pointer_alignment;
    if (!is_allowed(query, RouteKind::import)) {
        return refused(candidate, not_allowed);
    }
    if (query.destination_is_host()) {
        return refused(candidate, "the host does not import: devices import its memory");
    }
    if (request.destination_has_memory) {
        return refused(candidate, has_memory);
    }
    if (!place.host_pointer_import) {
        return refused(candidate, place.name + " imports no host pointers");
    }
    if (!place.shares_host_memory()) {
        return refused(candidate, place.name +
                                      " has memory of its own: every access to host memory "
                                      "would cross the link");
    }
    if (request.requires_device_memory) {
        return refused(candidate, "contiguous or pinned memory is required");
    }
    if (request.other_layout) {
        return refused(candidate, other_layout);
    }
    if (!request.destination_scope_0) {
        return refused(candidate, "imported memory is in no scope, and the storage requires one");
    }
    if (!query.source_is_host() && !request.source_imported) {
        return refused(candidate,
                       "the bytes are in memory of " + query.source.name + ", not in host memory");
    }
    if (request.host_address % needed != 0) {
        return refused(candidate, "host pointer misaligned: " +
                                      std::to_string(alignment_of(request.host_address)) + " of " +
                                      std::to_string(needed));
    }
    if (request.host_address != 0 && request.host_size % needed != 0) {
        return refused(candidate,
                       "host memory's size misaligned: " + std::to_string(request.host_size) +
                           " is not a multiple of " + std::to_string(needed));
    }
    return possible(candidate, 0, "one piece of host memory, which the device imports");
}

Candidate migrate(const RouteQuery &query) {
    Candidate candidate = make(query, RouteKind::migrate);
    const RouteRequest &request = query.request;
    candidate.route.hops = {{request.source, request.destination}};
    if (!is_allowed(query, RouteKind::migrate)) {
        return refused(candidate, not_allowed);
    }
    if (query.source_is_host() || query.destination_is_host()) {
        return refused(candidate, "the bare host is reached by reading and writing");
    }
    if (query.other_scope() && query.scoped() == nullptr) {
        return refused(candidate, unknown_scope);
    }
    const Connection &connection = query.connection();
    if (connection.connection == PI_MEMORY_CONNECTION_NONE) {
        return refused(candidate, connection_text(query));
    }
    // Imported memory can be connected where ordinary memory is not.
    const Hop hop = candidate.route.hops.front();
    const CostModel &model = query.costs.model();
    const double seconds =
        query.other_scope() && connection.bandwidth != 0
            ? model.command_latency + 1e-9 * static_cast<double>(connection.latency) +
                  static_cast<double>(request.bytes) / static_cast<double>(connection.bandwidth)
        : query.costs.linked(hop.from, hop.to)
            ? query.costs.seconds(hop.from, hop.to, request.bytes)
            : model.command_latency + static_cast<double>(request.bytes) / model.link_bandwidth;
    return possible(candidate, seconds, connection_text(query) + "; one copy by the plugin");
}

std::string path_text(const RouteQuery &query, const Path &path) {
    std::string text;
    for (size_t hop = 0; hop + 1 < path.hops.size(); ++hop) {
        text += (hop == 0 ? "through " : " and ") +
                (path.hops[hop].to == host_place ? std::string("host memory")
                                                 : query.topology.place(path.hops[hop].to).name);
    }
    const uint64_t piece = even_piece(query.request.bytes, path.chunk);
    const uint64_t pieces = (query.request.bytes + piece - 1) / piece;
    return text + " in " + std::to_string(pieces) + (pieces == 1 ? " piece of " : " pieces of ") +
           std::to_string(piece) + " bytes";
}

Candidate along(const RouteQuery &query, RouteKind kind, const Path &path) {
    Candidate candidate =
        make(query, kind, kind == RouteKind::host_bounce ? BounceStyle::staged : BounceStyle::none);
    candidate.route.hops = path.hops;
    candidate.route.chunk = even_piece(query.request.bytes, path.chunk);
    return possible(std::move(candidate), path.seconds, path_text(query, path));
}

/// From device to device, without the host.
void add_migration_in_hops(const RouteQuery &query, std::vector<Candidate> &out) {
    if (!is_allowed(query, RouteKind::migrate) || query.source_is_host() ||
        query.destination_is_host()) {
        return;
    }
    if (const auto path = query.path(false)) {
        out.push_back(along(query, RouteKind::migrate, *path));
    }
}

/// One read or one write: an end is the host itself.
Candidate host_end(const RouteQuery &query) {
    const bool read = query.destination_is_host();
    Candidate candidate =
        make(query, RouteKind::host_bounce, read ? BounceStyle::read : BounceStyle::write);
    candidate.route.hops = {{query.request.source, query.request.destination}};
    return possible(
        candidate,
        query.costs.seconds(query.request.source, query.request.destination, query.request.bytes),
        read ? "one read into host memory" : "one write from host memory");
}

Candidate mapped(const RouteQuery &query, BounceStyle style) {
    Candidate candidate = make(query, RouteKind::host_bounce, style);
    const RouteRequest &request = query.request;
    candidate.route.hops = {{request.source, request.destination}};
    const bool is_source = style == BounceStyle::map_source;
    const PlaceInfo &place = is_source ? query.source : query.destination;
    if (!place.maps_in_place || !(is_source ? request.source_maps : request.destination_maps)) {
        return refused(candidate, "memory of " + place.name + " cannot be mapped in place");
    }
    if (request.pieces > 1) {
        return refused(candidate, std::to_string(request.pieces) +
                                      " pieces: a map would include the bytes between them, "
                                      "which others may use");
    }
    // Map, copy, unmap: the copy crosses the other end's link to the host.
    const CostTable &costs = query.costs;
    const PlaceIndex mapped_place = is_source ? request.source : request.destination;
    const double copy = is_source ? costs.seconds(host_place, request.destination, request.bytes)
                                  : costs.seconds(request.source, host_place, request.bytes);
    const double between =
        costs.callback_seconds(request.source) + costs.callback_seconds(request.destination);
    return possible(candidate, costs.map_seconds(mapped_place, request.bytes) + between + copy,
                    "mapped in place at " + place.name + ": one pass");
}

/// Read into host memory and written from it; and, where that is cheaper, over devices on the way.
void add_staged(const RouteQuery &query, std::vector<Candidate> &out) {
    const RouteRequest &request = query.request;
    PathQuery plain;
    plain.from = request.source;
    plain.to = request.destination;
    plain.bytes = request.bytes;
    plain.through_host = true;
    plain.usable = [](const Hop &hop) { return hop.from == host_place || hop.to == host_place; };
    if (const auto path = cheapest_path(query.costs, plain)) {
        out.push_back(along(query, RouteKind::host_bounce, *path));
    }
    const auto best = query.path(true);
    if (best && best->hops.size() > 2) {
        out.push_back(along(query, RouteKind::host_bounce, *best));
    }
}

void add_bounces(const RouteQuery &query, std::vector<Candidate> &out) {
    const size_t first = out.size();
    if (query.source_is_host() || query.destination_is_host()) {
        out.push_back(host_end(query));
        // A device with a slow link to the host may have a neighbour with a fast one.
        if (const auto path = query.path(true, out.back().seconds)) {
            out.push_back(along(query, RouteKind::host_bounce, *path));
        }
    } else {
        out.push_back(mapped(query, BounceStyle::map_source));
        out.push_back(mapped(query, BounceStyle::map_destination));
        add_staged(query, out);
    }
    for (size_t index = first; index < out.size(); ++index) {
        const StyleMask style = mask_of(out[index].route.style);
        if (!is_allowed(query, RouteKind::host_bounce) || (query.request.styles & style) == 0) {
            out[index].possible = false;
            out[index].reason = not_allowed;
        }
    }
}

} // namespace

const char *to_string(RouteKind kind) noexcept {
    constexpr std::array names{"none needed", "direct use", "import", "migrate", "host bounce"};
    const auto index = static_cast<size_t>(kind);
    return index < names.size() ? names[index] : "?";
}

const char *to_string(BounceStyle style) noexcept {
    constexpr std::array names{"", "read", "write", "map source", "map destination", "staged"};
    const auto index = static_cast<size_t>(style);
    return index < names.size() ? names[index] : "?";
}

namespace {

/// Refuses a candidate that relies on a connection that may not be used.
void require_verified(const RouteQuery &query, Candidate &candidate) {
    const RouteRequest &request = query.request;
    // A place may have memory of its own only because this connection failed.
    const bool would_be_possible =
        request.destination_has_memory && is_allowed(query, candidate.route.kind);
    if (request.verification == nullptr || (!candidate.possible && !would_be_possible)) {
        return;
    }
    for (const MemoryPair &pair : query.relies_on(candidate.route)) {
        const Verified verified = query.verified(pair);
        const bool failed = verified == Verified::failed;
        if (failed || (candidate.possible && !query.may_use(verified))) {
            candidate = refused(make(query, candidate.route.kind, candidate.route.style),
                                failed ? "verification failed: " + request.verification->text(pair)
                                       : "the connection is not verified yet");
            candidate.verification_failed = failed;
            return;
        }
        if (candidate.possible && verified == Verified::unknown) {
            candidate.unverified.push_back(pair);
        }
    }
    candidate.reason += candidate.unverified.empty() ? "" : ", not verified yet";
}

/// The route that is used instead of a failed one says why.
void report_failed(std::vector<Candidate> &candidates) {
    const auto failed =
        std::find_if(candidates.begin(), candidates.end(),
                     [](const Candidate &candidate) { return candidate.verification_failed; });
    if (failed == candidates.end()) {
        return;
    }
    const std::string text =
        std::string("; not by ") + to_string(failed->route.kind) + ": " + failed->reason;
    for (Candidate &candidate : candidates) {
        candidate.reason += candidate.possible ? text : "";
    }
}

} // namespace

std::vector<Candidate> candidates(const TopologyDescription &topology, const RouteRequest &request,
                                  const CostTable &costs) {
    const RouteQuery query{topology, request, costs, topology.place(request.source),
                           topology.place(request.destination)};
    std::vector<Candidate> out;
    if (request.source == request.destination || request.bytes == 0) {
        out.push_back(possible(make(query, RouteKind::none_needed), 0, "valid there already"));
        return out;
    }
    out.push_back(direct_use(query));
    out.push_back(import_host_memory(query));
    out.push_back(migrate(query));
    add_migration_in_hops(query, out);
    add_bounces(query, out);
    for (Candidate &candidate : out) {
        require_verified(query, candidate);
    }
    report_failed(out);
    std::stable_sort(out.begin(), out.end(), [](const Candidate &a, const Candidate &b) {
        if (a.possible != b.possible) {
            return a.possible;
        }
        return a.possible && a.seconds < b.seconds;
    });
    return out;
}

} // namespace pi::runtime
