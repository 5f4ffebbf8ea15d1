// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes that a command reads or writes.
#pragma once

#include <pi/pi_plugin.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pi::loader::race {

/// The unit of a storage's ranges: bytes, pixels as a Grid numbers them, or host addresses.
enum class Unit { byte, pixel, address };

/// Separate memory: a root buffer, an image, a USM allocation, a variable, or host memory, which is
/// one storage. It is identified by its address here, so a later object with the same handle is
/// another storage.
struct Storage {
    std::string name; ///< "mem 0x55..", "USM memory 0x7f.."
    Unit unit;
};

struct Range {
    uint64_t begin;
    uint64_t end;
};

/// Disjoint ranges in ascending order. Of very many rows only the first are examined: a race may be
/// missed, but none is invented.
class Ranges {
public:
    static constexpr std::size_t most = 1024;

    void add(uint64_t begin, uint64_t size) {
        const uint64_t end = begin + std::min(size, std::numeric_limits<uint64_t>::max() - begin);
        if (!list_.empty() && list_.back().end == begin)
            list_.back().end = end;
        else if (size != 0 && list_.size() < most)
            list_.push_back({begin, end});
    }
    /// Adds the rows of a rectangle; pitches of 0 are dense.
    void add_rows(uint64_t begin, const uint64_t extent[3], uint64_t row_pitch,
                  uint64_t slice_pitch) {
        const uint64_t rows = std::max<uint64_t>(extent[1], 1);
        const uint64_t slices = std::max<uint64_t>(extent[2], 1);
        const uint64_t row = row_pitch != 0 ? row_pitch : extent[0];
        const uint64_t slice = slice_pitch != 0 ? slice_pitch : row * rows;
        for (uint64_t z = 0; z < slices && list_.size() < most; ++z) {
            for (uint64_t y = 0; y < rows && list_.size() < most; ++y)
                add(begin + z * slice + y * row, extent[0]);
        }
    }
    /// Shifts the ranges into the storage that contains the memory.
    void move(uint64_t offset) noexcept {
        for (Range &range : list_) {
            range.begin += offset;
            range.end += offset;
        }
    }
    /// Call it after ranges were added in any order.
    void sort() {
        std::sort(list_.begin(), list_.end(),
                  [](const Range &a, const Range &b) { return a.begin < b.begin; });
    }
    /// The first common range; an empty one if there is none.
    Range overlap(const Ranges &other) const noexcept {
        auto a = list_.begin();
        auto b = other.list_.begin();
        while (a != list_.end() && b != other.list_.end()) {
            const Range both{std::max(a->begin, b->begin), std::min(a->end, b->end)};
            if (both.begin < both.end)
                return both;
            if (a->end < b->end)
                ++a;
            else
                ++b;
        }
        return {0, 0};
    }

private:
    std::vector<Range> list_;
};

/// Numbers an image's pixels row by row, slice by slice, and mip level by mip level, with the size
/// of level 0 for each.
struct Grid {
    uint64_t extent[3] = {}; ///< of the first level

    uint64_t row() const noexcept { return extent[0]; }
    uint64_t slice() const noexcept { return row() * extent[1]; }
    uint64_t pixel(const uint64_t origin[3], uint32_t mip_level) const noexcept {
        return (mip_level * extent[2] + origin[2]) * slice() + origin[1] * row() + origin[0];
    }
};

/// How a command uses bytes. A kernel that receives an address may access anything behind it, or
/// nothing.
enum class Use { reads, writes, may };

/// Whether two commands with these uses of the same bytes certainly conflict.
constexpr bool conflict(Use a, Use b) noexcept {
    return a == Use::writes || b == Use::writes;
}

struct Access {
    std::shared_ptr<const Storage> storage;
    Use use;
    Ranges ranges;
};

/// The memory of a mem handle.
struct Memory {
    std::shared_ptr<const Storage> storage;
    uint64_t offset = 0; ///< into the storage
    uint64_t size = 0;
    bool read_only = false; ///< for kernels
    uint32_t pixel = 0;     ///< of images: bytes
    Grid grid{};            ///< of images
    /// For kernel arguments, by offset and size: the number of leading bytes that no kernel
    /// accesses.
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> leads{};
};

} // namespace pi::loader::race
