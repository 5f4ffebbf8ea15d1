// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/cache_line.hpp"
#include "base/thread_number.hpp"
#include "planning/planner.hpp"
#include "planning/remote_use.hpp"
#include "runtime_state.hpp"
#include "transfer/completion.hpp"
#include "transfer/host_bytes.hpp"
#include "transfer/memory_pool.hpp"

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

/// What an Acquisition holds.
struct AcquisitionState {
    ~AcquisitionState();

    std::shared_ptr<StorageState> storage;
    OperationId operation = 0;
    bool held = true;
    PlaceIndex place = host_place;
    PlaceIndex lender = host_place; // who made mem
    Range range;
    bool writes = false;
    pi_mem mem = nullptr;
    uint64_t offset_alignment = 1; // of a launch argument in mem
    std::byte *pointer = nullptr;
    Event under_way; // what a release named that failed: its commands use the memory still
    std::vector<Dependency> dependencies;
    std::vector<Event> owned_events;
    std::vector<pi_event> events;
    /// A use by commands of the place's instance, which must be over before: whether it succeeds does not matter.
    struct OnlyBefore {
        std::shared_ptr<Completion> completion;
        Event event;
    };
    std::vector<OnlyBefore> only_before; // that are not among the events
    bool may_be_mapped = false;          // see StorageState::undo_maps
    Queue behind;                        // the queue that was put behind these last
};

/// The shared part of all copies of a Storage: its memory at each place, the ledger, and the operations
/// in progress. Callbacks hold on to it. One lock guards it all; no call that may call back is made with
/// it held (creating memory and asking for information are not such calls).
class alignas(cache_line) StorageState final : public Resident {
public:
    /// How transfers reach a view's memory.
    struct ViewMemory {
        Mem mem;             // empty: the host's own, or evicted
        PooledMemory memory; // what mem is, unless it is imported
        std::byte *host = nullptr;
        bool given = false; // by the description, and so of an allocator that nobody knows
    };
    /// How a place uses a view.
    struct alignas(cache_line) Attachment {
        ViewId view = 0;
        Mem mem;
        RouteKind kind = RouteKind::none_needed; // direct_use, import: shares another's memory
        PlaceIndex lender = host_place;          // who made mem, and serves no more when it is lost
        bool imported = false;
        bool elsewhere =
            false; // another device's memory: what a use moves over a link is not known
        std::unique_ptr<RemoteUse> remote; // of memory that is used over a link
        std::shared_ptr<const UpToDate::Texts> texts;
        uint64_t offset_alignment = 1;
        uint64_t last_use = 0; // as Residents numbers them

        /// Whose memory it is.
        PlaceIndex owner() const { return imported ? host_place : lender; }
    };

    StorageState(std::shared_ptr<RuntimeState> runtime, StorageDescription description);
    virtual ~StorageState();

    // acquire.cpp
    /// `spread`: of the broadcast that this is a step of, or NULL.
    std::unique_ptr<AcquisitionState> acquire(const std::shared_ptr<BufferState> &buffer,
                                              PlaceIndex place, Access access, const Range &range,
                                              Spread *spread = nullptr);

    /// Once, before any acquire: the first content is there when description().ready is complete.
    void await_first_content();

    // release.cpp
    void release(AcquisitionState &acquisition, pi_event event);
    void abandon(AcquisitionState &acquisition) noexcept;

    // events.cpp
    /// As Acquisition has them: for commands on any queue, and on this one.
    const std::vector<pi_event> &events(AcquisitionState &acquisition);
    const std::vector<pi_event> &events(AcquisitionState &acquisition, pi_queue queue);

    // evict.cpp
    std::optional<Replica> replica(PlaceIndex place) override;
    bool await_uses(PlaceIndex place) override;
    bool evict(PlaceIndex place) override;
    /// For a transfer that found no memory for its staging there, or at one of its ends, as drivers do that allocate at the
    /// first use: idle memory goes, or a clean replica that nothing uses. Never waits. False if there was none.
    bool make_room_without_waiting(PlaceIndex place, bool for_staging);

    // explain.cpp
    Explanation explain(PlaceIndex place, const Range &range);

