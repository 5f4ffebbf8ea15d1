// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Anonymous pages by mmap.
#pragma once

#include <pi/sdk/address.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

namespace pi::sdk {

/// A mapping, unmapped by the destructor.
class MmapRegion {
public:
    MmapRegion() = default;
    MmapRegion(void *begin, uint64_t size) : begin_(static_cast<std::byte *>(begin)), size_(size) {}
    MmapRegion(MmapRegion &&other) noexcept
        : begin_(std::exchange(other.begin_, nullptr)), size_(other.size_) {}
    MmapRegion &operator=(MmapRegion other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~MmapRegion() {
        if (begin_)
            munmap(begin_, size_);
    }

    std::byte *begin() const { return begin_; }
    uint64_t size() const { return size_; }
    explicit operator bool() const { return begin_ != nullptr; }

private:
    std::byte *begin_ = nullptr;
    uint64_t size_ = 0;
};

/// Maps fresh zeroed pages that begin at a multiple of `alignment`, a power of two. Empty if the
/// system has none, with the reason in errno. `flags` are added to mmap's: MAP_NORESERVE reserves
/// addresses only.
inline MmapRegion map_pages(uint64_t size, uint64_t alignment, int flags = 0) {
    const auto page_size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    alignment = std::max(alignment, page_size);
    uint64_t room = 0;
    if (__builtin_add_overflow(size, alignment, &room) || room > SIZE_MAX - page_size) {
        errno = ENOMEM;
        return {};
    }
    size = align_up(size, page_size);
    room = size + alignment - page_size;
    void *pages =
        mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (pages == MAP_FAILED)
        return {};
    const auto from = reinterpret_cast<uintptr_t>(pages);
    const uintptr_t begin = align_up(from, alignment);
    const MmapRegion before(begin > from ? pages : nullptr, begin - from);
    const uintptr_t end = begin + size;
    const MmapRegion behind(from + room > end ? reinterpret_cast<void *>(end) : nullptr,
                            from + room - end);
    return {reinterpret_cast<void *>(begin), size};
}

} // namespace pi::sdk
