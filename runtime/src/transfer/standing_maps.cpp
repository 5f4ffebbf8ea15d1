// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/standing_maps.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace pi::runtime {

void StandingMaps::add(One &&map) noexcept {
    const std::lock_guard lock(mutex_);
    maps_.splice(maps_.end(), map);
    count_.store(maps_.size(), std::memory_order_release);
}

void StandingMaps::keep(pi_mem mem, const std::shared_ptr<const void> &host_bytes) noexcept {
    const std::lock_guard lock(mutex_);
    for (BufferMap &map : maps_) {
        if (map.mem.get() == mem) {
            map.host_bytes = host_bytes;
        }
    }
}

bool StandingMaps::forbids(const BufferMap &map, pi_mem mem, const RangeSet &ranges, bool writes) {
    return map.mem.get() == mem && (writes || map.writes) && ranges.overlaps(map.range);
}

bool StandingMaps::forbid(pi_mem mem, const RangeSet &ranges, bool writes) const {
    if (!any()) {
        return false;
    }
    const std::lock_guard lock(mutex_);
    return std::any_of(maps_.begin(), maps_.end(),
                       [&](const BufferMap &map) { return forbids(map, mem, ranges, writes); });
}

void StandingMaps::undo(pi_mem mem, const RangeSet &ranges, bool writes, const Unmap &unmap,
                        const TransferDone &done) {
    const std::shared_ptr<Completion> next =
        any() ? undo_next(mem, ranges, writes, unmap) : nullptr;
    if (next == nullptr) {
        done(PI_SUCCESS, {});
        return;
    }
    next->then([=, self = shared_from_this()](pi_result result, const std::string &text) {
        if (result != PI_SUCCESS) {
            done(result, text);
            return;
        }
        try {
            self->undo(mem, ranges, writes, unmap, done);
        } catch (const std::bad_alloc &error) {
            done(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
        }
    });
}

/// Waits for a map that is being unmapped for another caller.
std::shared_ptr<Completion> StandingMaps::undo_next(pi_mem mem, const RangeSet &ranges, bool writes,
                                                    const Unmap &unmap) {
    auto undo = std::make_shared<Completion>(continuations_);
    const BufferMap *map = nullptr; // does not move until its unmap is over
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const BufferMap &each) {
            return forbids(each, mem, ranges, writes);
        });
        if (found == maps_.end()) {
            return nullptr;
        }
        if (found->undo != nullptr) {
            return found->undo;
        }
        found->undo = undo;
        map = &*found;
    }
    try {
        unmap(*map, [self = shared_from_this(), undo](pi_result result, const std::string &text) {
            self->on_unmapped(undo, result, text);
        });
    } catch (const std::bad_alloc &error) {
        on_unmapped(undo, PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
    }
    return undo;
}

void StandingMaps::on_unmapped(const std::shared_ptr<Completion> &undo, pi_result result,
                               const std::string &text) {
    // INVALID_VALUE: the pointer is not a map any more, so the unmap that was reported as failed
    // was done.
    const bool is_undone = result == PI_SUCCESS || result == PI_ERROR_INVALID_VALUE;
    std::list<BufferMap> gone; // released without the lock, before the caller goes on
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(maps_.begin(), maps_.end(),
                                        [&](const BufferMap &map) { return map.undo == undo; });
        if (is_undone) {
            gone.splice(gone.end(), maps_, found);
            count_.store(maps_.size(), std::memory_order_release);
        } else {
            found->undo = nullptr;
        }
    }
    gone.clear();
    undo->complete(is_undone ? PI_SUCCESS : result,
                   is_undone ? std::string()
                             : text_if_possible("a map that could not be undone stands: " + text));
}

} // namespace pi::runtime