    // For transfers.
    /// Whether a pending copy may read from there now; then the ends for it.
    bool may_copy_from(OperationId copy, ViewId source);
    TransferRequest request(const Source &source, ViewId destination, const RangeSet &ranges) const;
    /// An operation that counts as in flight is over: the ledger learns it, then who waits for it.
    /// `commands`: of a transfer, which became final with it.
    void finish_operation(OperationId operation, pi_result result, const std::string &text,
                          std::vector<Submitted> commands = {}) noexcept;

    void check_place(PlaceIndex place) const;
    RangeSet valid(PlaceIndex place);
    RangeSet lost();
    std::optional<uint32_t> memory_of(PlaceIndex place) const;
    const StorageDescription &description() const noexcept { return description_; }
    const std::shared_ptr<RuntimeState> &runtime() const noexcept { return runtime_; }
    SharedCounters &counters() noexcept { return counters_; }
    const InFlight &in_flight() const noexcept { return *in_flight_; }

private:
    std::shared_ptr<StorageState> shared() {
        return std::static_pointer_cast<StorageState>(shared_from_this());
    }

    enum class Ending { succeeded, failed, taken_back };
    /// How an operation fails that something before it may be at work on the same bytes with: after
    /// that.
    struct FailureInTurn {
        PreparedWait wait;
        std::shared_ptr<Outcome> outcome;
    };
    struct alignas(cache_line) Pending {
        OperationId operation;
        std::shared_ptr<Completion> completion; // made when somebody first waits
        bool held = false;                      // acquired and not released
        uint64_t holder = 0;                    // as this_thread_number
        PlaceIndex place = host_place;
        Range range;
        bool maps_source = false;                 // a transfer that may read through a map
        bool maps_destination = false;            // or write through one
        std::unique_ptr<FailureInTurn> in_turn{}; // only where memory has units
        std::optional<Ending> ending{};           // over, but the ledger does not have it yet
        uint64_t end_number = 0;                  // of those the order
    };
    /// Everything that one acquire began: to be started without the lock, or undone.
    struct Begun;

    /// Throws Unverified, unless `verified_only`: then only connections that are verified are used.
    std::unique_ptr<AcquisitionState> try_acquire(const std::shared_ptr<BufferState> &buffer,
                                                  PlaceIndex place, Access access,
                                                  const Range &range, Spread *spread,
                                                  bool verified_only);
    // lost.cpp
    /// With the lock, before the ledger is asked: gives it the ends that it found no memory for.
    /// Throws std::bad_alloc while there is none.
    void catch_up() {
        if (owed_ != 0 || runtime_->lost.count() != 0) { // mostly neither
            learn_ends();
        }
    }
    void learn_ends();
    void learn_end(std::vector<Pending>::iterator over);
    void notice_lost_places();
    void forbid_lost(PlaceIndex place, Access access, const Range &range);

    // evict.cpp
    bool fits_at(PlaceIndex place, uint32_t scope) const;
    /// Of an acquire that finds no memory: what it did about that before its last attempt.
    struct Room {
        std::optional<StagingPool::Pause> pause{};
        uint64_t times_freed = 0; // of MemoryPool, before it
    };
    /// Whether another attempt may find room: false if nothing can give any up.
    bool make_room(PlaceIndex place, Room &room);
    bool write_back(const RangeSet &dirty, ViewId from);
    bool is_mapped(pi_mem mem) const;
    bool undo_all_maps(pi_mem mem);
    void drop_memory(ViewId view);
    std::optional<ViewId> vacant_view(PlaceIndex place) const;

    // attach.cpp
    Attachment &attach(PlaceIndex place, bool verified_only);
    void attach_host();
    std::shared_ptr<const UpToDate::Texts> texts(std::string reason) const;
    void create_host_view();
    void adopt_device_memory();
    bool import_host_memory(PlaceIndex place);
    pi_result get_scope(PlaceIndex place, const Mem &mem, const pi_memory_scope *&out) const;
    void share_memory(PlaceIndex place, PlaceIndex owner, const std::string &reason);
    void create_memory(PlaceIndex place);
    ViewId add_view(const View &view, ViewMemory memory, MemoryId id);
    /// Of the storage's memory there. Nothing where the place has no scope of that name, as memory that was given may be
    /// of another: scope_index throws then.
    std::optional<uint32_t> find_scope(PlaceIndex place) const;
    uint32_t scope_index(PlaceIndex place) const;
    /// Of memory that the storage has there.
    bool maps_in_place(const PlaceInfo &place, uint32_t scope) const;
    bool is_laid_out(const PlaceInfo &place, uint32_t scope) const;
    std::vector<Candidate> sharing_candidates(PlaceIndex place, bool verified_only) const;

