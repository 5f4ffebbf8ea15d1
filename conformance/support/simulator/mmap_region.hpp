// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace pi::drivers {

/// What fresh memory holds, each byte.
constexpr unsigned char poison = 0xcb;

/// A range that the driver maps and unmaps.
class MmapRegion {
public:
    MmapRegion() = default;
    /// Anonymous pages; `reserve` makes them unreachable. Throws std::bad_alloc.
    MmapRegion(std::size_t size, bool reserve);
    MmapRegion(const MmapRegion &) = delete;
    MmapRegion(MmapRegion &&other) noexcept;
    MmapRegion &operator=(MmapRegion &&other) noexcept;
    ~MmapRegion();

    char *bytes() const { return bytes_; }
    /// Keeps the addresses for good: nobody else is given them.
    char *release();

private:
    char *bytes_ = nullptr;
    std::size_t size_ = 0;
};

/// Of memory above 64 MiB only both ends: the rest takes no pages of the real machine until it is used.
void fill_with_poison(char *bytes, std::size_t size);

} // namespace pi::drivers
