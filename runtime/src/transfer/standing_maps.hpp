// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "transfer/completion.hpp"

#include <pi/runtime/handle.hpp>
#include <pi/runtime/range_set.hpp>
#include <pi/runtime/topology.hpp>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace pi::runtime {

/// A map that the runtime made.
struct BufferMap {
    std::shared_ptr<const void> host_bytes{}; ///< outlives mem, which may be an import of them
    PlaceIndex place = host_place;            ///< whose queue mapped it
    Mem mem;
    Range range;
    bool writes = false;
    void *pointer = nullptr;
    std::shared_ptr<Completion> undo{}; ///< of a standing map: its unmap that is under way
};

/// Maps whose unmap failed. While such a map stands, no command may write its bytes, nor read them
/// if the map is for writing. So every command of the runtime on device memory, and every
/// acquisition there, waits for undo(), which unmaps them again. Thread-safe.
class StandingMaps : public std::enable_shared_from_this<StandingMaps> {
public:
    /// One map, allocated before it is made: to keep it needs no memory.
    using One = std::list<BufferMap>;
    /// Enqueues the unmap of a map, and calls `done` once it is over.
    using Unmap = std::function<void(const BufferMap &, const TransferDone &)>;

    explicit StandingMaps(std::shared_ptr<Continuations> continuations)
        : continuations_(std::move(continuations)) {}

    void add(One &&map) noexcept;
    /// Maps of this memory keep the host's bytes alive: the memory may be an import of them.
    void keep(pi_mem mem, const std::shared_ptr<const void> &host_bytes) noexcept;
    /// Whether any map stands: checked before each command.
    bool any() const noexcept { return count_.load(std::memory_order_acquire) != 0; }
    /// Whether one forbids commands that read these bytes of a memory, or write them.
    bool forbid(pi_mem mem, const RangeSet &ranges, bool writes) const;
    /// Undoes the maps that forbid it, then calls `done`: with success, or with the result and text
    /// of the unmap that failed again. At once if there are none, else as posted work.
    void undo(pi_mem mem, const RangeSet &ranges, bool writes, const Unmap &unmap,
              const TransferDone &done);

private:
    static bool forbids(const BufferMap &map, pi_mem mem, const RangeSet &ranges, bool writes);
    std::shared_ptr<Completion> undo_next(pi_mem mem, const RangeSet &ranges, bool writes,
                                          const Unmap &unmap);
    void on_unmapped(const std::shared_ptr<Completion> &undo, pi_result result,
                     const std::string &text);

    const std::shared_ptr<Continuations> continuations_;
    std::atomic<size_t> count_{0};
    mutable std::mutex mutex_; // not held during a call of a plugin
    std::list<BufferMap> maps_;
};

} // namespace pi::runtime
