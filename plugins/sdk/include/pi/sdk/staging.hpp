// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Staging: blocks of pinned host memory, sized in powers of two, which are kept for reuse.
//
// The `Owner` of the vendor's pinned memory has
//   StagingPool<Owner> &staging()
//   std::byte *allocate_staging(uint64_t size)      throws
//   void free_staging(std::byte *begin) noexcept
#pragma once

#include <pi/sdk/bytes.hpp>
#include <pi/sdk/error.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace pi::sdk {

/// The free blocks of an owner. Thread-safe.
template <class Owner>
class StagingPool {
public:
    static uint64_t size_of(unsigned size_class) { return uint64_t{1} << size_class; }
    static unsigned class_of(uint64_t size) {
        constexpr unsigned smallest = 12;
        return std::max(smallest, static_cast<unsigned>(std::bit_width(size - 1)));
    }

    std::byte *take(Owner &owner, unsigned size_class) {
        constexpr unsigned largest = 46;
        {
            std::lock_guard lock(mutex_);
            std::vector<std::byte *> &free = free_[size_class];
            if (!free.empty()) {
                std::byte *const begin = free.back();
                free.pop_back();
                free_bytes_ -= size_of(size_class);
                return begin;
            }
        }
        if (size_class > largest)
            fail(PI_ERROR_OUT_OF_HOST_MEMORY, "cannot allocate ", Bytes(size_of(size_class)),
                 " of pinned memory");
        return owner.allocate_staging(size_of(size_class));
    }
    void give(Owner &owner, std::byte *begin, unsigned size_class) noexcept {
        constexpr uint64_t max_free_bytes = uint64_t{64} << 20;
        try {
            std::lock_guard lock(mutex_);
            if (free_bytes_ + size_of(size_class) <= max_free_bytes) {
                free_[size_class].push_back(begin);
                free_bytes_ += size_of(size_class);
                return;
            }
        } catch (...) {
        }
        owner.free_staging(begin);
    }
    /// Calls free(begin) for each free block. No block is taken after it.
    template <class Free>
    void clear(Free &&free) {
        for (const auto &[size_class, blocks] : free_)
            for (std::byte *block : blocks)
                free(block);
        free_.clear();
    }

private:
    std::mutex mutex_; ///< guards the members below
    std::map<unsigned, std::vector<std::byte *>> free_;
    uint64_t free_bytes_ = 0;
};

/// One block, returned to its pool by the destructor.
template <class Owner>
class Staging {
public:
    Staging() = default;
    Staging(Owner &owner, uint64_t size)
        : owner_(&owner), size_class_(StagingPool<Owner>::class_of(size)),
          begin_(owner.staging().take(owner, size_class_)) {}
    Staging(Staging &&other) noexcept
        : owner_(other.owner_), size_class_(other.size_class_),
          begin_(std::exchange(other.begin_, nullptr)) {}
    Staging &operator=(Staging &&other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(size_class_, other.size_class_);
        std::swap(begin_, other.begin_);
        return *this;
    }
    ~Staging() {
        if (begin_)
            owner_->staging().give(*owner_, begin_, size_class_);
    }
    std::byte *begin() const { return begin_; }
    explicit operator bool() const { return begin_ != nullptr; }

private:
    Owner *owner_ = nullptr;
    unsigned size_class_ = 0;
    std::byte *begin_ = nullptr;
};

} // namespace pi::sdk
