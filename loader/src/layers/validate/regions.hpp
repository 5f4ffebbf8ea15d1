// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rectangles of bytes: the checks of a command's regions.
//
// The sdk has the same arithmetic. It is not shared on purpose: the loader includes only the api,
// which has no code; and the layer is a second opinion that an error in the sdk must not silence.
#pragma once

#include "layers/validate/check.hpp"

namespace pi::loader::validate {

/// One end of a region with the defaults filled in.
struct Rectangle {
    uint64_t offset = 0;
    uint64_t row = 0; ///< bytes
    uint64_t rows = 1;
    uint64_t slices = 1;
    uint64_t row_pitch = 0;
    uint64_t slice_pitch = 0;

    /// The end of the last byte, and the begin of a row, counted through all slices. For checked
    /// rectangles.
    uint64_t end() const noexcept {
        return offset + (slices - 1) * slice_pitch + (rows - 1) * row_pitch + row;
    }
    uint64_t begin_of(uint64_t index) const noexcept {
        return offset + index / rows * slice_pitch + index % rows * row_pitch;
    }
    uint64_t all_rows() const noexcept { return rows * slices; }
};

inline Rectangle range_of(uint64_t offset, uint64_t size) noexcept {
    return {offset, size, 1, 1, size, size};
}

/// Whether two checked rectangles of one memory overlap.
bool overlap(const Rectangle &a, const Rectangle &b) noexcept;

/// The names of an end's members, and the memory that contains it.
struct End {
    const char *offset;      ///< the member: "src_offset"
    const char *row_pitch;   ///< "src_pitch"
    const char *slice_pitch; ///< the same, if pitches are an array
    bool pitch_array;
    const char *memory; ///< the argument: "desc->src"
    const char *extent = "extent";
};

/// Fills in the defaults of an end, and refuses wrong pitches and sizes above 64 bits. `extent`:
/// bytes, rows, slices. False if it is refused.
bool read_rectangle(Check &check, const Name &element, const End &end, uint64_t offset,
                    const uint64_t (&extent)[3], uint64_t row_pitch, uint64_t slice_pitch,
                    Rectangle &out) noexcept;

/// PI_ERROR_INVALID_SIZE unless it ends within `size` bytes.
void check_within(Check &check, const Name &element, const End &end, const Rectangle &rectangle,
                  uint64_t size) noexcept;
/// The same for memory at an address, which ends with the address space.
void check_addressable(Check &check, const Name &element, const End &end,
                       const Rectangle &rectangle, const void *begin) noexcept;

/// Facts about an end of a command on regions.
struct RegionEnd {
    const End &names;
    const void *address; ///< of plain memory; nullptr: only the size is known
    uint64_t size;       ///< UINT64_MAX: unknown
    uint64_t storage;    ///< ends of one storage may overlap; 0: shared with no other end
    uint64_t offset;     ///< into the storage
};
/// The storage of memory that is known by its addresses.
inline constexpr uint64_t address_space = UINT64_MAX;

/// Checks regions of bytes: count, members, both ends, overlap of each region's ends, and of two in
/// the destination.
void check_regions(Check &check, uint32_t count, const pi_region *regions, const RegionEnd &src,
                   const RegionEnd &dst) noexcept;

/// The destinations of one command must not overlap; of very many only the first are compared.
class Destinations {
public:
    void add(Check &check, uint32_t index, const Rectangle &rectangle) noexcept;

private:
    static constexpr uint32_t most = 32;
    Rectangle seen_[most];
    uint32_t count_ = 0;
};

} // namespace pi::loader::validate
