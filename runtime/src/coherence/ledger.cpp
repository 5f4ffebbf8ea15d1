// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "coherence/ledger.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pi::runtime {

MemoryId Ledger::add_memory() {
    memories_.emplace_back();
    return static_cast<MemoryId>(memories_.size() - 1);
}

ViewId Ledger::add_view(MemoryId memory, const RangeSet &valid) {
    aside_.resize(views_.size() + 1);
    views_.push_back({memory, valid, valid, 1});
    const auto view = static_cast<ViewId>(views_.size() - 1);
    if (!memories_.at(memory).first_view) {
        memories_[memory].first_view = view;
    }
    return view;
}

void Ledger::set_exclusive_writers(MemoryId memory) {
    memories_.at(memory).exclusive_writers = true;
}

void Ledger::set_unit(ViewId view, uint64_t bytes) {
    views_.at(view).unit = bytes;
    uint64_t &unit = memories_[memory_of(view)].unit;
    unit = std::lcm(unit, bytes);
    has_units_ = has_units_ || unit != 1;
}

RangeSet Ledger::possibly_valid(ViewId view) const {
    return std::move(all_possibly_valid(memory_of(view))[view]);
}

std::vector<RangeSet> Ledger::all_possibly_valid(MemoryId memory) const {
    std::vector<RangeSet> sets(view_count());
    const auto each_view = [&](auto change) {
        for (ViewId view = 0; view < view_count(); ++view) {
            if (memory_of(view) == memory) {
                change(view);
            }
        }
    };
    each_view([&](ViewId view) { sets[view] = valid(view); });
    for (const Operation &operation : pending_) {
        if (operation.content_lost || memory_of(operation.view) != memory) {
            continue;
        }
        RangeSet made = operation.live;
        made.add(intersect(operation.superseded, sets[operation.source]));
        each_view([&](ViewId view) {
            if (makes_valid(operation, view)) {
                sets[view].add(made);
            } else if (writes_memory(operation, memory)) {
                sets[view].remove(operation.ranges);
            }
        });
    }
    each_view([&](ViewId view) { sets[view].add(expected(view)); });
    return sets;
}

RangeSet Ledger::rest_of_units(ViewId view, const RangeSet &ranges) const {
    const MemoryId memory = memory_of(view);
    if (memories_[memory].unit == 1) {
        return {};
    }
    const RangeSet others = subtract(whole_units(ranges, memories_[memory].unit), ranges);
    RangeSet result;
    if (!others.empty()) {
        for (const RangeSet &set : all_possibly_valid(memory)) {
            result.add(intersect(others, set));
        }
    }
    return result;
}

RangeSet Ledger::synced_along(ViewId source, ViewId destination, const RangeSet &ranges) const {
    // On the way through the host only the source's units hold surely nothing older.
    const bool from_host = memories_[memory_of(source)].first_view == source;
    const uint64_t unit = views_[from_host ? destination : source].unit;
    if (unit == 1) {
        return {};
    }
    RangeSet result = intersect(whole_units(ranges, unit), valid(source));
    result.remove(ranges);
    result.remove(expected(destination));
    for (const Operation &operation : pending_) {
        if (operation.kind == Kind::write || operation.kind == Kind::copy) {
            result.remove(operation.ranges);
        }
    }
    return result;
}

std::vector<OperationId> Ledger::users(ViewId view) const {
    std::vector<OperationId> found;
    if (pending_.empty()) {
        return found;
    }
    const RangeSet only_here = only_sure_at(view);
    for (const Operation &operation : pending_) {
        if (touches_memory(operation, memory_of(view)) ||
            (operation.kind == Kind::write && operation.live.overlaps(only_here))) {
            found.push_back(operation.id);
        }
    }
    return found;
}

std::vector<RangeSet> Ledger::arriving(ViewId view, const RangeSet &ranges) const {
    std::vector<RangeSet> found;
    RangeSet rest = ranges;
    for (const Operation &operation : pending_) {
        if (operation.kind != Kind::copy || operation.view != view || operation.content_lost) {
            continue;
        }
        RangeSet part = intersect(rest, operation.live);
        if (!part.empty()) {
            rest.remove(part);
            found.push_back(std::move(part));
        }
    }
    return found;
}

