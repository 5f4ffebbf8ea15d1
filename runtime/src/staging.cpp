// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "staging.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <new>

namespace pi::runtime {

void HostBytes::Free::operator()(std::byte *bytes) const noexcept {
    std::free(bytes);
}

HostBytes::HostBytes(uint64_t size, uint64_t alignment) {
    alignment = std::max<uint64_t>(alignment, alignof(std::max_align_t));
    if (size > UINT64_MAX - alignment) {
        throw Error(PI_ERROR_INVALID_SIZE, "host memory of " + std::to_string(size) +
                                               " bytes overflows when aligned to " +
                                               std::to_string(alignment));
    }
    size_ = (size + alignment - 1) & ~(alignment - 1);
    bytes_.reset(static_cast<std::byte *>(std::aligned_alloc(alignment, size_)));
    if (bytes_ == nullptr) {
        throw Error(PI_ERROR_OUT_OF_HOST_MEMORY,
                    "host memory: " + std::to_string(size_) + " bytes asked, none given");
    }
}

StagingPool::Lease::~Lease() {
    if (pool_ != nullptr) {
        const std::shared_ptr<StagingPool> pool = std::move(pool_);
        pool->give_back(std::move(*this));
    }
}

StagingPool::StagingPool(std::shared_ptr<const Topology> topology,
                         std::shared_ptr<Continuations> continuations, uint64_t limit)
    : topology_(std::move(topology)), continuations_(std::move(continuations)), limit_(limit),
      in_use_(topology_->size()), kept_(topology_->size()), free_(topology_->size()) {}

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
    {
        const std::lock_guard lock(mutex_);
        std::vector<Lease> &free = free_[need.place];
        const auto same = std::find_if(
            free.begin(), free.end(), [&](const Lease &entry) { return entry.size_ == need.size; });
        if (same != free.end()) {
            kept_[need.place] -= same->size_;
            lease.host_ = std::move(same->host_);
            lease.mem_ = std::move(same->mem_);
            std::swap(*same, free.back());
            free.pop_back();
        }
    }
    if (lease.host() == nullptr && lease.mem() == nullptr) {
        if (need.place == host_place) {
            lease.host_ = HostBytes(need.size, alignment_);
        } else {
            pi_mem_buffer_desc desc{};
            desc.struct_size = sizeof desc;
            desc.type = PI_TYPE_MEM_BUFFER_DESC;
            desc.size = need.size;
            check(piMemBufferCreate(topology_->context(need.place), topology_->device(need.place),
                                    &desc, lease.mem_.out()),
                  "piMemBufferCreate");
        }
    }
    lease.pool_ = shared_from_this();
    return lease;
}

void StagingPool::give_back(Lease &&lease) noexcept {
    Lease dropped; // destroyed without the lock
    {
        const std::lock_guard lock(mutex_);
        in_use_[lease.place_] -= lease.size_;
        Lease kept(lease.place_, lease.size_);
        kept.host_ = std::move(lease.host_);
        kept.mem_ = std::move(lease.mem_);
        if (kept_[lease.place_] + lease.size_ > limit_) {
            dropped = std::move(kept);
        } else {
            kept_[lease.place_] += lease.size_;
            free_[lease.place_].push_back(std::move(kept));
        }
    }
    serve();
}

} // namespace pi::runtime
