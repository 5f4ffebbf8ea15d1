// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mmap_region.hpp"

#include <cstring>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace pi::drivers {

namespace {

constexpr std::size_t page = 4096;
/// Of larger memory only both ends are poisoned: the rest takes no memory until it is used.
constexpr std::size_t most_poison = std::size_t(64) << 20;

std::size_t whole_pages(std::size_t size) {
    return (size + page - 1) / page * page;
}

} // namespace

MmapRegion::MmapRegion(std::size_t size, bool reserve) : size_(whole_pages(size) + page) {
    // The last page stays without access, so that an overrun faults.
    void *const range =
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        throw std::bad_alloc();
    bytes_ = static_cast<char *>(range);
    if (!reserve && mprotect(bytes_, size_ - page, PROT_READ | PROT_WRITE) != 0) {
        munmap(bytes_, size_);
        throw std::bad_alloc();
    }
}

MmapRegion::MmapRegion(MmapRegion &&other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_) {}

MmapRegion &MmapRegion::operator=(MmapRegion &&other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
}

MmapRegion::~MmapRegion() {
    if (bytes_)
        munmap(bytes_, size_);
}

char *MmapRegion::release() {
    return std::exchange(bytes_, nullptr);
}

void fill_with_poison(char *bytes, std::size_t size) {
    if (size <= most_poison) {
        std::memset(bytes, poison, size);
    } else {
        std::memset(bytes, poison, most_poison / 2);
        std::memset(bytes + size - most_poison / 2, poison, most_poison / 2);
    }
}

} // namespace pi::drivers
