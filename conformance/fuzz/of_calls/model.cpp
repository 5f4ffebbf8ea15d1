// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model.hpp"

#include <algorithm>

namespace pi::fuzz {
namespace {

/// Where a row of a slice begins.
uint64_t place_of(const pi_region &region, const Side &side, uint64_t slice, uint64_t row) {
    const uint64_t row_pitch = side.pitch[0] != 0 ? side.pitch[0] : region.extent[0];
    const uint64_t slice_pitch =
        side.pitch[1] != 0 ? side.pitch[1] : row_pitch * std::max<uint64_t>(1, region.extent[1]);
    return side.offset + slice * slice_pitch + row * row_pitch;
}

} // namespace

Side source_of(const pi_region &region) {
    return {region.src_offset, {region.src_pitch[0], region.src_pitch[1]}};
}
Side destination_of(const pi_region &region) {
    return {region.dst_offset, {region.dst_pitch[0], region.dst_pitch[1]}};
}

bool end_of(const pi_region &region, const Side &side, uint64_t &end) {
    const uint64_t row = region.extent[0];
    const uint64_t rows = std::max<uint64_t>(1, region.extent[1]);
    const uint64_t slices = std::max<uint64_t>(1, region.extent[2]);
    const uint64_t row_pitch = side.pitch[0] != 0 ? side.pitch[0] : row;
    uint64_t slice_pitch = side.pitch[1], whole_rows = 0, whole_slices = 0;
    if (slice_pitch == 0 && __builtin_mul_overflow(rows, row_pitch, &slice_pitch)) {
        return false;
    }
    return !__builtin_mul_overflow(rows - 1, row_pitch, &whole_rows) &&
           !__builtin_mul_overflow(slices - 1, slice_pitch, &whole_slices) &&
           !__builtin_add_overflow(whole_rows, whole_slices, &end) &&
           !__builtin_add_overflow(end, row, &end) &&
           !__builtin_add_overflow(end, side.offset, &end);
}

void move_bytes(const pi_region &region, const uint8_t *from, uint8_t *to) {
    for (uint64_t slice = 0; slice < std::max<uint64_t>(1, region.extent[2]); ++slice) {
        for (uint64_t row = 0; row < std::max<uint64_t>(1, region.extent[1]); ++row) {
            std::copy_n(from + place_of(region, source_of(region), slice, row), region.extent[0],
                        to + place_of(region, destination_of(region), slice, row));
        }
    }
}

bool is_row(const pi_region &region) {
    return region.extent[0] != 0 && region.extent[1] == 0 && region.extent[2] == 0 &&
           region.src_pitch[0] == 0 && region.src_pitch[1] == 0 && region.dst_pitch[0] == 0 &&
           region.dst_pitch[1] == 0 && region.reserved == 0;
}

void check_bytes(const Bytes &bytes, const uint8_t *expected, const char *what) {
    for (size_t byte = 0; byte < bytes.size(); ++byte) {
        if (bytes[byte] != expected[byte]) {
            finding("byte ", byte, " of the ", bytes.size(), " of ", what, " is ", int{bytes[byte]},
                    ", not ", int{expected[byte]});
        }
    }
}

Token::~Token() {
    if (event != nullptr) {
        must(piEventRelease(event), "piEventRelease");
    }
}

} // namespace pi::fuzz
