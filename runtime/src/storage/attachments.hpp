// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/cache_line.hpp"
#include "coherence/residents.hpp"
#include "planning/planner.hpp"
#include "planning/remote_use.hpp"
#include "planning/replicas.hpp"
#include "runtime_state.hpp"
#include "transfer/host_bytes.hpp"
#include "transfer/memory_pool.hpp"
#include "transfer/transfer_log.hpp"

#include <pi/runtime/handle.hpp>
#include <pi/runtime/route.hpp>
#include <pi/runtime/storage.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pi::runtime {

/// How transfers reach a view's memory.
struct ViewMemory {
    Mem mem;             // empty: the host's own, or evicted
    PooledMemory memory; // what mem is, unless it is imported
    std::byte *host = nullptr;
    bool given = false; // by the application: of an unknown allocator
};

/// How a place uses a view.
struct alignas(cache_line) Attachment {
    ViewId view = 0;
    Mem mem;
    RouteKind kind = RouteKind::none_needed; // direct_use, import: another place's memory
    PlaceIndex lender = host_place;          // its plugin made mem; if it is lost, so is mem
    bool imported = false;
    bool elsewhere = false;            // another device's memory: how much a use moves is not known
    std::unique_ptr<RemoteUse> remote; // of memory that is used over a link
    std::shared_ptr<const UpToDate::Texts> texts;
    uint64_t offset_alignment = 1;
    uint64_t last_use = 0; // as Residents numbers them

    /// The place in whose memory the bytes are.
    PlaceIndex owner() const { return imported ? host_place : lender; }
};

/// The memory that each place uses for a storage: another place's, an import of the host's, or its
/// own. Adds the views to the storage's replicas. Not synchronised: the storage's lock guards it.
class Attachments {
public:
    /// Throws Error if the description is wrong. All arguments must outlive it.
    Attachments(RuntimeState &runtime, const StorageDescriptor &description, Replicas &replicas,
                Resident &resident);
    Attachments(const Attachments &) = delete;
    ~Attachments();

    std::optional<Attachment> &operator[](PlaceIndex place) { return attachments_[place]; }
    const std::optional<Attachment> &operator[](PlaceIndex place) const {
        return attachments_[place];
    }
    std::span<std::optional<Attachment>> all() { return attachments_; } ///< by place
    ViewMemory &memory(ViewId view) { return memories_[view]; }
    const ViewMemory &memory(ViewId view) const { return memories_[view]; }

    /// Gives the place memory, unless it has some. Throws Unverified unless `verified_only`: then
    /// it uses only connections that are verified.
    Attachment &attach(PlaceIndex place, bool verified_only);
    void create_host_view();
    /// Frees a view's own memory, and detaches the places that use it.
    void drop_memory(ViewId view);

    /// Other places' memory that the place could use, the best first.
    std::vector<Candidate> sharing_candidates(PlaceIndex place, bool verified_only) const;
    Target memory_of_its_own(PlaceIndex place) const;
    /// The scope of the storage's memory there. Where the place has no scope of that name (given
    /// memory may be of another) find_scope() is empty, and scope_index() throws.
    std::optional<uint32_t> find_scope(PlaceIndex place) const;
    uint32_t scope_index(PlaceIndex place) const;
    /// Whether maps that could not be undone keep the memory alive.
    bool is_mapped(pi_mem mem) const;
    /// Why an import failed there; empty if none did.
    std::string note(PlaceIndex place) const;

    // shared_memory.cpp
    bool uses_links() const { return uses_links_; } ///< a place has used memory over a link
    void prefer_own_memory(const Planner &planner, PlaceIndex place, const Range &range);
    bool leaves_shared_memory(const Planner &planner, PlaceIndex place, const Range &range) const;
    void note_use(PlaceIndex place, const Range &range, bool writes);

private:
    void attach_host();
    std::shared_ptr<const UpToDate::Texts> texts(std::string reason) const;
    void adopt_device_memory();
    bool import_host_memory(PlaceIndex place);
    pi_result get_scope(PlaceIndex place, const Mem &mem, const pi_memory_scope *&out) const;
    void share_memory(PlaceIndex place, PlaceIndex owner, const std::string &reason);
    void create_memory(PlaceIndex place);
    ViewId add_view(const View &view, ViewMemory memory, MemoryId id);
    std::optional<ViewId> vacant_view(PlaceIndex place) const;
    /// Properties of the storage's memory in that scope.
    bool maps_in_place(const PlaceInfo &place, uint32_t scope) const;
    bool is_laid_out(const PlaceInfo &place, uint32_t scope) const;

    RuntimeState &runtime_;
    const StorageDescriptor &description_;
    Replicas &replicas_;
    Resident &resident_;
    std::shared_ptr<HostBytes> host_bytes_;
    std::vector<ViewMemory> memories_;                   // by ViewId
    std::vector<std::optional<Attachment>> attachments_; // by place
    std::unique_ptr<std::vector<std::string>> notes_;    // by place, once there is one
    bool uses_links_ = false;
};

} // namespace pi::runtime
