// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/staging.hpp"

#include "base/same_device.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <bit>
#include <new>

namespace pi::runtime {

StagingPool::Lease::~Lease() {
    if (pool_ != nullptr) {
        const std::shared_ptr<StagingPool> pool = std::move(pool_);
        pool->give_back(std::move(*this));
    }
}

StagingPool::StagingPool(std::shared_ptr<const Topology> topology,
                         std::shared_ptr<Continuations> continuations,
                         std::shared_ptr<MemoryPool> memory, uint64_t limit)
    : topology_(std::move(topology)), continuations_(std::move(continuations)),
      memory_(std::move(memory)), limit_(limit), device_of_(devices_of(*topology_)),
      in_use_(topology_->size()), pauses_(topology_->size()) {}

StagingPool::Pause::Pause(std::shared_ptr<StagingPool> pool, PlaceIndex place)
    : pool_(std::move(pool)), place_(place) {
    const std::lock_guard lock(pool_->mutex_);
    ++pool_->pauses_[pool_->device_of_[place_]];
}

StagingPool::Pause::~Pause() {
    {
        const std::lock_guard lock(pool_->mutex_);
        --pool_->pauses_[pool_->device_of_[place_]];
    }
    pool_->serve();
}

bool StagingPool::Pause::await_release() {
    std::unique_lock lock(pool_->mutex_);
    const uint64_t before = pool_->in_use_at_device(place_);
    pool_->less_in_use_.wait(
        lock, [&] { return before == 0 || pool_->in_use_at_device(place_) < before; });
    return before != 0;
}

/// With the lock.
uint64_t StagingPool::in_use_at_device(PlaceIndex place) const {
    uint64_t sum = 0;
    for (PlaceIndex other = 0; other < in_use_.size(); ++other) {
        sum += device_of_[other] == device_of_[place] ? in_use_[other] : 0;
    }
    return sum;
}

void StagingPool::take(std::vector<Need> needs, Granted granted) {
    for (Need &need : needs) {
        need.size =
            std::max(alignment_, std::bit_ceil(need.size)); // few sizes, so that free ones fit
    }
    Requests request;
    request.push_back(std::make_shared<Request>(Request{std::move(needs), std::move(granted)}));
    request.front()->leases.reserve(request.front()->needs.size());
    {
        const std::lock_guard lock(mutex_);
        waiting_.splice(waiting_.end(), request);
    }
    serve();
}

bool StagingPool::fits(const Request &request) const {
    const std::vector<Need> &needs = request.needs; // few
    return std::all_of(needs.begin(), needs.end(), [&](const Need &need) {
        uint64_t wanted = in_use_.at(need.place);
        for (const Need &other : needs) {
            wanted += other.place == need.place ? other.size : 0;
        }
        return (in_use_[need.place] == 0 || wanted <= limit_) &&
               pauses_[device_of_[need.place]] == 0;
    });
}

void StagingPool::serve() {
    for (;;) {
        Requests next;
        uint64_t given_back = 0;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty() || !fits(*waiting_.front())) {
                return;
            }
            next.splice(next.end(), waiting_, waiting_.begin());
            for (const Need &need : next.front()->needs) {
                in_use_[need.place] += need.size;
            }
            given_back = returned_;
        }
        const std::shared_ptr<Request> request = next.front();
        given_back += make_all(*request);
        if (request->result == PI_ERROR_OUT_OF_DEVICE_MEMORY) {
            const std::lock_guard lock(mutex_);
            const bool more_by_now = returned_ != given_back;
            if (more_by_now || others_use_staging(*request)) {
                request->result = PI_SUCCESS;
                waiting_.splice(waiting_.begin(), next);
                if (!more_by_now) {
                    return; // it is served when they return theirs
                }
                continue;
            }
        }
        continuations_->post_or_run([request] {
            request->granted(std::move(request->leases), request->result, request->text);
        });
    }
}

/// With the lock, and without memory of its own.
bool StagingPool::others_use_staging(const Request &request) const {
    return std::any_of(request.needs.begin(), request.needs.end(), [this](const Need &need) {
        return need.place != host_place && in_use_at_device(need.place) != 0;
    });
}

/// Returns how many leases it had to return because there is no memory for all.
size_t StagingPool::make_all(Request &request) {
    try {
        for (const Need &need : request.needs) {
            request.leases.push_back(make(need));
        }
        return 0;
    } catch (const Error &error) {
        request.result = error.code();
        request.text = error.what();
    } catch (const std::exception &error) {
        request.result = PI_ERROR_OUT_OF_HOST_MEMORY;
        request.text = error.what();
    }
    request.text.insert(0, "staging memory: ");
    const size_t made = request.leases.size();
    {
        const std::lock_guard lock(mutex_);
        for (size_t missing = made; missing < request.needs.size(); ++missing) {
            in_use_[request.needs[missing].place] -= request.needs[missing].size;
        }
        less_in_use_.notify_all();
    }
    request.leases.clear();
    return made;
}

StagingPool::Lease StagingPool::make(const Need &need) {
    Lease lease(need.place, need.size);
    if (need.place != host_place) {
        lease.memory_ = memory_->take({need.place, 0, 0, 0}, need.size);
    } else {
        {
            const std::lock_guard lock(mutex_);
            const auto same =
                std::find_if(free_.begin(), free_.end(),
                             [&](const PinnedBytes &bytes) { return bytes.size() == need.size; });
            if (same != free_.end()) {
                lease.host_ = std::move(*same);
                free_bytes_ -= need.size;
                std::swap(*same, free_.back());
                free_.pop_back();
            }
        }
        if (lease.host() == nullptr) {
            lease.host_ = PinnedBytes(need.size, alignment_);
        }
        lease.host_.pin_for(*topology_, need.from);
        lease.host_.pin_for(*topology_, need.to);
    }
    lease.pool_ = shared_from_this();
    return lease;
}

void StagingPool::give_back(Lease &&lease) noexcept {
    lease.memory_ = {}; // before the next one asks for it
    PinnedBytes dropped;
    {
        const std::lock_guard lock(mutex_);
        in_use_[lease.place_] -= lease.size_;
        ++returned_;
        less_in_use_.notify_all();
        dropped = std::move(lease.host_);
        if (dropped.data() != nullptr && free_bytes_ + dropped.size() <= limit_) {
            const uint64_t size = dropped.size();
            try {
                free_.push_back(std::move(dropped));
                free_bytes_ += size;
            } catch (const std::bad_alloc &) {
                // Then it is not kept.
            }
        }
    }
    serve();
}

} // namespace pi::runtime