    // remote_use.cpp
    void prefer_own_memory(const Planner &planner, PlaceIndex place, const Range &range);
    bool leaves_shared_memory(const Planner &planner, PlaceIndex place, const Range &range) const;
    void note_use(PlaceIndex place, const Range &range, bool writes);

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
    Target memory_of_its_own(PlaceIndex place) const;
    Target likely_target(const Planner &planner, PlaceIndex place, const Range &range,
                         std::vector<Candidate> &considered) const;

    // acquire.cpp
    Planner planner(bool verified_only) const {
        return {runtime_->machine, description_, replicas_, verified_only};
    }
    /// Whether this thread acquired it and it is not released.
    static bool held_here(const Pending &operation);
    bool holds_any_here() const;
    /// Throws if one of these, or of what they wait for, is held by this thread.
    void forbid_self_wait(const std::vector<Ledger::Wait> &waits, PlaceIndex place,
                          const Range &range) const;
    /// Whether one of these, or of what they wait for, is held: perhaps by this thread.
    bool wait_for_held(std::vector<OperationId> operations) const;
    std::vector<Dependency> dependencies(const std::vector<Ledger::Wait> &waits);
    Pending &pending(OperationId operation);
    const Pending &pending(OperationId operation) const;
    const std::shared_ptr<Completion> &completion_of(OperationId operation);
    /// What `begin` begins in the ledger, as a pending operation; neither after an exception.
    void prepare_failure(Pending &operation);
    template <class Begin>
    Ledger::Begun begin_operation(PlaceIndex place, const Range &range, bool held, Begin begin);
    /// Begins copies that make the ranges valid at a place that no acquire asked for, and gives what they wait for: all
    /// that must be over until they are there. Nothing if an operation needs the memory that they come from, or they
    /// would wait for what is held, which may be for ever. Throws what acquire throws.
    std::optional<std::vector<Dependency>> bring(PlaceIndex place, const RangeSet &ranges,
                                                 ViewId from);
    void begin_copies(Begun &begun, const Attachment &attachment, const Planner &planner,
                      std::vector<PlannedPart> parts, PlaceIndex place, Spread *spread);
    /// Memory at the host for bounces alone, within the limit.
    bool keep_at_host();
    void begin_use(Begun &begun, const Attachment &attachment, Access access);
    void undo(Begun &begun);
    void account(const Begun &begun);
    void log_nothing_stale(const Begun &begun, const Attachment &attachment, Access access);
    /// Whether maps that could not be undone may forbid the use, or those of transfers before it
    /// that are under way; then undo_maps makes it wait until they are undone.
    bool may_be_mapped(const AcquisitionState &acquisition,
                       const std::vector<Ledger::Wait> &waits) const;
    void undo_maps(AcquisitionState &acquisition);

    // events.cpp
    void bridge(AcquisitionState &acquisition);
    void join(AcquisitionState &acquisition, const std::vector<Dependency> &foreign);

    const std::shared_ptr<RuntimeState> runtime_;
    const StorageDescription description_;
    const std::shared_ptr<InFlight> in_flight_ = std::make_shared<InFlight>();
    SharedCounters counters_;

    mutable std::mutex mutex_; // guards all below
    Replicas replicas_;
    std::shared_ptr<HostBytes> host_bytes_;
    std::vector<ViewMemory> memories_;                   // by ViewId
    std::vector<std::optional<Attachment>> attachments_; // by place
    std::vector<std::string> notes_;                     // by place: why an import failed
    bool uses_links_ = false;                            // some attachment has had `remote`
    RangeSet lost_;                                      // bytes that were only at lost devices
    std::vector<Pending> pending_;                       // few: in the order of their operations
    size_t owed_ = 0;                                    // ends that the ledger does not have yet
    uint64_t ends_ = 0;
};

constexpr bool fetches(Access access) {
    return access != Access::discard_write;
}
constexpr bool writes(Access access) {
    return access != Access::read;
}

} // namespace pi::runtime