uint32_t Ledger::readers(ViewId view, const RangeSet &ranges) const {
    std::vector<ViewId> found;
    for (const Operation &operation : pending_) {
        if (operation.kind == Kind::copy && operation.source == view &&
            operation.ranges.overlaps(ranges) &&
            std::find(found.begin(), found.end(), operation.view) == found.end()) {
            found.push_back(operation.view);
        }
    }
    return static_cast<uint32_t>(found.size());
}

RangeSet Ledger::only_at(ViewId view) const {
    RangeSet bytes = views_[view].valid;
    for (ViewId other = 0; other < view_count(); ++other) {
        if (other != view) {
            bytes.remove(views_[other].valid);
        }
    }
    return bytes;
}

/// A failed write may have left anything in its bytes: while it is pending, they may turn out
/// invalid.
RangeSet Ledger::only_sure_at(ViewId view) const {
    RangeSet bytes = views_[view].valid;
    for (ViewId other = 0; other < view_count(); ++other) {
        if (other == view) {
            continue;
        }
        RangeSet sure = views_[other].valid;
        for (const Operation &operation : pending_) {
            if (operation.kind == Kind::write && memory_of(operation.view) == memory_of(other)) {
                sure.remove(operation.live);
            }
        }
        bytes.remove(sure);
    }
    return bytes;
}

void Ledger::forget(ViewId view) {
    set_aside(&View::valid);
    aside_[view].clear();
    expect_aside();
    take_aside(&View::expected);
    views_[view].valid.clear();
}

Ledger::Begun Ledger::begin(Operation operation) {
    Begun begun{next_, waits(operation)};
    operation.id = next_;
    const bool changes = prepare(operation, operation.live, &View::expected);
    pending_.push_back(std::move(operation));
    if (changes) {
        take_aside(&View::expected);
    }
    ++next_;
    return begun;
}

Ledger::Begun Ledger::begin_use(ViewId view, PlaceIndex place, RangeSet ranges, bool reads,
                                bool writes) {
    return begin(make_use(view, place, std::move(ranges), reads, writes));
}

Ledger::Begun Ledger::begin_copy(ViewId source, ViewId destination, PlaceIndex place,
                                 const RangeSet &ranges) {
    Operation operation = make_copy(source, destination, place, ranges);
    if (operation.kind == Kind::sync) {
        operation.superseded = subtract(ranges, expected(source));
        operation.live.remove(operation.superseded);
    }
    return begin(std::move(operation));
}

/// As when a place writes what it has written before: most acquires do.
bool Ledger::has_made(const Operation &operation, const RangeSet &ranges,
                      RangeSet View::*set) const {
    if (operation.kind == Kind::read) {
        return true;
    }
    for (ViewId view = 0; view < view_count(); ++view) {
        const RangeSet &bytes = views_[view].*set;
        if (makes_valid(operation, view)
                ? !bytes.contains(ranges)
                : operation.kind == Kind::write && bytes.overlaps(ranges)) {
            return false;
        }
    }
    return true;
}

void Ledger::set_aside(RangeSet View::*set) {
    for (ViewId view = 0; view < view_count(); ++view) {
        aside_[view] = views_[view].*set;
    }
}

void Ledger::take_aside(RangeSet View::*set) noexcept {
    for (ViewId view = 0; view < view_count(); ++view) {
        std::swap(views_[view].*set, aside_[view]);
    }
}

void Ledger::make_aside(const Operation &operation, const RangeSet &ranges) {
    if (operation.kind == Kind::read) {
        return;
    }
    if (operation.kind == Kind::write) {
        for (RangeSet &bytes : aside_) {
            bytes.remove(ranges);
        }
    }
    for (ViewId view = 0; view < view_count(); ++view) {
        if (makes_valid(operation, view)) {
            aside_[view].add(ranges);
        }
    }
}

