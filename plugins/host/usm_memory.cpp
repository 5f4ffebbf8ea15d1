// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm_memory.hpp"

#include "memory.hpp"

#include <pi/sdk/error.hpp>

namespace pi::host {

using sdk::fail;

UsmBlock::~UsmBlock() {
    if (home_)
        home_->give_back(std::move(storage_), bytes_, used_);
}

UsmBlock UsmPoolMemory::take(uint64_t size, uint64_t alignment) {
    count_used(size);
    try {
        if (Idles found = find(size, alignment); !found.empty()) {
            Idle &block = found.front();
            return UsmBlock(shared_from_this(), std::move(block.storage), std::get<1>(block.key),
                            size);
        }
        const uint64_t bytes =
            size > UINT64_MAX - min_alignment ? size : align_up(size, min_alignment);
        return UsmBlock(shared_from_this(), allocate(bytes, alignment), bytes, size);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        used_ -= size;
        throw;
    }
}

void UsmPoolMemory::count_used(uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (limit_ && (size > limit_ || used_ > limit_ - size))
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "the pool's limit is ", limit_, " bytes, ", used_,
             " of them are handed out: ", size, " more asked");
    used_ += size;
}

UsmPoolMemory::Idles UsmPoolMemory::find(uint64_t size, uint64_t alignment) {
    Idles found;
    const std::lock_guard lock(mutex_);
    for (; alignment <= max_alignment; alignment *= 2) {
        const auto entry = by_fit_.lower_bound(Key{alignment, size, 0});
        if (entry == by_fit_.end() || std::get<0>(entry->first) != alignment)
            continue;
        const uint64_t bytes = std::get<1>(entry->first);
        if (bytes / 2 > size && bytes > 2 * min_alignment)
            continue; // most of it would be wasted
        found.splice(found.begin(), idle_, entry->second);
        by_fit_.erase(entry);
        idle_bytes_ -= bytes;
        break;
    }
    return found;
}

Storage UsmPoolMemory::allocate(uint64_t bytes, uint64_t alignment) {
    const auto counted = [&](Storage storage) {
        const std::lock_guard lock(mutex_);
        reserved_ += bytes;
        return storage;
    };
    try {
        return counted(Storage::allocate(device_, bytes, alignment));
    } catch (const sdk::Error &) {
        Idles gone;
        {
            const std::lock_guard lock(mutex_);
            trim(0, gone);
        }
        if (gone.empty())
            throw;
    }
    return counted(Storage::allocate(device_, bytes, alignment));
}

void UsmPoolMemory::give_back(Storage storage, uint64_t bytes, uint64_t used) noexcept {
    Idles gone; // freed without the lock
    const std::lock_guard lock(mutex_);
    used_ -= used;
    if (bytes > threshold_) {
        reserved_ -= bytes;
        return;
    }
    try {
        keep(std::move(storage), bytes);
    } catch (const std::bad_alloc &) {
        reserved_ -= bytes;
    }
    trim(threshold_, gone);
}

void UsmPoolMemory::keep(Storage storage, uint64_t bytes) {
    const Key key{alignment_of(storage.data()), bytes, next_number_++};
    Idles block;
    block.push_back({key, std::move(storage)});
    by_fit_.emplace(key, block.begin());
    idle_.splice(idle_.end(), block);
    idle_bytes_ += bytes;
}

void UsmPoolMemory::trim(uint64_t bytes, Idles &gone) noexcept {
    while (idle_bytes_ > bytes) {
        const Key key = idle_.front().key;
        by_fit_.erase(key);
        idle_bytes_ -= std::get<1>(key);
        reserved_ -= std::get<1>(key);
        gone.splice(gone.end(), idle_, idle_.begin());
    }
}

uint64_t UsmPoolMemory::reserved() const {
    const std::lock_guard lock(mutex_);
    return reserved_;
}

uint64_t UsmPoolMemory::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

pi_usm_pool UsmPoolMemory::handle() const {
    const std::lock_guard lock(mutex_);
    return handle_;
}

void UsmPoolMemory::open(pi_usm_pool handle) {
    const std::lock_guard lock(mutex_);
    handle_ = handle;
}

void UsmPoolMemory::close() noexcept {
    Idles gone;
    const std::lock_guard lock(mutex_);
    handle_ = nullptr;
    threshold_ = 0;
    trim(0, gone);
}

} // namespace pi::host
