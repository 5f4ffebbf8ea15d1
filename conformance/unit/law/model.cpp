// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model.hpp"

#include <algorithm>
#include <optional>

namespace law_test {

using pi::runtime::RouteKind;
using pi::runtime::RouteMask;

Memories::Memories(const MachineFile &machine, RouteMask routes)
    : machine_(machine), routes_(routes), uses_(machine.places()) {}

bool Memories::allowed(RouteKind kind) const {
    return (routes_ & mask_of(kind)) != 0;
}

Memories::Use Memories::find(PlaceIndex place) const {
    if (place == host_place) {
        return {Kind::own, host_place};
    }
    for (PlaceIndex owner = 1; owner < uses_.size() && allowed(RouteKind::direct_use); ++owner) {
        const Use &use = uses_[owner];
        if ((use.kind == Kind::own || use.kind == Kind::imported) &&
            machine_.unified(owner, place, use.kind == Kind::imported)) {
            return {Kind::direct, use.home};
        }
    }
    if (allowed(RouteKind::import) && machine_.imports(place)) {
        return {Kind::imported, host_place};
    }
    return {Kind::own, place};
}

PlaceIndex Memories::of(PlaceIndex place) {
    const std::lock_guard lock(mutex_);
    if (uses_[place].kind == Kind::none) {
        uses_[place] = find(place);
    }
    return uses_[place].home;
}

Validity::Validity(const MachineFile &machine, RouteMask routes, uint64_t size, bool valid_at_host)
    : machine_(machine), routes_(routes), holders_(size, valid_at_host ? 1U << host_place : 0) {}

/// Holders: a bit for each place whose memory has it.
Demand Validity::of_one_byte(uint32_t holders, PlaceIndex to) const {
    std::optional<Way> best;
    Demand demand{1, 0, 0, false, {UINT64_MAX, 0}, {UINT64_MAX, 0}};
    const auto widen = [](Bounds &bounds, uint64_t one) {
        bounds = {std::min(bounds.least, one), std::max(bounds.most, one)};
    };
    for (PlaceIndex from = 0; from < machine_.places(); ++from) {
        if ((holders >> from & 1) != 0) {
            const Way one = machine_.way(from, to, routes_);
            widen(demand.any_command_bytes, one.commands);
            widen(demand.any_link_bytes, one.crossings);
            demand.any_link = demand.any_link || (best && best->commands == one.commands &&
                                                  best->crossings != one.crossings &&
                                                  std::min(best->crossings, one.crossings) == 0);
            best = best ? std::min(*best, one) : one;
        }
    }
    demand.command_bytes = best->commands;
    demand.link_bytes = best->crossings;
    return demand;
}

Demand Validity::acquired(PlaceIndex home, const Range &range, bool fetches, bool writes) {
    const uint32_t own = 1U << home;
    Demand demand;
    uint32_t known_holders = 0; // neighbours have the same ones mostly
    Demand one;
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        uint32_t &holders = holders_[byte];
        if (fetches && holders != 0 && (holders & own) == 0) {
            if (holders != known_holders) {
                one = of_one_byte(holders, home);
                known_holders = holders;
            }
            demand += one;
            holders |= own;
        }
        if (writes) {
            holders = own;
        }
    }
    return demand;
}

void Validity::abandoned(PlaceIndex home, const Range &range) {
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        const uint32_t others = holders_[byte] & ~(1U << home);
        holders_[byte] = others != 0 ? others : holders_[byte];
    }
}

Contents::Contents(const MachineFile &machine, uint64_t size)
    : machine_(&machine), bytes_(size), known_(size), certain_(size) {}

void Contents::write(PlaceIndex place, const Range &range, const std::vector<uint8_t> &last_bytes) {
    const uint64_t begin = range.end - last_bytes.size();
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        certain_[byte] = 1U << place;
        if (byte >= begin) {
            bytes_[byte] = last_bytes[byte - begin];
            known_[byte] = 1;
        }
    }
}

void Contents::fail_write(PlaceIndex place, const Range &range, bool has_run) {
    const uint32_t may_share = machine_->may_share(place);
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        const uint32_t others = certain_[byte] & ~may_share;
        if (others != 0) {
            certain_[byte] = others;
        } else if (has_run) {
            known_[byte] = 0;
        }
    }
}

void Contents::read(PlaceIndex place, const Range &range) {
    if (place != host_place) {
        return; // a replica that may be given up for others
    }
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        certain_[byte] |= known_[byte] != 0 ? 1U << place : 0;
    }
}

std::string Contents::compare(const Range &range, const std::vector<uint8_t> &seen) const {
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        const uint8_t found = seen[byte - range.begin];
        if (known_[byte] != 0 && found != bytes_[byte]) {
            return "byte " + std::to_string(byte) + " is " + std::to_string(found) + ", not " +
                   std::to_string(bytes_[byte]);
        }
    }
    return {};
}

std::string Contents::check_lost(const pi::runtime::RangeSet &lost) const {
    uint32_t safe = 0;
    for (PlaceIndex place = 0; place < machine_->places(); ++place) {
        bool may_be_lost = false;
        for (PlaceIndex other = 0; other < machine_->places(); ++other) {
            may_be_lost = may_be_lost || ((machine_->may_share(place) >> other & 1) != 0 &&
                                          machine_->may_be_lost(other));
        }
        safe |= may_be_lost ? 0 : 1U << place;
    }
    for (const Range &range : lost.ranges()) {
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            if ((certain_[byte] & safe) != 0) {
                return "byte " + std::to_string(byte) +
                       " is reported lost, and another memory has it";
            }
        }
    }
    return {};
}

} // namespace law_test
