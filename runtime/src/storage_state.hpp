// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "completion.hpp"
#include "ledger.hpp"
#include "memory_pool.hpp"
#include "runtime_state.hpp"
#include "staging.hpp"

#include <pi/runtime/buffer.hpp>
#include <pi/runtime/storage.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace pi::runtime {

struct BufferState {
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
    Range range;
    bool writes = false;
    pi_mem mem = nullptr;
    std::byte *pointer = nullptr;
    std::vector<Dependency> dependencies;
    std::vector<Event> owned_events;
    std::vector<pi_event> events;
};

/// A way for some bytes to come: from a view, by a route.
struct Source {
    ViewId view;
    Candidate candidate;
};

/// Bytes that come together. The first source is used; the others are for when it fails.
struct PlannedPart {
    RangeSet ranges;
    bool hand_over = false;
    std::vector<Source> sources;
    std::vector<Candidate> refused;
};

/// The shared part of all copies of a Storage: its memory at each place, the ledger, and the operations
/// in progress. Callbacks hold on to it. One lock guards it all; no call that may call back is made with
/// it held (creating memory and asking for information are not such calls).
class StorageState : public std::enable_shared_from_this<StorageState> {
public:
    /// What one user sees of a memory, and how transfers reach it.
    struct View {
        PlaceIndex home = host_place;
        Mem mem;             // empty: the host's own, or evicted
        PooledMemory memory; // what mem is, unless it is imported
        std::byte *host = nullptr;
        pi_coherence coherence = PI_COHERENCE_COHERENT;
        bool imported = false;
        bool scope_0 = true;
        bool maps = true;
    };
    /// How a place uses a view.
    struct Attachment {
        ViewId view;
        Mem mem;
        RouteKind kind = RouteKind::none_needed; // direct_use, import: shares another's memory
        PlaceIndex owner = host_place;           // whose memory it is
        bool imported = false;
        std::string reason;
        uint64_t last_use = 0; // the number of the acquire
    };

    StorageState(std::shared_ptr<RuntimeState> runtime, StorageDescription description);

    // acquire.cpp
    std::unique_ptr<AcquisitionState> acquire(const std::shared_ptr<BufferState> &buffer,
                                              PlaceIndex place, Access access, const Range &range);
    void release(AcquisitionState &acquisition, pi_event event);
    void abandon(AcquisitionState &acquisition) noexcept;

    // evict.cpp
    /// What a place's replica would free, and how many of its bytes are nowhere else. Nothing while it is in use, or
    /// when the place has no memory of its own.
    struct Evictable {
        uint64_t size;
        uint64_t dirty;
        uint64_t last_use;
    };
    std::optional<Evictable> evictable(PlaceIndex place) const;
    /// Gives that memory back, after its dirty bytes have been written back to the host: waits for that. False if it is
    /// in use by then, or they cannot be written back; nothing is lost then.
    bool evict(PlaceIndex place);

    // plan.cpp
    Explanation explain(PlaceIndex place, const Range &range);

    // For transfers.
    /// Whether a pending copy may read from there now; then the ends for it.
    bool may_copy_from(OperationId copy, ViewId source);
    TransferRequest request(const Source &source, ViewId destination, const RangeSet &ranges) const;
    /// An operation that counts as in flight is over: the ledger learns it, then who waits for it.
    void finish_operation(OperationId operation, pi_result result, const std::string &text);

    void check_place(PlaceIndex place) const;
    RangeSet valid(PlaceIndex place);
    RangeSet lost();
    std::optional<uint32_t> memory_of(PlaceIndex place) const;
    const StorageDescription &description() const noexcept { return description_; }
    const std::shared_ptr<RuntimeState> &runtime() const noexcept { return runtime_; }
    SharedCounters &counters() noexcept { return counters_; }
    const InFlight &in_flight() const noexcept { return *in_flight_; }

private:
    struct Pending {
        OperationId operation;
        std::shared_ptr<Completion> completion; // made when somebody first waits
        bool held = false;                      // acquired and not released
        bool writes = false;                    // a use that writes
        std::thread::id holder;
        PlaceIndex place = host_place;
        Range range;
    };
    /// Where bytes are to come to: a view, or memory that there is not yet.
    struct Target {
        std::optional<ViewId> view;
        PlaceIndex home = host_place;
        bool scope_0 = true;
        bool maps = true;
    };
    /// Everything that one acquire began: to be started without the lock, or undone.
    struct Begun;

