// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/cache_line.hpp"
#include "coherence/residents.hpp"
#include "planning/planner.hpp"
#include "runtime_state.hpp"
#include "storage/acquisition.hpp"
#include "storage/attachments.hpp"
#include "storage/operations.hpp"
#include "transfer/completion.hpp"

#include <pi/runtime/buffer.hpp>
#include <pi/runtime/storage.hpp>

#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::runtime {

struct alignas(cache_line) BufferState {
    std::shared_ptr<StorageState> storage;
    Range range;
    SharedCounters counters;
};

/// The state that all copies of a Storage share: its memory at each place, the ledger, and the
/// pending operations. It lives until its last callback has run. One lock guards all of it, and is
/// not held during calls that may call back (calls that create memory and queries do not).
class alignas(cache_line) StorageState final : public Resident {
public:
    StorageState(std::shared_ptr<RuntimeState> runtime, StorageDescriptor description);
    virtual ~StorageState();

    // acquire.cpp
    /// `spread`: of the broadcast to which the acquire belongs, or NULL.
    std::unique_ptr<AcquisitionState> acquire(const std::shared_ptr<BufferState> &buffer,
                                              PlaceIndex place, Access access, const Range &range,
                                              Spread *spread = nullptr);

    /// To be called once, before any acquire: the first content is there when description().ready
    /// is complete.
    void await_first_content();

    // release.cpp
    void release(AcquisitionState &acquisition, pi_event event);
    void abandon(AcquisitionState &acquisition) noexcept;

    // evict.cpp
    std::optional<Replica> replica(PlaceIndex place) override;
    bool await_uses(PlaceIndex place) override;
    bool evict(PlaceIndex place) override;
    /// For a transfer that found no memory for its staging there, or at one of its ends, as drivers
    /// may allocate at the first use. Drops idle memory, or evicts a clean replica that is not in
    /// use. Never waits. False if there was none.
    bool make_room_without_waiting(PlaceIndex place, bool for_staging);

    // explain.cpp
    Explanation explain(PlaceIndex place, const Range &range);

    // For transfers.
    /// Whether a pending copy may read from there now; request() gives its ends then.
    bool may_copy_from(OperationId copy, ViewId source);
    TransferRequest request(const Source &source, ViewId destination, const RangeSet &ranges) const;
    /// Ends an operation that counts as in flight: first in the ledger, then for its waiters.
    /// `commands`: of a transfer, which completed with it.
    void finish_operation(OperationId operation, pi_result result, const std::string &text,
                          std::vector<Submitted> commands = {}) noexcept;

    void check_place(PlaceIndex place) const;
    RangeSet valid(PlaceIndex place);
    RangeSet lost();
    std::optional<uint32_t> memory_of(PlaceIndex place) const;
    const StorageDescriptor &description() const noexcept { return description_; }
    const std::shared_ptr<RuntimeState> &runtime() const noexcept { return runtime_; }
    SharedCounters &counters() noexcept { return counters_; }
    const InFlight &in_flight() const noexcept { return *in_flight_; }

private:
    std::shared_ptr<StorageState> shared() {
        return std::static_pointer_cast<StorageState>(shared_from_this());
    }

    /// All that one acquire began: to be started without the lock, or undone.
    struct Begun;

    /// Throws Unverified, unless `verified_only`: then only connections that are verified are used.
    std::unique_ptr<AcquisitionState> try_acquire(const std::shared_ptr<BufferState> &buffer,
                                                  PlaceIndex place, Access access,
                                                  const Range &range, Spread *spread,
                                                  bool verified_only);
    // lost.cpp
    /// With the lock, before each use of the ledger: gives it the ends that it had no memory for.
    /// Throws std::bad_alloc while there is none.
    void catch_up() {
        if (operations_.owed() != 0 || runtime_->lost.count() != 0) { // mostly neither
            learn_ends();
        }
    }
    void learn_ends();
    void notice_lost_places();
    void forbid_lost(PlaceIndex place, Access access, const Range &range);

