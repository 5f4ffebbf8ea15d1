// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of another device that a place uses over a link: when memory of its own is better.
#include "storage/attachments.hpp"

#include <pi/runtime/error.hpp>

#include <optional>
#include <string>
#include <utility>

namespace pi::runtime {

/// Whether an acquire of this range gives the place memory of its own.
bool Attachments::leaves_shared_memory(const Planner &planner, PlaceIndex place,
                                       const Range &range) const {
    const std::optional<Attachment> &shared = attachments_[place];
    if (!shared || !shared->remote || !runtime_.options.copy_after_repeated_use ||
        !shared->remote->is_due(range)) {
        return false;
    }
    const CostTable &costs = runtime_.costs;
    if (!costs.linked(shared->owner(), place)) {
        return false; // the link's cost is not known
    }
    double copy = 0;
    for (const PlannedPart &part :
         planner.plan(memory_of_its_own(place), shared->remote->needed(range))) {
        if (part.sources.empty()) {
            return false;
        }
        copy += part.sources.front().candidate.seconds;
    }
    return copy <= costs.seconds(shared->owner(), place, shared->remote->again(range));
}

/// Operations under way in the shared memory end there.
void Attachments::prefer_own_memory(const Planner &planner, PlaceIndex place, const Range &range) {
    std::optional<Attachment> &attachment = attachments_[place];
    if (!attachment || !attachment->remote || !attachment->remote->is_due(range)) {
        return;
    }
    if (!leaves_shared_memory(planner, place, range)) {
        attachment->remote->put_off(range);
        return;
    }
    const std::string owner = runtime_.topology->info(attachment->owner()).name;
    std::optional<Attachment> shared = std::exchange(attachment, std::nullopt);
    try {
        create_memory(place);
        attachment->texts = texts("memory of its own: repeated uses of memory of " + owner +
                                  " had crossed the link as often as a copy does");
    } catch (const Error &) { // no other storage has to make room for it
        attachment = std::move(shared);
        attachment->remote->put_off(range);
    }
}

void Attachments::note_use(PlaceIndex place, const Range &range, bool writes) {
    for (PlaceIndex other = 0; other < attachments_.size(); ++other) {
        if (!attachments_[other] || !attachments_[other]->remote) {
            continue;
        }
        RemoteUse &use = *attachments_[other]->remote;
        if (other == place) {
            use.used(range, writes);
        } else {
            use.used_elsewhere(range, writes);
        }
    }
}

} // namespace pi::runtime