    std::unique_ptr<AcquisitionState> try_acquire(const std::shared_ptr<BufferState> &buffer,
                                                  PlaceIndex place, Access access,
                                                  const Range &range);

    // lost.cpp
    void notice_lost_places();
    void forbid_lost(PlaceIndex place, Access access, const Range &range);

    // evict.cpp
    bool write_back(const RangeSet &dirty);
    void drop_memory(ViewId view);
    std::optional<ViewId> vacant_view(PlaceIndex place) const;

    // attach.cpp
    Attachment &attach(PlaceIndex place);
    void attach_host();
    void create_host_view();
    bool import_host_memory(PlaceIndex place);
    void share_memory(PlaceIndex place, PlaceIndex owner, const std::string &reason);
    void create_memory(PlaceIndex place);
    ViewId add_view(View view, MemoryId memory);
    uint32_t scope_index(PlaceIndex place) const;
    static bool maps_in_place(const PlaceInfo &place, uint32_t scope);
    std::vector<Candidate> sharing_candidates(PlaceIndex place) const;

    // plan.cpp
    RouteRequest route_request(ViewId source, const Target &target, uint64_t bytes,
                               uint64_t pieces) const;
    std::vector<PlannedPart> plan(const Target &target, const RangeSet &wanted) const;
    std::vector<PlannedPart> plan_hand_overs(ViewId target, RangeSet &stale) const;
    PlannedPart plan_copy(const Target &target, const RangeSet &ranges) const;
    std::vector<ViewId> nearest_views(const Target &target, const RangeSet &stale) const;
    Target target_of(ViewId view) const;
    ExplainedPart explain_present(const RangeSet &ranges, PlaceIndex place, const Target &target,
                                  const std::vector<Candidate> &considered) const;
    static ExplainedPart explain_planned(PlannedPart planned,
                                         const std::vector<Candidate> &considered);
    std::string explanation_text(const Explanation &explanation) const;
    Target likely_target(PlaceIndex place, std::vector<Candidate> &considered) const;

    // acquire.cpp
    void forbid_self_wait(const std::vector<Ledger::Wait> &waits, PlaceIndex place,
                          const Range &range) const;
    std::vector<Dependency> dependencies(const std::vector<Ledger::Wait> &waits);
    Pending &pending(OperationId operation);
    const Pending &pending(OperationId operation) const;
    const std::shared_ptr<Completion> &completion_of(OperationId operation);
    void add_pending(OperationId operation, PlaceIndex place, const Range &range, bool held,
                     bool writes);
    void conclude(OperationId operation, pi_result result, const std::string &text);
    void begin_copies(Begun &begun, const Attachment &attachment, std::vector<PlannedPart> parts,
                      PlaceIndex place, const Range &range);
    void begin_use(Begun &begun, const Attachment &attachment, Access access);
    void undo(Begun &begun);
    void account(const Begun &begun, const Attachment &attachment, Access access);
    void bridge(AcquisitionState &acquisition);

    const std::shared_ptr<RuntimeState> runtime_;
    const StorageDescription description_;
    const std::shared_ptr<InFlight> in_flight_ = std::make_shared<InFlight>();
    SharedCounters counters_;

    mutable std::mutex mutex_; // guards all below
    Ledger ledger_;
    HostBytes host_bytes_;
    std::optional<ViewId> host_view_;
    std::vector<View> views_;                            // by ViewId
    std::vector<std::optional<Attachment>> attachments_; // by place
    std::vector<std::string> notes_;                     // by place: why an import failed
    RangeSet lost_;                                      // bytes that were only at lost devices
    std::vector<Pending> pending_;                       // few: in the order of their operations
};

constexpr bool fetches(Access access) {
    return access != Access::discard_write;
}
constexpr bool writes(Access access) {
    return access != Access::read;
}

} // namespace pi::runtime
