// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/cache_line.hpp"

#include <pi/runtime/range_set.hpp>
#include <pi/runtime/topology.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace pi::runtime {

using MemoryId = uint32_t;
using ViewId = uint32_t;
using OperationId = uint64_t;

/// Who may touch which bytes when, and whose bytes count. Knows no plugin, no event and no thread: only
/// operations that begin in program order and finish in any order.
///
/// A *memory* is a piece of physical bytes. A *view* is what one user sees of it: the host and a plugin
/// that imported the host's memory see the same bytes, but perhaps not each other's newest writes. Each
/// view has the set of bytes that are *valid* (committed) and those *expected* valid once everything
/// begun has succeeded. New operations are planned on what is expected and wait for what makes it so.
///
/// Bytes go from view to view of one memory by hand-over, over the view that was added to it first, the
/// host's. Where caches do it, they go in whole units: so that no unit has newest bytes at two views, a
/// write brings the rest of its units along, if it is newer elsewhere. What a pending write to other memory supersedes
/// comes, too, as it counts again should that write fail; but nobody may expect it.
///
/// A write commits when it finishes: until then the bytes elsewhere stay valid. Not synchronised.
///
/// What throws, for want of memory, has changed nothing, but for the end of an operation that failed: it is put down in
/// part, and whole when it is told again.
class Ledger {
public:
    struct Wait {
        OperationId operation;
        bool data; ///< it makes the bytes that are read; else only the order matters
    };
    struct Begun {
        OperationId operation;
        std::vector<Wait> waits;
    };

    MemoryId add_memory();
    ViewId add_view(MemoryId memory, const RangeSet &valid = {});
    /// Writers of different places exclude each other in this memory, whatever bytes they write.
    void set_exclusive_writers(MemoryId memory);
    /// This view sees its memory through caches whose units have so many bytes, counted from byte 0.
    void set_unit(ViewId view, uint64_t bytes);
    uint64_t unit(ViewId view) const { return views_[view].unit; }
    /// Whether any view's has more than one byte.
    bool has_units() const noexcept { return has_units_; }
    /// The bytes that count at a view once all that is pending has succeeded, or would if the writes to other memory failed.
    RangeSet may_count(ViewId view) const;
    /// What has to be handed over to a view before these ranges are written there: the rest of their units, as far as it
    /// may count.
    RangeSet beside(ViewId view, const RangeSet &ranges) const;
    /// What a hand-over of these ranges brings along: other bytes of the units of that end's caches that are
    /// valid at source, stale at destination, and not about to change.
    RangeSet brought_along(ViewId source, ViewId destination, const RangeSet &ranges) const;

    /// The pending operations that must be over before this view's memory may go, in the order in which they were begun:
    /// those that read or write it, and writes elsewhere of bytes that, should these fail, are good nowhere but here.
    std::vector<OperationId> users(ViewId view) const;
    bool busy(ViewId view) const { return !users(view).empty(); }
    /// These pending operations with all that must be over before they can be: what they wait for, and what that waits for.
    std::vector<OperationId> with_waits(std::vector<OperationId> operations) const;
    /// What pending copies are about to make valid at a view, one entry for each that brings some of these ranges.
    std::vector<RangeSet> arriving(ViewId view, const RangeSet &ranges) const;
    /// How many other views get some of these ranges from a view by pending copies.
    uint32_t readers(ViewId view, const RangeSet &ranges) const;
    /// The bytes that are valid here and at no other view.
    RangeSet only_at(ViewId view) const;
    /// What is valid here is gone. Pending operations end as they end: bytes that a pending write makes
    /// valid here count again, so who knows that they cannot lets them fail, or forgets once more.
    void forget(ViewId view);

    uint32_t view_count() const noexcept { return static_cast<uint32_t>(views_.size()); }
    MemoryId memory_of(ViewId view) const { return views_[view].memory; }
    const RangeSet &valid(ViewId view) const { return views_[view].valid; }
    const RangeSet &expected(ViewId view) const { return views_[view].expected; }

    /// What a use or a copy would have to wait for.
    std::vector<Wait> use_waits(ViewId view, PlaceIndex place, const RangeSet &ranges, bool reads,
                                bool writes) const;
    std::vector<Wait> copy_waits(ViewId source, ViewId destination, PlaceIndex place,
                                 const RangeSet &ranges) const;

    /// A use by the application. A write makes the ranges expected here alone.
    Begun begin_use(ViewId view, PlaceIndex place, RangeSet ranges, bool reads, bool writes);
    /// Bytes expected at source become so at destination. Within one memory it is a hand-over, which
    /// moves nothing and may go on beside readers; it also takes along what only may count at source.
    Begun begin_copy(ViewId source, ViewId destination, PlaceIndex place, const RangeSet &ranges);

