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
struct Question {
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

Candidate make(const Question &question, RouteKind kind, BounceStyle style = BounceStyle::none) {
    Candidate candidate;
    candidate.route.kind = kind;
    candidate.route.style = style;
    candidate.route.source = question.request.source;
    candidate.route.destination = question.request.destination;
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

bool is_allowed(const Question &question, RouteKind kind) {
    return (question.request.allowed & mask_of(kind)) != 0;
}

constexpr const char *not_allowed = "not allowed for this storage";
constexpr const char *has_memory = "the destination has memory of its own already";
constexpr const char *other_layout =
    "only one of the two is in the storage's layout, the other is dense";
constexpr const char *given_memory =
    "the memory was given, and may be of an allocator that the connection does not cover";
constexpr const char *unknown_scope = "no connection is known for these scopes";

std::string connection_text(const Question &question) {
    constexpr std::array names{"none", "migratable", "unified"};
    const Connection &connection = question.connection();
    std::string text = "the connection is ";
    text += connection.connection < names.size() ? names[connection.connection] : "unknown";
    if (!connection.reason.empty()) {
        text += ": " + connection.reason;
    }
    return text;
}

Candidate direct_use(const Question &question) {
    Candidate candidate = make(question, RouteKind::direct_use);
    const RouteRequest &request = question.request;
    if (!is_allowed(question, RouteKind::direct_use)) {
        return refused(candidate, not_allowed);
    }
    if (request.destination_has_memory) {
        return refused(candidate, has_memory);
    }
    if (question.source_is_host() || question.destination_is_host()) {
        return refused(candidate, "the bare host has no connection: its memory is imported");
    }
    if (request.other_layout) {
        return refused(candidate, other_layout);
    }
    if (question.other_scope() && question.scoped() == nullptr) {
        return refused(candidate, unknown_scope);
    }
    if (question.connection().connection != PI_MEMORY_CONNECTION_UNIFIED) {
        return refused(candidate, connection_text(question));
    }
    if (request.source_given && question.connection().residency != PI_RESIDENCY_SAME_MEMORY) {
        return refused(candidate, given_memory);
    }
    std::string text = connection_text(question) + "; 0 bytes to move";
    if (question.connection().residency == PI_RESIDENCY_REMOTE_ACCESS) {
        if (question.costs.linked(request.source, request.destination)) {
            candidate.each_use =
                question.costs.seconds(request.source, request.destination, request.bytes);
        }
        text += ", but each use is over the link";
    } else if (question.connection().residency == PI_RESIDENCY_MIGRATES_WHOLE_OBJECT) {
        text += ", but the driver moves the whole object to its user";
    }
    return possible(candidate, 0, text);
}

Candidate import_host_memory(const Question &question) {
    Candidate candidate = make(question, RouteKind::import);
    const RouteRequest &request = question.request;
    const PlaceInfo &place = question.destination;
    const uint64_t needed = place.host_pointer_alignment;
    if (!is_allowed(question, RouteKind::import)) {
        return refused(candidate, not_allowed);
    }
    if (question.destination_is_host()) {
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
    if (!question.source_is_host() && !request.source_imported) {
        return refused(candidate, "the bytes are in memory of " + question.source.name +
                                      ", not in host memory");
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

Candidate migrate(const Question &question) {
    Candidate candidate = make(question, RouteKind::migrate);
    const RouteRequest &request = question.request;
    candidate.route.hops = {{request.source, request.destination}};
    if (!is_allowed(question, RouteKind::migrate)) {
        return refused(candidate, not_allowed);
    }
    if (question.source_is_host() || question.destination_is_host()) {
        return refused(candidate, "the bare host is reached by reading and writing");
    }
    if (question.other_scope() && question.scoped() == nullptr) {
        return refused(candidate, unknown_scope);
    }
    const Connection &connection = question.connection();
    if (connection.connection == PI_MEMORY_CONNECTION_NONE) {
        return refused(candidate, connection_text(question));
    }
    // Imported memory can be connected where ordinary memory is not.
    const Hop hop = candidate.route.hops.front();
    const CostModel &model = question.costs.model();
    const double seconds =
        question.other_scope() && connection.bandwidth != 0
            ? model.command_latency + 1e-9 * static_cast<double>(connection.latency) +
                  static_cast<double>(request.bytes) / static_cast<double>(connection.bandwidth)
        : question.costs.linked(hop.from, hop.to)
            ? question.costs.seconds(hop.from, hop.to, request.bytes)
            : model.command_latency + static_cast<double>(request.bytes) / model.link_bandwidth;
    return possible(candidate, seconds, connection_text(question) + "; one copy by the plugin");
}

std::string path_text(const Question &question, const Path &path) {
    std::string text;
    for (size_t hop = 0; hop + 1 < path.hops.size(); ++hop) {
        text += (hop == 0 ? "through " : " and ") +
                (path.hops[hop].to == host_place ? std::string("host memory")
                                                 : question.topology.place(path.hops[hop].to).name);
    }
    const uint64_t piece = even_piece(question.request.bytes, path.chunk);
    const uint64_t pieces = (question.request.bytes + piece - 1) / piece;
    return text + " in " + std::to_string(pieces) + (pieces == 1 ? " piece of " : " pieces of ") +
           std::to_string(piece) + " bytes";
}

Candidate along(const Question &question, RouteKind kind, const Path &path) {
    Candidate candidate = make(
        question, kind, kind == RouteKind::host_bounce ? BounceStyle::staged : BounceStyle::none);
    candidate.route.hops = path.hops;
    candidate.route.chunk = even_piece(question.request.bytes, path.chunk);
    return possible(std::move(candidate), path.seconds, path_text(question, path));
}

/// From device to device, without the host.
void add_migration_in_hops(const Question &question, std::vector<Candidate> &out) {
    if (!is_allowed(question, RouteKind::migrate) || question.source_is_host() ||
        question.destination_is_host()) {
        return;
    }
    if (const auto path = question.path(false)) {
        out.push_back(along(question, RouteKind::migrate, *path));
    }
}

/// One read or one write: an end is the host itself.
Candidate host_end(const Question &question) {
    const bool read = question.destination_is_host();
    Candidate candidate =
        make(question, RouteKind::host_bounce, read ? BounceStyle::read : BounceStyle::write);
    candidate.route.hops = {{question.request.source, question.request.destination}};
    return possible(candidate,
                    question.costs.seconds(question.request.source, question.request.destination,
                                           question.request.bytes),
                    read ? "one read into host memory" : "one write from host memory");
}

Candidate mapped(const Question &question, BounceStyle style) {
    Candidate candidate = make(question, RouteKind::host_bounce, style);
    const RouteRequest &request = question.request;
    candidate.route.hops = {{request.source, request.destination}};
    const bool is_source = style == BounceStyle::map_source;
    const PlaceInfo &place = is_source ? question.source : question.destination;
    if (!place.maps_in_place || !(is_source ? request.source_maps : request.destination_maps)) {
        return refused(candidate, "memory of " + place.name + " cannot be mapped in place");
    }
    if (request.pieces > 1) {
        return refused(candidate, std::to_string(request.pieces) +
                                      " pieces: a map would include the bytes between them, "
                                      "which others may use");
    }
    // Map, copy, unmap: the copy crosses the other end's link to the host.
    const CostTable &costs = question.costs;
    const PlaceIndex mapped_place = is_source ? request.source : request.destination;
    const double copy = is_source ? costs.seconds(host_place, request.destination, request.bytes)
                                  : costs.seconds(request.source, host_place, request.bytes);
    const double between =
        costs.callback_seconds(request.source) + costs.callback_seconds(request.destination);
    return possible(candidate, costs.map_seconds(mapped_place, request.bytes) + between + copy,
                    "mapped in place at " + place.name + ": one pass");
}

/// Read into host memory and written from it; and, where that is cheaper, over devices on the way.
void add_staged(const Question &question, std::vector<Candidate> &out) {
    const RouteRequest &request = question.request;
    PathQuery plain;
    plain.from = request.source;
    plain.to = request.destination;
    plain.bytes = request.bytes;
    plain.through_host = true;
    plain.usable = [](const Hop &hop) { return hop.from == host_place || hop.to == host_place; };
    if (const auto path = cheapest_path(question.costs, plain)) {
        out.push_back(along(question, RouteKind::host_bounce, *path));
    }
    const auto best = question.path(true);
    if (best && best->hops.size() > 2) {
        out.push_back(along(question, RouteKind::host_bounce, *best));
    }
}

void add_bounces(const Question &question, std::vector<Candidate> &out) {
    const size_t first = out.size();
    if (question.source_is_host() || question.destination_is_host()) {
        out.push_back(host_end(question));
        // A device with a slow link to the host may have a neighbour with a fast one.
        if (const auto path = question.path(true, out.back().seconds)) {
            out.push_back(along(question, RouteKind::host_bounce, *path));
        }
    } else {
        out.push_back(mapped(question, BounceStyle::map_source));
        out.push_back(mapped(question, BounceStyle::map_destination));
        add_staged(question, out);
    }
    for (size_t index = first; index < out.size(); ++index) {
        const StyleMask style = mask_of(out[index].route.style);
        if (!is_allowed(question, RouteKind::host_bounce) ||
            (question.request.styles & style) == 0) {
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
void require_verified(const Question &question, Candidate &candidate) {
    const RouteRequest &request = question.request;
    // A place may have memory of its own only because this connection failed.
    const bool would_be_possible =
        request.destination_has_memory && is_allowed(question, candidate.route.kind);
    if (request.verification == nullptr || (!candidate.possible && !would_be_possible)) {
        return;
    }
    for (const MemoryPair &pair : question.relies_on(candidate.route)) {
        const Verified verified = question.verified(pair);
        const bool failed = verified == Verified::failed;
        if (failed || (candidate.possible && !question.may_use(verified))) {
            candidate = refused(make(question, candidate.route.kind, candidate.route.style),
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
    const Question question{topology, request, costs, topology.place(request.source),
                            topology.place(request.destination)};
    std::vector<Candidate> out;
    if (request.source == request.destination || request.bytes == 0) {
        out.push_back(possible(make(question, RouteKind::none_needed), 0, "valid there already"));
        return out;
    }
    out.push_back(direct_use(question));
    out.push_back(import_host_memory(question));
    out.push_back(migrate(question));
    add_migration_in_hops(question, out);
    add_bounces(question, out);
    for (Candidate &candidate : out) {
        require_verified(question, candidate);
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
