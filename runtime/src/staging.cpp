// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "staging.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <cstdlib>
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

StagingPool::Lease::Lease(std::shared_ptr<StagingPool> pool, HostBytes bytes) noexcept
    : pool_(std::move(pool)), bytes_(std::move(bytes)) {}

StagingPool::Lease::~Lease() {
    if (pool_ != nullptr && bytes_.data() != nullptr) {
        pool_->give_back(std::move(bytes_));
    }
}

StagingPool::Lease StagingPool::take(uint64_t size) {
    {
        const std::lock_guard lock(mutex_);
        // The smallest that is large enough, unless most of it would lie idle.
        auto best = free_.end();
        for (auto entry = free_.begin(); entry != free_.end(); ++entry) {
            if (entry->size() >= size && entry->size() / 4 <= size &&
                (best == free_.end() || entry->size() < best->size())) {
                best = entry;
            }
        }
        if (best != free_.end()) {
            HostBytes bytes = std::move(*best);
            free_.erase(best);
            free_bytes_ -= bytes.size();
            return {shared_from_this(), std::move(bytes)};
        }
    }
    return {shared_from_this(), HostBytes(size, alignment_)};
}

void StagingPool::give_back(HostBytes bytes) {
    const std::lock_guard lock(mutex_);
    if (free_bytes_ + bytes.size() <= keep_bytes_) {
        const uint64_t size = bytes.size();
        try {
            free_.push_back(std::move(bytes));
            free_bytes_ += size;
        } catch (const std::bad_alloc &) {
            // Then it is not kept.
        }
    }
}

} // namespace pi::runtime
