// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes that several places want. They cross each link once: who comes later takes them from the nearest place that has
// them, or is about to get them, and what goes through the host stays there. They go in pieces, each a copy of its own,
// so that a place passes on what it has while the rest is still on its way.
#include "planning/path.hpp"
#include "planning/portions.hpp"
#include "storage/storage_state.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>

namespace pi::runtime {

/// What a copy of `seconds` takes there, as things are: devices send to one place after the other, and what arrives in one
/// piece cannot be passed on before. A broadcast plans for the order in which it asks, however fast the copies are.
double StorageState::predicted_wait(ViewId source, const RangeSet &ranges, double seconds,
                                    const Spread *spread) const {
    if (views_[source].home == host_place) {
        return seconds;
    }
    if (spread != nullptr) {
        return seconds * static_cast<double>(1 + std::count(spread->senders.begin(),
                                                            spread->senders.end(), source));
    }
    const bool in_one_piece = ledger_.arriving(source, ranges).size() == 1;
    return seconds * (1 + ledger_.readers(source, ranges) + (in_one_piece ? 1 : 0));
}

/// Whether nobody else sees its memory. Where others do, copies touch what lies beside them (whole units of caches), and
/// are best done at once.
bool StorageState::has_memory_alone(ViewId view) const {
    const MemoryId memory = ledger_.memory_of(view);
    for (ViewId other = 0; other < ledger_.view_count(); ++other) {
        if (other != view && ledger_.memory_of(other) == memory) {
            return false;
        }
    }
    return true;
}

/// Empty if the bytes of a bounce may stay at the host on their way.
std::string StorageState::why_not_at_host(const Source &source, const RangeSet &ranges) const {
    const Route &route = source.candidate.route;
    if (route.style != BounceStyle::staged || route.hops.size() != 2) {
        return "no bounce of two halves";
    }
    const Topology &topology = *runtime_->topology;
    if (topology.info(route.source).shares_host_memory() ||
        topology.info(route.destination).shares_host_memory()) {
        return "an end is host memory itself, and small staging buffers stay in the cache";
    }
    const StyleMask halves = mask_of(BounceStyle::read) | mask_of(BounceStyle::write);
    if ((description_.styles & halves) != halves) {
        return "not allowed for this storage";
    }
    if (description_.host_memory != nullptr) {
        return "the host's memory is the application's";
    }
    const uint64_t limit = runtime_->options.bounce_limit;
    if (limit == 0) {
        return "RuntimeOptions::bounce_limit is 0";
    }
    if (!host_view_) {
        const uint64_t kept = runtime_->kept_at_host;
        return limit < kept || limit - kept < description_.size
                   ? "RuntimeOptions::bounce_limit is reached"
                   : "";
    }
    if (!has_memory_alone(*host_view_)) {
        return "devices have imported the host's memory";
    }
    const auto waits = ledger_.copy_waits(source.view, *host_view_, host_place, ranges);
    const bool in_use = std::any_of(waits.begin(), waits.end(),
                                    [](const Ledger::Wait &wait) { return !wait.data; });
    return in_use ? "the host's memory is in use" : "";
}

void StorageState::decide_stay_at_host(PlannedPart &part) const {
    if (part.sources.empty()) {
        return;
    }
    Source &best = part.sources.front();
    if (best.candidate.route.style != BounceStyle::staged) {
        return;
    }
    const std::string reason = why_not_at_host(best, part.ranges);
    part.stays_at_host = reason.empty();
    best.candidate.reason +=
        part.stays_at_host ? ", and stays there" : ", not kept there: " + reason;
}

/// The best size of pieces that go over the route's links, and from place to place over so many more.
uint64_t StorageState::piece_size(const PlannedPart &part, uint64_t followers) const {
    const CostTable &costs = runtime_->costs;
    const CostModel &model = costs.model();
    const std::vector<Hop> &hops = part.sources.front().candidate.route.hops;
    const uint64_t bytes = part.ranges.bytes();
    uint64_t best = bytes;
    double best_seconds = 0;
    for (uint64_t chunk = std::max<uint64_t>(1, model.smallest_chunk);; chunk *= 2) {
        const double seconds = pipeline_seconds(costs, hops, bytes, chunk, followers);
        if (best_seconds == 0 || seconds < best_seconds) {
            best_seconds = seconds;
            best = even_piece(bytes, chunk);
        }
        if (chunk >= bytes || chunk >= model.largest_chunk) {
            return best;
        }
    }
}

std::vector<RangeSet> StorageState::pieces(const PlannedPart &part, const Spread *spread) const {
    const uint64_t followers = spread == nullptr ? 0 : spread->followers;
    const Source &source = part.sources.front();
    const Route &route = source.candidate.route;
    const size_t hops = route.hops.size();
    // Several hops have a pipeline of their own. A map is one piece without holes, which a place may have got in many.
    if (part.hand_over || route.style == BounceStyle::map_source ||
        route.style == BounceStyle::map_destination || (hops > 1 && !part.stays_at_host)) {
        return {part.ranges};
    }
    std::vector<RangeSet> result = ledger_.arriving(source.view, part.ranges);
    RangeSet there = part.ranges;
    for (const RangeSet &piece : result) {
        there.remove(piece);
    }
    if (there.empty()) {
        return result;
    }
    const bool in_pieces = part.stays_at_host || followers > 0;
    const uint64_t size = in_pieces && hops > 0 ? piece_size(part, followers) : there.bytes();
    const auto cut_up = portions(there, size);
    result.insert(result.begin(), cut_up.begin(), cut_up.end());
    return result;
}

/// A piece may have holes where the part, whose ways these are, has none: a map, which is one range, is none of its ways.
void StorageState::drop_maps_of_holes(PlannedPart &piece) {
    if (piece.ranges.ranges().size() > 1) {
        std::erase_if(piece.sources, [](const Source &source) {
            const BounceStyle style = source.candidate.route.style;
            return style == BounceStyle::map_source || style == BounceStyle::map_destination;
        });
    }
}

/// Both halves of a bounce, in turn for each piece.
void StorageState::add_bounce(std::vector<PlannedCopy> &copies, const PlannedPart &part,
                              ViewId destination, const std::vector<RangeSet> &in_pieces) {
    const auto half = [&](ViewId from, ViewId to) {
        const RangeSet &piece = in_pieces.front();
        RouteRequest request =
            route_request(from, target_of(to), piece.bytes(), piece.ranges().size());
        request.styles &= mask_of(BounceStyle::read) | mask_of(BounceStyle::write); // for any piece
        Candidate best =
            candidates(runtime_->topology->description(), request, runtime_->costs).front();
        best.delay = delay(best, piece.bytes());
        return Source{from, std::move(best)};
    };
    PlannedPart first;
    first.on_the_way = true;
    first.sources = {half(part.sources.front().view, *host_view_)};
    PlannedPart second;
    second.is_piece = true;
    second.whole = part.sources.front().candidate;
    second.whole->seconds /= static_cast<double>(in_pieces.size());
    second.sources = {half(*host_view_, destination)};
    for (const RangeSet &piece : in_pieces) {
        first.ranges = piece;
        second.ranges = piece;
        second.sources.resize(1);
        for (const Source &source :
             part.sources) { // where the bytes are if they do not come over the host
            second.sources.push_back(source);
            second.sources.back().candidate.seconds *=
                static_cast<double>(piece.bytes()) / static_cast<double>(part.ranges.bytes());
        }
        drop_maps_of_holes(second);
        copies.push_back({first, *host_view_});
        copies.push_back({second, destination});
    }
}

/// False if another storage has taken what was left of the limit meanwhile, or there is no memory: staging takes less.
bool StorageState::keep_at_host() {
    std::atomic<uint64_t> &kept = runtime_->kept_at_host;
    const uint64_t limit = runtime_->options.bounce_limit;
    uint64_t before = kept.load();
    do {
        if (before > limit || limit - before < description_.size) {
            return false;
        }
    } while (!kept.compare_exchange_weak(before, before + description_.size));
    try {
        create_host_view();
    } catch (...) {
        kept -= description_.size;
        return false;
    }
    kept_at_host_ = description_.size; // given back with the storage
    return true;
}

std::vector<PlannedCopy> StorageState::cut(std::vector<PlannedPart> parts, ViewId destination,
                                           Spread *spread) {
    std::vector<PlannedCopy> copies;
    for (PlannedPart &part : parts) {
        const ViewId to = part.by_way_of.value_or(destination);
        if (part.stays_at_host && !host_view_) {
            part.stays_at_host = keep_at_host();
            part.sources.front().candidate.reason +=
                part.stays_at_host ? "" : "; not kept there after all: no room was left";
        }
        const std::vector<RangeSet> in_pieces =
            has_memory_alone(to) ? pieces(part, spread) : std::vector{part.ranges};
        if (spread != nullptr && !part.sources.empty()) {
            spread->senders.push_back(part.sources.front().view);
        }
        if (part.stays_at_host) {
            add_bounce(copies, part, to, in_pieces);
            continue;
        }
        const bool behind_a_bounce = kept_at_host_ != 0 && part.sources.front().view == *host_view_;
        const bool is_piece = spread != nullptr || behind_a_bounce;
        for (const RangeSet &piece : in_pieces) {
            copies.push_back({part, to});
            copies.back().part.ranges = piece;
            copies.back().part.is_piece = is_piece;
            const auto share =
                static_cast<double>(piece.bytes()) / static_cast<double>(part.ranges.bytes());
            for (Source &source : copies.back().part.sources) {
                source.candidate.seconds *= share;
            }
            drop_maps_of_holes(copies.back().part);
        }
    }
    return copies;
}

} // namespace pi::runtime
