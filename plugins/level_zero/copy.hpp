// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills of regions by the driver: ranges, and boxes of rows and slices.
#pragma once

#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::level_zero {

class Image;

/// One end of a copy. Offsets count from the address, or as if an image's pixels lay one after
/// another.
struct End {
    std::byte *address;
    /// The place of the driver's memory; NULL for the application's, which any device can copy.
    Place *place = nullptr;
    bool host = false; ///< host memory
    const Image *image = nullptr;
};

/// One of the driver's copies, in bytes, rows, slices and their pitches.
void append_box(Submission &submission, const End &src, const sdk::Rectangle &from, const End &dst,
                const sdk::Rectangle &to);

/// Appends the copies of the regions to the list. The submission's place can use both ends; the
/// source may be of another context of the driver.
void append_regions(Submission &submission, const End &src, const End &dst,
                    const sdk::Regions &regions);

/// Fills a range with a pattern that the place's driver supports.
void append_fill(Submission &submission, std::byte *address, uint64_t size,
                 const std::vector<std::byte> &pattern);

/// The same with a longer pattern. `strip` is host memory full of the pattern, which must stay
/// valid until the command completes.
void append_fill_from(const std::vector<std::byte> &strip, Submission &submission,
                      std::byte *address, uint64_t size);
std::vector<std::byte> make_strip(uint64_t size, const std::vector<std::byte> &pattern);

} // namespace pi::level_zero
