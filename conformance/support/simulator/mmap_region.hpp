// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace pi::drivers {

/// The value of each byte of fresh memory.
constexpr unsigned char poison = 0xcb;

/// A range of the process' address space, unmapped by the destructor.
class MmapRegion {
public:
    MmapRegion() = default;
    /// Anonymous pages; with `reserve` without access. Throws std::bad_alloc.
    MmapRegion(std::size_t size, bool reserve);
    MmapRegion(const MmapRegion &) = delete;
    MmapRegion(MmapRegion &&other) noexcept;
    MmapRegion &operator=(MmapRegion &&other) noexcept;
    ~MmapRegion();

    char *bytes() const { return bytes_; }
    /// Keeps the addresses reserved for good: nothing else is mapped there.
    char *release();

private:
    char *bytes_ = nullptr;
    std::size_t size_ = 0;
};

/// Above 64 MiB only both ends are filled: the rest takes no memory until it is used.
void fill_with_poison(char *bytes, std::size_t size);

} // namespace pi::drivers
