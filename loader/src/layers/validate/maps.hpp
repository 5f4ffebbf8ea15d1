// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mapped ranges. A use is refused only if it certainly meets a map: the map is complete, and
// the command cannot be held back until an unmap that is not enqueued yet.
#pragma once

#include "layers/validate/check.hpp"
#include "layers/validate/regions.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::loader::validate {

/// Whether a map's unmap writes.
constexpr bool map_writes(uint64_t flags) noexcept {
    return (flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) != 0;
}

/// Whether a later host call may hold a command back: an event of its wait list is not complete, or
/// failed.
bool may_be_held(Validator &validator, const Place &place) noexcept;

class Maps {
public:
    explicit Maps(Validator &validator) noexcept : validator_(validator) {}

    /// Whether there is any map: a fast check for most calls.
    bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

    /// PI_ERROR_INVALID_OPERATION for a command that writes mapped bytes, or reads bytes that are
    /// mapped for writing. `rectangle` is in the memory's bytes.
    void check_use(Check &check, const Place &place, const MemoryFacts &memory,
                   const Rectangle &rectangle, bool writes, const Name &name) noexcept;
    /// PI_ERROR_INVALID_VALUE for a pointer that no map of the memory returned, or whose map has
    /// ended.
    void check_unmap(Check &check, const pi_unmap_desc &desc) noexcept;

    /// How a command ends. A command that did not block always has an event: the application's, or
    /// one that the layer requested itself, which it then owns.
    struct Outcome {
        pi_event event; ///< NULL: the command has ended successfully
        bool own;
    };
    /// A map was enqueued. Without memory to record it, no unmap is refused any more.
    void add(const Place &place, const pi_buffer_map_desc &desc, const Outcome &outcome) noexcept;
    /// An unmap was enqueued. If it fails, the map may remain and be unmapped again. While its
    /// result is unknown, only an application that controls its wait list (`may_fail`) can know
    /// that it will fail.
    void remove(const pi_unmap_desc &desc, const Outcome &outcome, bool may_fail) noexcept;
    /// The application has released the memory; nullptr: none.
    void forget(const void *mem) noexcept;

private:
    class Event;
    struct Map {
        uint64_t serial; ///< ascending in maps_
        const void *mem;
        uint64_t root;
        uint64_t begin, end; ///< in the root; equal: unknown
        uint64_t restored_begin,
            restored_end; ///< for a trace: the mapped range if the unmap failed
        bool writes;
        bool done; ///< known to be complete
        const void *queue;
        void *pointer; ///< nullptr: unknown
        bool trace;    ///< an unmap was enqueued
        bool unmapped; ///< and it is not known to have failed
        bool may_fail; ///< the unmap may fail
        /// The map's event, then its unmap's, until the result is known. nullptr: the result cannot
        /// be known.
        std::shared_ptr<Event> event;
    };

    bool goes_at_once(const Place &place) const noexcept;
    std::shared_ptr<Event> take_event(const Outcome &outcome) noexcept;
    /// Queries the events of the maps that `wanted` selects. Call it without the lock, which it
    /// also does not hold during the queries: the plugin may log, and the application may call from
    /// there.
    template <typename Wanted>
    void look(Wanted &&wanted) noexcept;
    void learn(uint64_t serial, const std::shared_ptr<const Event> &event,
               pi_result result) noexcept;
    template <typename Wanted>
    void drop(Wanted &&wanted) noexcept;
    /// For memory with many unmaps that may have failed, any address is accepted from now on.
    void bound_traces(const void *mem) noexcept;

    Validator &validator_;
    std::atomic<std::size_t> count_{0};
    std::atomic<bool> lacks_maps_{false};
    std::mutex mutex_; ///< not held during calls of the plugin or the application
    uint64_t last_serial_ = 0;
    std::vector<Map> maps_;
};

} // namespace pi::loader::validate