    // evict.cpp
    bool fits_at(PlaceIndex place, uint32_t scope) const;
    /// What an acquire that finds no memory did before its last attempt.
    struct Room {
        std::optional<StagingPool::Pause> pause{};
        uint64_t times_freed = 0; // of MemoryPool, before it
    };
    /// Makes room for another attempt. False if no memory can be freed.
    bool make_room(PlaceIndex place, Room &room);
    bool write_back(const RangeSet &dirty, ViewId from);
    bool undo_all_maps(pi_mem mem);
    // release.cpp
    void release_now(AcquisitionState &acquisition);
    void release_with(AcquisitionState &acquisition, Submitted command);
    void end_under_way(AcquisitionState &acquisition) noexcept;
    std::shared_ptr<Completion> end_operation(OperationId operation, Ending ending) noexcept;
    bool fail_in_turn(OperationId operation, pi_result result, const std::string &text) noexcept;
    template <class Begin>
    void end_later(AcquisitionState &acquisition, Begin begin);
    void finish_use(OperationId operation, PlaceIndex place, PlaceIndex lender, pi_result result,
                    const std::string &text);
    void conclude(OperationId operation, pi_result result, std::string_view text,
                  std::vector<Submitted> commands = {}) noexcept;

    // explain.cpp
    ExplainedPart explain_present(const RangeSet &ranges, PlaceIndex place, const Target &target,
                                  const std::vector<Candidate> &considered) const;
    static ExplainedPart explain_planned(PlannedPart planned,
                                         const std::vector<Candidate> &considered);
    std::string explanation_text(const Explanation &explanation) const;
    Target likely_target(const Planner &planner, PlaceIndex place, const Range &range,
                         std::vector<Candidate> &considered) const;

    // acquire.cpp
    Planner planner(bool verified_only) const {
        return {runtime_->machine, description_, replicas_, verified_only};
    }
    /// Throws if this thread holds one of these operations, or of those that they wait for.
    void forbid_self_wait(const std::vector<Ledger::Wait> &waits, PlaceIndex place,
                          const Range &range) const;
    /// As Operations::begin; the operation can fail in its turn.
    template <class Begin>
    Ledger::Begun begin_operation(PlaceIndex place, const Range &range, bool held, Begin begin);
    /// Begins copies that make the ranges valid at a place without an acquire, and returns all that
    /// must be over until the bytes are there. Empty if an operation uses the memory that they come
    /// from, or if they would wait for a held acquisition, which may be for ever. Throws as
    /// acquire().
    std::optional<std::vector<Dependency>> bring(PlaceIndex place, const RangeSet &ranges,
                                                 ViewId from);
    void begin_copies(Begun &begun, const Attachment &attachment, const Planner &planner,
                      std::vector<PlannedPart> parts, PlaceIndex place, Spread *spread);
    /// Makes memory at the host for bounces alone, within the limit.
    bool keep_at_host();
    void begin_use(Begun &begun, const Attachment &attachment, Access access);
    void undo(Begun &begun);
    void account(const Begun &begun);
    void log_nothing_stale(const Begun &begun, const Attachment &attachment, Access access);
    /// Whether the use may have to wait for standing maps, or for maps of earlier transfers that
    /// are under way. If so, undo_maps() makes it wait until they are undone.
    bool may_be_mapped(const AcquisitionState &acquisition,
                       const std::vector<Ledger::Wait> &waits) const;
    void undo_maps(AcquisitionState &acquisition);

    const std::shared_ptr<RuntimeState> runtime_;
    const StorageDescriptor description_;
    const std::shared_ptr<InFlight> in_flight_ = std::make_shared<InFlight>();
    SharedCounters counters_;

    mutable std::mutex mutex_; // guards all below
    Replicas replicas_;
    RangeSet lost_; // bytes that were only at lost devices
    Operations operations_;
    Attachments attachments_;
};

constexpr bool fetches(Access access) {
    return access != Access::discard_write;
}
constexpr bool writes(Access access) {
    return access != Access::read;
}

} // namespace pi::runtime