    /// The operation is over, in any order, but for failures (see before_failure). One that failed may have left anything in the
    /// bytes that it writes: where other memory has them they are stale here, else they count as they are, but for those
    /// that share a unit with what another write made newest at that view: these count nowhere. Copies that were to bring
    /// what it made, and have not begun, count for nothing from now on: they are sure to fail.
    void finish(OperationId operation, bool succeeded);
    /// An operation that was begun last, and that nobody knows of: as if it never was.
    void take_back(OperationId operation);
    /// What must be over before a pending operation may be told as failed: what it waits for and changes bytes, where its
    /// memory has units.
    std::vector<Wait> before_failure(OperationId operation) const;

    /// A pending copy's source never got the bytes: its own copy failed.
    bool source_lost(OperationId copy) const;
    /// The write that a pending copy was to bring failed: no source has that content.
    bool content_lost(OperationId copy) const;
    /// Whether this view has, committed, what the pending copy was begun for, with nothing about to overwrite it nor
    /// under way that may not go on beside such a copy; if so it reads from there from now on.
    bool retry_from(OperationId copy, ViewId source);

private:
    enum class Kind { read, write, copy, hand_over };
    struct alignas(cache_line) Operation {
        OperationId id;
        Kind kind;
        ViewId view; // used, or the destination
        ViewId source;
        PlaceIndex place;
        RangeSet ranges;
        RangeSet live;   // what becomes valid on success: ranges less what later writes committed
        RangeSet beside; // of one that writes: what must have been handed over before it
        RangeSet superseded; // of a hand-over: those of its ranges that nobody expects there
        bool reads = true;   // whether the old bytes matter: false for a discarding write
        bool source_lost = false;
        bool content_lost = false;
        bool lacks_data = false; // of a use: what it needs has failed, so it will

        bool is_transfer() const { return kind == Kind::copy || kind == Kind::hand_over; }
    };
    struct View {
        MemoryId memory;
        RangeSet valid;
        RangeSet expected;
        uint64_t unit = 1; // bytes
    };

    /// Of the views of that memory; nothing of others.
    std::vector<RangeSet> all_that_may_count(MemoryId memory) const;
    bool writes_memory(const Operation &operation, MemoryId memory) const;
    bool touches_memory(const Operation &operation, MemoryId memory) const;
    RangeSet only_sure_at(ViewId view) const;
    bool makes_valid(const Operation &operation, ViewId view) const;
    bool reaches(const Operation &earlier, const Operation &later) const;
    bool comes_beside(const Operation &earlier, const Operation &later) const;
    bool shares_units(const Operation &hand_over, const Operation &other) const;
    bool excludes(const Operation &earlier, const Operation &later) const;
    std::optional<Wait> wait(const Operation &earlier, const Operation &later) const;
    std::vector<Wait> waits(const Operation &later) const;
    Begun begin(Operation operation);
    void succeed(const Operation &operation);
    void fail(const Operation &operation);
    void commit_write(const Operation &operation);
    void forget_overtakers();
    void lose(const Operation &operation);
    void give_up_beside(const Operation &failed);
    void mark_dependents(const Operation &failed, bool is_content_lost);
    /// Whether these sets of the views are as the operation makes them.
    bool has_made(const Operation &operation, const RangeSet &ranges, RangeSet View::*set) const;
    void set_aside(RangeSet View::*set);
    void make_aside(const Operation &operation, const RangeSet &ranges);
    void take_aside(RangeSet View::*set) noexcept;
    /// What the operation makes of these sets stands aside then, to be taken; false if it is what they are.
    bool prepare(const Operation &operation, const RangeSet &ranges, RangeSet View::*set);
    /// What everything pending, but for an operation that is over, makes of the sets that stand aside.
    void expect_aside(OperationId over = 0);
    void recompute_expected(OperationId over = 0);
    std::vector<Operation>::iterator position(OperationId id);
    Operation *find(OperationId id);
    const Operation *find(OperationId id) const;
    Operation make_use(ViewId view, PlaceIndex place, RangeSet ranges, bool reads,
                       bool writes) const;
    Operation make_copy(ViewId source, ViewId destination, PlaceIndex place,
                        const RangeSet &ranges) const;

    struct Memory {
        bool exclusive_writers = false;
        uint64_t unit = 1; // bytes: a multiple of every view's
        std::optional<ViewId> first_view;
    };

    std::vector<View> views_;
    std::vector<RangeSet>
        aside_; // by view: sets are made here, so that all of them change or none does
    std::vector<Memory> memories_;
    std::vector<Operation> pending_; // few, in program order
    /// Writes that committed before an earlier operation finished.
    struct Overtaker {
        OperationId id;
        RangeSet ranges;
    };
    std::vector<Overtaker> overtakers_;
    OperationId next_ = 1;
    bool has_units_ = false;
};

} // namespace pi::runtime
