// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions in the driver's terms: ranges, and boxes of rows and slices.
#pragma once

#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::level_zero {

class Image;

/// One end of a copy. Offsets are from the address, or as if an image's pixels lay one after another.
struct End {
    std::byte *address;
    /// Where memory of the driver's is; NULL for the application's own, which any device copies from and to.
    Place *place = nullptr;
    bool host = false; ///< memory of the host
    const Image *image = nullptr;
};

/// What one of the driver's calls copies: in bytes and rows, slices and their pitches.
void append_box(Submission &submission, const End &src, const sdk::Rectangle &from, const End &dst,
                const sdk::Rectangle &to);

/// Puts the copies of the regions into the list. The submission's place can use both ends; the source may be of another
/// context of the driver.
void append_regions(Submission &submission, const End &src, const End &dst,
                    const sdk::Regions &regions);

/// Fills a range with a pattern that the place's driver takes.
void append_fill(Submission &submission, std::byte *address, uint64_t size,
                 const std::vector<std::byte> &pattern);

/// The same with a longer one, of which there is a strip of the host's, which the driver may read until the end.
void append_fill_from(const std::vector<std::byte> &strip, Submission &submission,
                      std::byte *address, uint64_t size);
std::vector<std::byte> make_strip(uint64_t size, const std::vector<std::byte> &pattern);

} // namespace pi::level_zero
