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

/// Which bytes are valid at which view, and which operations must wait for which. Knows no plugin,
/// event or thread: only operations that begin in program order and finish in any order.
///
/// A *memory* is a piece of physical bytes. A *view* is a memory as one user sees it: the host and
/// a plugin that imported the host's memory see the same bytes, but perhaps not each other's newest
/// writes. Each view has a set of *valid* bytes (committed) and a set of *expected* bytes, which
/// are valid once all pending operations have succeeded. New operations are planned on expected
/// bytes, and wait for the operations that make them valid.
///
/// A coherence sync takes bytes from one view of a memory to another, through the view that was
/// added to it first, the host's. Through caches they go in whole units (cache lines). So that no
/// unit has newest bytes at two views, a write first syncs the rest of its units where that is
/// newer elsewhere. Bytes that a pending write to other memory supersedes are synced as well: they
/// are valid again if that write fails. But no operation may expect them.
///
/// A write commits when it finishes; until then the bytes elsewhere stay valid. Not synchronised.
///
/// A function that throws std::bad_alloc has changed nothing, except for finish() of a failed
/// operation: its end is recorded in part, and completely by the next call.
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
    /// In this memory, writes by different places exclude each other, whichever bytes they write.
    void set_exclusive_writers(MemoryId memory);
    /// This view sees its memory through caches with units of so many bytes, counted from byte 0.
    void set_unit(ViewId view, uint64_t bytes);
    uint64_t unit(ViewId view) const { return views_[view].unit; }
    /// Whether any view's unit has more than one byte.
    bool has_units() const noexcept { return has_units_; }
    /// The bytes that are valid at a view once all pending operations have succeeded, or would be
    /// if the writes to other memory failed.
    RangeSet possibly_valid(ViewId view) const;
    /// What must be synced to a view before these ranges are written there: the rest of their
    /// units, as far as it is possibly valid.
    RangeSet rest_of_units(ViewId view, const RangeSet &ranges) const;
    /// What a coherence sync of these ranges syncs along: other bytes of the units of that end's
    /// caches that are valid at source, stale at destination, and not about to change.
    RangeSet synced_along(ViewId source, ViewId destination, const RangeSet &ranges) const;

    /// The pending operations that must be over before this view's memory may be freed, in the
    /// order in which they began: those that read or write it, and writes elsewhere of bytes that
    /// are valid only here if these writes fail.
    std::vector<OperationId> users(ViewId view) const;
    bool busy(ViewId view) const { return !users(view).empty(); }
    /// These pending operations, and all that must be over before them: what they wait for, and
    /// what that waits for.
    std::vector<OperationId> with_waits(std::vector<OperationId> operations) const;
    /// What pending copies are about to make valid at a view: one entry for each copy of some of
    /// these ranges.
    std::vector<RangeSet> arriving(ViewId view, const RangeSet &ranges) const;
    /// How many other views get some of these ranges from a view by pending copies.
    uint32_t readers(ViewId view, const RangeSet &ranges) const;
    /// The bytes that are valid here and at no other view.
    RangeSet only_at(ViewId view) const;
    /// No byte is valid at this view any more. Pending operations are not changed: bytes that a
    /// pending write makes valid here are valid again. A caller who knows that they cannot be
    /// finishes that write as failed, or calls forget() once more.
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
    /// Bytes expected at source become expected at destination. Within one memory this is a
    /// coherence sync, which moves nothing and may run while others read; it also syncs bytes that
    /// are only possibly valid at source.
    Begun begin_copy(ViewId source, ViewId destination, PlaceIndex place, const RangeSet &ranges);

    /// The operation is over. Operations end in any order, except that failures follow
    /// before_failure(). A failed write may have left anything in its bytes: where other memory has
    /// them, they are stale here; else they are valid as they are, except for those that share a
    /// unit with what another write made newest at that view: these are valid nowhere. Copies of
    /// what it was to write that have not begun are sure to fail: nothing is expected of them from
    /// now on.
    void finish(OperationId id, bool succeeded);
    /// Restores the state before the newest operation. No other operation may depend on it.
    void undo(OperationId id);
    /// Operations that must be over before this pending one may be finished as failed: the writes
    /// and copies that it waits for, if its memory has units.
    std::vector<Wait> before_failure(OperationId operation) const;

    /// Whether a pending copy's source never got the bytes, because its own copy failed.
    bool source_lost(OperationId copy) const;
    /// Whether the write that made a pending copy's content failed: then no source has that
    /// content.
    bool content_lost(OperationId copy) const;
    /// Whether the pending copy can read from this view: the bytes that it was begun for are
    /// committed there, and no pending operation overwrites them or excludes such a copy. If so,
    /// the copy reads from there from now on.
    bool retry_from(OperationId copy, ViewId source);

