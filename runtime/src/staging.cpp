// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "staging.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <bit>
#include <map>
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
      memory_(std::move(memory)), limit_(limit), in_use_(topology_->size()) {}

void StagingPool::take(std::vector<Need> needs, Granted granted) {
    for (Need &need : needs) {
        need.size = std::max(alignment_, std::bit_ceil(need.size)); // few sizes: they serve again
    }
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back({std::move(needs), std::move(granted)});
    }
    serve();
}

bool StagingPool::fits(const Request &request) const {
    std::map<PlaceIndex, uint64_t> wanted;
    for (const Need &need : request.needs) {
        wanted[need.place] += need.size;
    }
    return std::all_of(wanted.begin(), wanted.end(), [this](const auto &entry) {
        const auto &[place, size] = entry;
        return in_use_.at(place) == 0 || in_use_[place] + size <= limit_;
    });
}

void StagingPool::serve() {
    for (;;) {
        Request request;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty() || !fits(waiting_.front())) {
                return;
            }
            request = std::move(waiting_.front());
            waiting_.pop_front();
            for (const Need &need : request.needs) {
                in_use_[need.place] += need.size;
            }
        }
        auto leases = std::make_shared<std::vector<Lease>>();
        pi_result result = PI_SUCCESS;
        std::string text;
        try {
            for (const Need &need : request.needs) {
                leases->push_back(make(need));
            }
        } catch (const Error &error) {
            result = error.code();
            text = std::string("staging memory: ") + error.what();
        } catch (const std::exception &error) {
            result = PI_ERROR_OUT_OF_HOST_MEMORY;
            text = std::string("staging memory: ") + error.what();
        }
        if (result != PI_SUCCESS) {
            const std::lock_guard lock(mutex_);
            for (size_t missing = leases->size(); missing < request.needs.size(); ++missing) {
                in_use_[request.needs[missing].place] -= request.needs[missing].size;
            }
        }
        continuations_->post([granted = std::move(request.granted), leases, result, text] {
            if (result != PI_SUCCESS) {
                leases->clear();
            }
            granted(std::move(*leases), result, text);
        });
    }
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
