// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operations wait for which: for the writers of what they read, and for those that exclude
// them.
#include "coherence/ledger.hpp"

#include <algorithm>

namespace pi::runtime {

bool Ledger::writes_memory(const Operation &operation, MemoryId memory) const {
    return (operation.kind == Kind::write || operation.kind == Kind::copy) &&
           memory_of(operation.view) == memory;
}

bool Ledger::touches_memory(const Operation &operation, MemoryId memory) const {
    return memory_of(operation.view) == memory ||
           (operation.is_transfer() && memory_of(operation.source) == memory);
}

bool Ledger::excludes(const Operation &earlier, const Operation &later) const {
    const auto conflict = [&](const Operation &writer, const Operation &other) {
        if (writer.kind != Kind::write && writer.kind != Kind::copy) {
            return false;
        }
        const MemoryId memory = memory_of(writer.view);
        if (!touches_memory(other, memory)) {
            return false;
        }
        return writer.ranges.overlaps(other.ranges) ||
               (memories_[memory].exclusive_writers && writer.place != other.place &&
                writes_memory(other, memory));
    };
    return conflict(earlier, later) || conflict(later, earlier) || shares_units(earlier, later) ||
           shares_units(later, earlier);
}

/// A coherence sync takes whole units. Meanwhile no other operation may write in them, read them at
/// the destination, or sync them to or from it. Units that only pass the host need no order: bytes
/// that are valid at neither end may be old there.
bool Ledger::shares_units(const Operation &sync, const Operation &other) const {
    if (sync.kind != Kind::sync) {
        return false;
    }
    const MemoryId memory = memory_of(sync.view);
    const uint64_t unit = memories_[memory].unit;
    if (unit == 1 || !touches_memory(other, memory) ||
        !whole_units(sync.ranges, unit).overlaps(other.ranges)) {
        return false;
    }
    const ViewId comes_to = sync.view;
    if (other.kind == Kind::sync) {
        return other.view == comes_to || other.source == comes_to;
    }
    return writes_memory(other, memory) ||
           makes_valid(sync, other.is_transfer() ? other.source : other.view);
}

bool Ledger::makes_valid(const Operation &operation, ViewId view) const {
    if (operation.kind == Kind::read) {
        return false;
    }
    if (operation.view == view) {
        return true;
    }
    // From one device to another, the bytes have been visible to the host in between.
    return operation.kind == Kind::sync && operation.source != view &&
           memories_[memory_of(operation.view)].first_view == view;
}

/// A coherence sync that a write needs although it reads none of its bytes.
bool Ledger::syncs_rest(const Operation &earlier, const Operation &later) const {
    return earlier.kind == Kind::sync && makes_valid(earlier, later.view) &&
           earlier.ranges.overlaps(later.rest);
}

bool Ledger::reaches(const Operation &earlier, const Operation &later) const {
    const ViewId read_view = later.is_transfer() ? later.source : later.view;
    if (!later.reads || !makes_valid(earlier, read_view)) {
        return false;
    }
    RangeSet bytes = intersect(earlier.ranges, later.ranges);
    bytes.remove(subtract(earlier.superseded, later.superseded));
    const auto overwrite = [&](OperationId id, const RangeSet &ranges) {
        if (id > earlier.id && (later.id == 0 || id < later.id)) {
            bytes.remove(ranges);
        }
    };
    for (const Operation &between : pending_) {
        if (between.kind != Kind::write) {
            continue;
        }
        if (later.superseded.empty() || writes_memory(between, memory_of(read_view))) {
            overwrite(between.id, between.ranges);
        } else {
            overwrite(between.id, subtract(between.ranges, later.superseded));
        }
    }
    for (const Overtaker &between : overtakers_) {
        overwrite(between.id, between.ranges);
    }
    return !bytes.empty();
}

std::optional<Ledger::Wait> Ledger::wait(const Operation &earlier, const Operation &later) const {
    const bool data = !earlier.content_lost && // nothing depends on what is sure to fail
                      (reaches(earlier, later) || syncs_rest(earlier, later));
    return data || excludes(earlier, later) ? std::optional<Wait>({earlier.id, data})
                                            : std::nullopt;
}

std::vector<Ledger::Wait> Ledger::waits(const Operation &later) const {
    std::vector<Wait> result;
    for (const Operation &earlier : pending_) {
        if (earlier.id == later.id) {
            break;
        }
        if (const std::optional<Wait> found = wait(earlier, later)) {
            result.push_back(*found);
        }
    }
    return result;
}

std::vector<Ledger::Wait> Ledger::before_failure(OperationId operation) const {
    const Operation *failing = find(operation);
    if (failing == nullptr || memories_[memory_of(failing->view)].unit == 1) {
        return {};
    }
    std::vector<Wait> result = waits(*failing);
    std::erase_if(result,
                  [this](const Wait &wait) { return find(wait.operation)->kind == Kind::read; });
    return result;
}

std::vector<OperationId> Ledger::with_waits(std::vector<OperationId> operations) const {
    const auto among = [&](OperationId id) {
        return std::find(operations.begin(), operations.end(), id) != operations.end();
    };
    for (auto later = pending_.rbegin(); later != pending_.rend(); ++later) {
        for (auto earlier = pending_.begin(); among(later->id) && earlier->id != later->id;
             ++earlier) {
            if (!among(earlier->id) && wait(*earlier, *later)) {
                operations.push_back(earlier->id);
            }
        }
    }
    return operations;
}

Ledger::Operation Ledger::make_use(ViewId view, PlaceIndex place, RangeSet ranges, bool reads,
                                   bool writes) const {
    RangeSet live = writes ? ranges : RangeSet(); // a read makes nothing valid
    RangeSet others = writes ? rest_of_units(view, ranges) : RangeSet();
    return {0,
            writes ? Kind::write : Kind::read,
            view,
            view,
            place,
            std::move(ranges),
            std::move(live),
            std::move(others),
            {},
            reads};
}

Ledger::Operation Ledger::make_copy(ViewId source, ViewId destination, PlaceIndex place,
                                    const RangeSet &ranges) const {
    const bool one_memory = memory_of(source) == memory_of(destination);
    return {.id = 0,
            .kind = one_memory ? Kind::sync : Kind::copy,
            .view = destination,
            .source = source,
            .place = place,
            .ranges = ranges,
            .live = ranges,
            .rest = one_memory ? RangeSet() : rest_of_units(destination, ranges),
            .superseded = {}};
}

std::vector<Ledger::Wait> Ledger::use_waits(ViewId view, PlaceIndex place, const RangeSet &ranges,
                                            bool reads, bool writes) const {
    return waits(make_use(view, place, ranges, reads, writes));
}

std::vector<Ledger::Wait> Ledger::copy_waits(ViewId source, ViewId destination, PlaceIndex place,
                                             const RangeSet &ranges) const {
    return waits(make_copy(source, destination, place, ranges));
}

} // namespace pi::runtime