private:
    enum class Kind { read, write, copy, sync };
    struct alignas(cache_line) Operation {
        OperationId id;
        Kind kind;
        ViewId view; // used, or the destination
        ViewId source;
        PlaceIndex place;
        RangeSet ranges;
        RangeSet live; // what becomes valid on success: ranges less what later writes committed
        RangeSet rest; // of a write: the rest of its units, synced before it
        RangeSet superseded; // of a sync: those of its ranges that are not expected there
        bool reads = true;   // whether the old bytes matter: false for a discarding write
        bool source_lost = false;
        bool content_lost = false;
        bool lacks_data = false; // of a use: what it needs has failed, so it will fail

        bool is_transfer() const { return kind == Kind::copy || kind == Kind::sync; }
    };
    struct View {
        MemoryId memory;
        RangeSet valid;
        RangeSet expected;
        uint64_t unit = 1; // bytes
    };

    /// Possibly valid bytes by view: of that memory's views; empty for other views.
    std::vector<RangeSet> all_possibly_valid(MemoryId memory) const;
    bool writes_memory(const Operation &operation, MemoryId memory) const;
    bool touches_memory(const Operation &operation, MemoryId memory) const;
    RangeSet only_sure_at(ViewId view) const;
    bool makes_valid(const Operation &operation, ViewId view) const;
    bool reaches(const Operation &earlier, const Operation &later) const;
    bool syncs_rest(const Operation &earlier, const Operation &later) const;
    bool shares_units(const Operation &sync, const Operation &other) const;
    bool excludes(const Operation &earlier, const Operation &later) const;
    std::optional<Wait> wait(const Operation &earlier, const Operation &later) const;
    std::vector<Wait> waits(const Operation &later) const;
    Begun begin(Operation operation);
    void succeed(const Operation &operation);
    void fail(const Operation &operation);
    void commit_write(const Operation &operation);
    void forget_overtakers();
    void lose(const Operation &operation);
    void give_up_rest(const Operation &failed);
    void mark_dependents(const Operation &failed, bool is_content_lost);
    /// Whether these sets of the views are as the operation makes them.
    bool has_made(const Operation &operation, const RangeSet &ranges, RangeSet View::*set) const;
    void set_aside(RangeSet View::*set);
    void make_aside(const Operation &operation, const RangeSet &ranges);
    void take_aside(RangeSet View::*set) noexcept;
    /// Puts the sets as the operation makes them aside, for take_aside(). False if they would not
    /// change.
    bool prepare(const Operation &operation, const RangeSet &ranges, RangeSet View::*set);
    /// Applies all pending operations, except for one that is over, to the sets that are put aside.
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
        aside_; // by view: new sets are made here, so that all of them change or none does
    std::vector<Memory> memories_;
    std::vector<Operation> pending_; // few, in program order
    /// A write that committed before an earlier operation finished.
    struct Overtaker {
        OperationId id;
        RangeSet ranges;
    };
    std::vector<Overtaker> overtakers_;
    OperationId next_ = 1;
    bool has_units_ = false;
};

} // namespace pi::runtime
