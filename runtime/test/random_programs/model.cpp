// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model.hpp"

#include <algorithm>

namespace random_programs {

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

Validity::Validity(const MachineFile &machine, RouteMask routes, uint64_t size, bool valid_at_host,
                   Stay stay)
    : machine_(machine), routes_(routes), stay_(stay), holders_(size) {
    constexpr uint32_t host = 1U << host_place;
    if (valid_at_host) {
        std::fill(holders_.begin(), holders_.end(), Holders{host, host});
    }
}

/// The ways that the bytes may have taken.
std::vector<Way> Validity::ways(const Holders &holders, PlaceIndex to, Choice choice) const {
    std::vector<Way> all, certain;
    for (PlaceIndex from = 0; from < machine_.places(); ++from) {
        if ((holders.perhaps >> from & 1) != 0) {
            all.push_back(machine_.way(from, to, routes_));
            if ((holders.certain >> from & 1) != 0) {
                certain.push_back(all.back());
            }
        }
    }
    if (choice == Choice::any || certain.empty()) {
        return all;
    }
    // The best possible source, and the sources that are no worse than the best certain one.
    const Way &limit = *std::min_element(certain.begin(), certain.end());
    const Way &best = *std::min_element(all.begin(), all.end());
    std::vector<Way> found;
    for (const Way &one : all) {
        // Of two equally good commands the machine may choose either, even if only one crosses a
        // link. The same holds for two bounces from the host's memory: a device whose memory is
        // there has a link that is no slower.
        const bool alike =
            one.commands == limit.commands && (std::min(one.crossings, limit.crossings) == 0 ||
                                               (one.from_host_memory && limit.from_host_memory));
        if (one <= limit || alike) {
            found.push_back(one);
        }
    }
    found.push_back(best);
    return found;
}

/// The bytes may go from device to device instead of a bounce; within a device in two contexts they
/// cross no link.
std::vector<Way> Validity::with_chains(std::vector<Way> found) const {
    const bool chains = machine_.contexts() > 1 && (routes_ & mask_of(RouteKind::migrate)) != 0;
    const auto is_bounce = [](const Way &way) { return way.commands > 1; };
    if (chains && std::any_of(found.begin(), found.end(), is_bounce)) {
        found.insert(found.end(), {{2, 1, false}, {3, 2, false}});
    }
    return found;
}

Validity::Fetched Validity::fetch(const Holders &holders, PlaceIndex to, Choice choice) const {
    const uint32_t own = 1U << to;
    const bool perhaps_there = (holders.perhaps & own) != 0;
    Fetched fetched;
    fetched.holders = {holders.certain | own, holders.perhaps | own};
    Holders sources = holders;
    sources.perhaps &= ~own;
    const std::vector<Way> found = with_chains(ways(sources, to, choice));
    const auto bounds = [&](uint64_t Way::*what) {
        const auto [least, most] =
            std::minmax_element(found.begin(), found.end(),
                                [&](const Way &a, const Way &b) { return a.*what < b.*what; });
        return Bounds{perhaps_there ? 0 : (*least).*what, (*most).*what};
    };
    fetched.demand = {
        {perhaps_there ? 0U : 1U, 1}, bounds(&Way::commands), bounds(&Way::crossings)};
    const auto stays = [](const Way &way) { return way.may_stay; };
    if (stay_ != Stay::never && std::any_of(found.begin(), found.end(), stays)) {
        fetched.holders.perhaps |= 1U << host_place;
        if (stay_ == Stay::always && !perhaps_there &&
            std::all_of(found.begin(), found.end(), stays)) {
            fetched.holders.certain |= 1U << host_place;
        }
    }
    return fetched;
}

Demand Validity::acquired(PlaceIndex home, const Range &range, bool fetches, bool writes,
                          Choice choice) {
    const uint32_t own = 1U << home;
    Demand demand;
    Holders known; // neighbouring bytes mostly have the same ones
    Fetched one;
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        Holders &holders = holders_[byte];
        if (fetches && holders.perhaps != 0 && (holders.certain & own) == 0) {
            if (holders != known) {
                known = holders;
                one = fetch(holders, home, choice);
            }
            demand += one.demand;
            holders = one.holders;
        }
        if (writes) {
            holders = {own, own};
        }
    }
    return demand;
}

void Validity::abandoned(PlaceIndex home, const Range &range) {
    const uint32_t own = 1U << home;
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        Holders &holders = holders_[byte];
        if ((holders.perhaps & ~own) != 0) {
            holders.certain &= ~own;
            if (holders.certain != 0) {
                holders.perhaps &= ~own;
            }
        }
    }
}

} // namespace random_programs
