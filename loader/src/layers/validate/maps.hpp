// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranges that are mapped. A use is refused only if it is certain that it meets a map: that this is done, and
// that nothing holds the command back until an unmap that has not been enqueued yet.
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

/// Whether something that the host does may hold a command back: an event of its wait list is not
/// complete, or failed.
bool may_be_held(Validator &validator, const Place &place) noexcept;

class Maps {
public:
    explicit Maps(Validator &validator) noexcept : validator_(validator) {}

    /// Whether any is there: what most calls ask.
    bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

    /// PI_ERROR_INVALID_OPERATION for a command on bytes that are mapped: it may not write them, nor read what is
    /// mapped for writing. `rectangle` is of the memory's bytes.
    void check_use(Check &check, const Place &place, const MemoryFacts &memory,
                   const Rectangle &rectangle, bool writes, const Name &name) noexcept;
    /// PI_ERROR_INVALID_VALUE for a pointer that no map of the memory gave, or whose map has ended.
    void check_unmap(Check &check, const pi_unmap_desc &desc) noexcept;

    /// What tells how a command has ended. A command that was not blocking has an event in any case: the application's, or
    /// one that the layer asked for itself, which becomes its own.
    struct Outcome {
        pi_event event; ///< NULL: the command has ended with success
        bool own;
    };
    /// A map that was enqueued. Without memory to note it no unmap is refused any more.
    void add(const Place &place, const pi_buffer_map_desc &desc, const Outcome &outcome) noexcept;
    /// An unmap that was enqueued. If it fails, the map may still be there, to be unmapped again. While it is not known how
    /// it ends, only an application that decides what becomes of its wait list (`may_fail`) can know that it will fail.
    void remove(const pi_unmap_desc &desc, const Outcome &outcome, bool may_fail) noexcept;
    /// The memory is nobody's any more; nullptr: none is.
    void forget(const void *mem) noexcept;

private:
    class Event;
    struct Map {
        uint64_t serial; ///< ascending in maps_
        const void *mem;
        uint64_t root;
        uint64_t begin, end;           ///< in the root; equal: not known which
        uint64_t kept_begin, kept_end; ///< of a trace: what is mapped if the unmap has failed
        bool writes;
        bool done; ///< known to be
        const void *queue;
        void *pointer; ///< nullptr: not known
        bool trace;    ///< an unmap was enqueued
        bool unmapped; ///< nor is it known that it has failed
        bool may_fail; ///< that unmap
        /// The map's, then its unmap's, until it is known how that has ended. nullptr: nobody can tell.
        std::shared_ptr<Event> event;
    };

    bool goes_at_once(const Place &place) const noexcept;
    std::shared_ptr<Event> keep(const Outcome &outcome) noexcept;
    /// Asks the events of those that `wanted` names what has become of them. The lock must not be held, nor is it while the
    /// plugin is asked: that may log, and the application calls from there.
    template <typename Wanted>
    void look(Wanted &&wanted) noexcept;
    void learn(uint64_t serial, const std::shared_ptr<const Event> &event,
               pi_result result) noexcept;
    template <typename Wanted>
    void drop(Wanted &&wanted) noexcept;
    /// Of memory with many unmaps that may have failed any address will do from now on.
    void bound_traces(const void *mem) noexcept;

    Validator &validator_;
    std::atomic<std::size_t> count_{0};
    std::atomic<bool> lacks_maps_{false};
    std::mutex mutex_; ///< no call is made with it, of the plugin or of the application
    uint64_t last_serial_ = 0;
    std::vector<Map> maps_;
};

} // namespace pi::loader::validate
