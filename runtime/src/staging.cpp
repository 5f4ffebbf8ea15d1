// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "staging.hpp"

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
      memory_(std::move(memory)), limit_(limit), in_use_(topology_->size()) {}

void StagingPool::take(std::vector<Need> needs, Granted granted) {
    for (Need &need : needs) {
        need.size = std::max(alignment_, std::bit_ceil(need.size)); // few sizes: they serve again
    }
    const auto request = std::make_shared<Request>(Request{std::move(needs), std::move(granted)});
    request->leases.reserve(request->needs.size());
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(request);
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
        return in_use_[need.place] == 0 || wanted <= limit_;
    });
}

void StagingPool::serve() {
    for (;;) {
        std::shared_ptr<Request> request;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty() || !fits(*waiting_.front())) {
                return;
            }
            request = std::move(waiting_.front());
            waiting_.pop_front();
            for (const Need &need : request->needs) {
                in_use_[need.place] += need.size;
            }
        }
        make_all(*request);
        continuations_->post_or_run([request] {
            request->granted(std::move(request->leases), request->result, request->text);
        });
    }
}

void StagingPool::make_all(Request &request) {
    try {
        for (const Need &need : request.needs) {
            request.leases.push_back(make(need));
        }
        return;
    } catch (const Error &error) {
        request.result = error.code();
        request.text = error.what();
    } catch (const std::exception &error) {
        request.result = PI_ERROR_OUT_OF_HOST_MEMORY;
        request.text = error.what();
    }
    request.text.insert(0, "staging memory: ");
    {
        const std::lock_guard lock(mutex_);
        for (size_t missing = request.leases.size(); missing < request.needs.size(); ++missing) {
            in_use_[request.needs[missing].place] -= request.needs[missing].size;
        }
    }
    request.leases.clear();
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
