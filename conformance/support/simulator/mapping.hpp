// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace pi::drivers {

/// What fresh memory holds, each byte.
constexpr unsigned char poison = 0xcb;

/// A range that the driver maps and unmaps.
class Mapping {
public:
    Mapping() = default;
    /// Anonymous pages; `reserve` makes them unreachable. Throws std::bad_alloc.
    Mapping(std::size_t size, bool reserve);
    Mapping(const Mapping &) = delete;
    Mapping(Mapping &&other) noexcept;
    Mapping &operator=(Mapping &&other) noexcept;
    ~Mapping();

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
