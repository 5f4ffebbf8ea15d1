// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of pi_region's ends, byte by byte and in 128 bits, to compare checks with.
#pragma once

#include <pi/pi.h>

#include <bitset>
#include <optional>
#include <vector>

namespace region_oracle {

__extension__ using Wide = unsigned __int128;

/// One end of a region as a caller gives it.
struct ByteEnd {
    uint64_t offset;
    uint64_t extent[3];
    uint64_t pitch[2];

    /// The offset behind the last byte; nothing if the end is wrong in memory of any size.
    std::optional<Wide> end() const {
        constexpr Wide limit = Wide{1} << 64;
        const Wide row = extent[0];
        const Wide rows = extent[1] != 0 ? extent[1] : 1;
        const Wide slices = extent[2] != 0 ? extent[2] : 1;
        const Wide row_pitch = pitch[0] != 0 ? pitch[0] : row;
        if (row == 0 || row_pitch < row || row_pitch * rows >= limit)
            return {};
        const Wide slice_pitch = pitch[1] != 0 ? pitch[1] : row_pitch * rows;
        if (slice_pitch < row_pitch * rows)
            return {};
        const Wide end = offset + (slices - 1) * slice_pitch + (rows - 1) * row_pitch + row;
        return end < limit ? std::optional(end) : std::nullopt;
    }
    /// The bytes of a small end.
    std::bitset<64> bytes() const {
        std::bitset<64> set;
        const uint64_t rows = extent[1] != 0 ? extent[1] : 1;
        const uint64_t row_pitch = pitch[0] != 0 ? pitch[0] : extent[0];
        const uint64_t slice_pitch = pitch[1] != 0 ? pitch[1] : row_pitch * rows;
        for (uint64_t z = 0; z < (extent[2] != 0 ? extent[2] : 1); ++z)
            for (uint64_t y = 0; y < rows; ++y)
                for (uint64_t x = 0; x < extent[0]; ++x)
                    set.set(offset + z * slice_pitch + y * row_pitch + x);
        return set;
    }
};

/// All small ends that are not wrong, up to byte 51.
inline std::vector<ByteEnd> small_ends() {
    std::vector<ByteEnd> ends;
    for (uint64_t offset = 0; offset < 6; ++offset)
        for (uint64_t row = 1; row <= 3; ++row)
            for (uint64_t rows = 0; rows <= 3; ++rows)
                for (uint64_t slices = 0; slices <= 3; ++slices)
                    for (uint64_t row_gap = 0; row_gap <= 2; ++row_gap)
                        for (uint64_t slice_gap = 0; slice_gap <= 2; ++slice_gap) {
                            const uint64_t slice = (row + row_gap) * (rows != 0 ? rows : 1);
                            // Without a gap also the default.
                            ends.push_back({offset,
                                            {row, rows, slices},
                                            {row_gap != 0 ? row + row_gap : 0,
                                             slice_gap != 0 ? slice + slice_gap : 0}});
                        }
    return ends;
}

/// Calls `visit(end, size)` for all ends and sizes of values next to 0, 2^32, 2^63 and 2^64.
template <typename Visit>
void for_large_ends(Visit &&visit) {
    constexpr uint64_t values[] = {0,
                                   1,
                                   2,
                                   UINT64_C(1) << 32,
                                   (UINT64_C(1) << 32) + 1,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX - 1,
                                   UINT64_MAX};
    for (const uint64_t offset : values)
        for (const uint64_t row : values)
            for (const uint64_t rows : values)
                for (const uint64_t slices : values)
                    for (const uint64_t row_pitch : values)
                        for (const uint64_t slice_pitch : values)
                            for (const uint64_t size : values)
                                visit(
                                    ByteEnd{offset, {row, rows, slices}, {row_pitch, slice_pitch}},
                                    size);
}

} // namespace region_oracle
