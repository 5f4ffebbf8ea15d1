// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "transfer/continuations.hpp"
#include "transfer/host_bytes.hpp"
#include "transfer/memory_pool.hpp"

#include <pi/runtime/topology.hpp>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pi::runtime {

/// Staging memory at all places, which is reused: new memory costs more than the copy through it.
///
/// The memory in use at each place is bounded. A transfer requests all that it needs at once and
/// holds nothing while it waits, so transfers cannot wait for each other in a circle. Requests are
/// served in their order.
class StagingPool : public std::enable_shared_from_this<StagingPool> {
public:
    struct Need {
        PlaceIndex place;
        uint64_t size;
        PlaceIndex from, to; ///< of its bytes: both places pin staging memory at the host
    };
    /// Staging memory in use; returned on destruction.
    class Lease {
    public:
        Lease() noexcept = default;
        ~Lease();
        Lease(Lease &&) noexcept = default;
        /// Only between leases that are not in use, or to an empty one.
        Lease &operator=(Lease &&) noexcept = default;

        std::byte *host() const noexcept { return host_.data(); } ///< NULL at a device
        pi_mem mem() const noexcept { return memory_.get(); }     ///< NULL at the host

    private:
        friend class StagingPool;
        Lease(PlaceIndex place, uint64_t size) noexcept : place_(place), size_(size) {}

        std::shared_ptr<StagingPool> pool_; // empty: nothing to return
        PlaceIndex place_ = host_place;
        uint64_t size_ = 0;
        PinnedBytes host_;
        PooledMemory memory_;
    };
    /// For an acquire that needs memory of a place's device: while it exists no staging memory is
    /// granted there. Its owner must not wait for transfers, which may need a grant.
    class Pause {
    public:
        Pause(std::shared_ptr<StagingPool> pool, PlaceIndex place);
        ~Pause();
        Pause(const Pause &) = delete;
        Pause &operator=(const Pause &) = delete;

        /// Waits until some staging memory there has been freed: transfers that have all of theirs
        /// wait for nothing else. False at once if none is in use.
        bool await_release();

    private:
        const std::shared_ptr<StagingPool> pool_;
        const PlaceIndex place_;
    };
    /// Gets the leases in the order of the needs, or none and the error.
    using Granted = std::function<void(std::vector<Lease>, pi_result, const std::string &)>;

    /// `limit`: the most bytes in use at each place. A transfer that needs more than that at a
    /// place gets it while no other uses any there.
    StagingPool(std::shared_ptr<const Topology> topology,
                std::shared_ptr<Continuations> continuations, std::shared_ptr<MemoryPool> memory,
                uint64_t limit);

    /// Calls back as posted work, once all of it is there. A request that finds no memory waits
    /// while others use staging memory of that device.
    void take(std::vector<Need> needs, Granted granted);

private:
    struct Request {
        std::vector<Need> needs;
        Granted granted;
        std::vector<Lease> leases{}; // has room for all
        pi_result result = PI_SUCCESS;
        std::string text{};
    };

    using Requests = std::list<std::shared_ptr<Request>>; // moved without an allocation

    void serve();
    size_t make_all(Request &request);
    bool others_use_staging(const Request &request) const;
    uint64_t in_use_at_device(PlaceIndex place) const;
    bool fits(const Request &request) const;
    Lease make(const Need &need);
    void give_back(Lease &&lease) noexcept;

    static constexpr uint64_t alignment_ = 4096;
    const std::shared_ptr<const Topology> topology_;
    const std::shared_ptr<Continuations> continuations_;
    const std::shared_ptr<MemoryPool> memory_;
    const uint64_t limit_;
    const std::vector<PlaceIndex> device_of_; // the first place of the same device
    mutable std::mutex mutex_;
    std::condition_variable less_in_use_;
    uint64_t returned_ = 0;         // leases, in all
    std::vector<uint64_t> in_use_;  // bytes, by place
    std::vector<uint32_t> pauses_;  // by device
    std::vector<PinnedBytes> free_; // at the host; devices' memory is in the pool
    uint64_t free_bytes_ = 0;
    Requests waiting_;
};

} // namespace pi::runtime