bool Ledger::prepare(const Operation &operation, const RangeSet &ranges, RangeSet View::*set) {
    if (has_made(operation, ranges, set)) {
        return false;
    }
    set_aside(set);
    make_aside(operation, ranges);
    return true;
}

void Ledger::expect_aside(OperationId over) {
    for (Operation &operation : pending_) {
        if (operation.id == over || operation.content_lost) {
            continue;
        }
        if (!operation.superseded.empty()) { // perhaps no longer
            const RangeSet counts = intersect(operation.superseded, aside_[operation.source]);
            operation.live.add(counts);
            operation.superseded.remove(counts);
        }
        make_aside(operation, operation.live);
    }
}

void Ledger::recompute_expected(OperationId over) {
    set_aside(&View::valid);
    expect_aside(over);
    take_aside(&View::expected);
}

void Ledger::commit_write(const Operation &operation) {
    overtakers_.reserve(overtakers_.size() + 1);
    Overtaker overtaker{operation.id, operation.ranges};
    const bool changes = prepare(operation, operation.live, &View::valid);
    // A write that began earlier and is still running is overtaken: its bytes are not wanted any
    // more.
    std::vector<RangeSet> wanted;
    for (auto earlier = pending_.begin(); earlier->id != operation.id; ++earlier) {
        wanted.push_back(subtract(earlier->live, operation.live));
    }
    // From here on nothing fails.
    for (size_t index = 0; index < wanted.size(); ++index) {
        pending_[index].live = std::move(wanted[index]);
    }
    if (changes) {
        take_aside(&View::valid);
    }
    overtakers_.push_back(std::move(overtaker));
}

void Ledger::forget_overtakers() {
    const OperationId oldest = pending_.empty() ? next_ : pending_.front().id;
    std::erase_if(overtakers_, [oldest](const Overtaker &write) { return write.id < oldest; });
}

void Ledger::lose(const Operation &operation) {
    const MemoryId memory = memory_of(operation.view);
    RangeSet elsewhere;
    for (const View &view : views_) {
        if (view.memory != memory) {
            elsewhere.add(intersect(view.valid, operation.ranges));
        }
    }
    set_aside(&View::valid);
    for (ViewId view = 0; view < view_count(); ++view) {
        if (memory_of(view) == memory) {
            aside_[view].remove(elsewhere);
        }
    }
    take_aside(&View::valid);
}

/// The bytes that a failed write was to overwrite may be newest at another view, while another
/// write's bytes in the same unit are newest here. No coherence sync joins the two, so the failed
/// write's bytes in that unit are valid nowhere any more.
void Ledger::give_up_rest(const Operation &failed) {
    const MemoryId memory = memory_of(failed.view);
    const uint64_t unit = memories_[memory].unit;
    if (unit == 1) {
        return;
    }
    RangeSet beside_others;
    for (const Operation &other : pending_) {
        const bool is_sync = other.kind == Kind::sync;
        if ((is_sync ? other.source : other.view) == failed.view && other.id != failed.id &&
            other.kind != Kind::read && !other.content_lost && !other.lacks_data) {
            beside_others.add(subtract(whole_units(other.ranges, unit), other.ranges));
        }
    }
    set_aside(&View::valid);
    for (ViewId other = 0; other < view_count(); ++other) {
        if (other != failed.view && memory_of(other) == memory) {
            RangeSet lost = whole_units(subtract(valid(failed.view), valid(other)), unit);
            lost.add(beside_others);
            aside_[other].remove(subtract(intersect(lost, failed.live), valid(failed.view)));
        }
    }
    take_aside(&View::valid);
}

void Ledger::mark_dependents(const Operation &failed, bool is_content_lost) {
    for (Operation &later : pending_) {
        if (later.id <= failed.id) {
            continue;
        }
        const bool needed_beside = syncs_rest(failed, later);
        if (!needed_beside && !reaches(failed, later)) {
            continue;
        }
        if (!later.is_transfer()) {
            later.lacks_data = true;
            continue;
        }
        // Its content is lost, or would be lost with the newest bytes in the rest of its units.
        const bool is_lost = failed.kind == Kind::write || needed_beside || is_content_lost;
        if (is_lost && !later.content_lost) {
            mark_dependents(later, true); // first: a marked operation has marked its dependents
            later.content_lost = true;    // it is sure to fail, though it has not begun
        }
        later.source_lost |= failed.kind != Kind::write && !needed_beside;
    }
}

std::vector<Ledger::Operation>::iterator Ledger::position(OperationId id) {
    return std::find_if(pending_.begin(), pending_.end(),
                        [id](const Operation &pending) { return pending.id == id; });
}

void Ledger::finish(OperationId id, bool succeeded) {
    const auto found = position(id);
    if (found == pending_.end()) {
        return;
    }
    if (found->kind == Kind::read) {
        // It has made nothing.
    } else if (succeeded) {
        succeed(*found);
    } else {
        fail(*found);
    }
    pending_.erase(found); // last: until then finish() can be called again
    if (!overtakers_.empty()) {
        forget_overtakers();
    }
}

void Ledger::undo(OperationId id) {
    const auto found = position(id);
    if (found != pending_.end()) {
        recompute_expected(id);
        pending_.erase(found);
    }
}

void Ledger::succeed(const Operation &operation) {
    if (operation.kind == Kind::write) {
        commit_write(operation);
        return;
    }
    RangeSet made = operation.live;
    made.add(intersect(operation.superseded, valid(operation.source)));
    if (prepare(operation, made, &View::valid)) {
        take_aside(&View::valid);
    }
}

void Ledger::fail(const Operation &operation) {
    if (!operation.content_lost) { // else it never began, and its dependents are marked
        if (operation.kind != Kind::sync) {
            lose(operation);
        }
        mark_dependents(operation, false);
    }
    if (writes_memory(operation, memory_of(operation.view))) {
        give_up_rest(operation);
    }
    recompute_expected(operation.id);
}

Ledger::Operation *Ledger::find(OperationId id) {
    const auto found = position(id);
    return found == pending_.end() ? nullptr : &*found;
}

const Ledger::Operation *Ledger::find(OperationId id) const {
    return const_cast<Ledger *>(this)->find(id);
}

bool Ledger::source_lost(OperationId copy) const {
    const Operation *operation = find(copy);
    return operation == nullptr || operation->source_lost;
}

bool Ledger::content_lost(OperationId copy) const {
    const Operation *operation = find(copy);
    return operation == nullptr || operation->content_lost;
}

bool Ledger::retry_from(OperationId copy, ViewId source) {
    Operation *operation = find(copy);
    if (operation == nullptr || operation->content_lost) {
        return false;
    }
    if (operation->source == source && !operation->source_lost) {
        return true; // it is registered as a reader there: nothing overwrote it
    }
    if (operation->live != operation->ranges || !valid(source).contains(operation->ranges)) {
        return false;
    }
    // A copy may become a coherence sync, and a sync a copy.
    Operation changed = make_copy(source, operation->view, operation->place, operation->ranges);
    changed.id = copy;
    if (!changed.rest.empty() && changed.kind != operation->kind) {
        return false; // a sync takes whole units, which no operation waits for
    }
    for (ViewId view = 0; view < view_count(); ++view) {
        if (view != source && makes_valid(*operation, view) && !makes_valid(changed, view)) {
            return false; // later operations depend on it
        }
    }
    for (const Operation &other : pending_) {
        if (other.id == copy) {
            continue;
        }
        if (excludes(other, changed) && !excludes(other, *operation)) {
            return false; // nothing orders the two
        }
        const bool earlier_write = other.kind == Kind::write && other.id < copy;
        if (other.ranges.overlaps(operation->ranges) &&
            (earlier_write || writes_memory(other, memory_of(source)))) {
            return false;
        }
    }
    std::swap(*operation, changed);
    try {
        recompute_expected();
    } catch (...) {
        std::swap(*operation, changed);
        throw;
    }
    return true;
}

} // namespace pi::runtime
