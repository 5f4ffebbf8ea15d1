// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions in the driver's terms: ranges, and boxes of rows and slices.
#pragma once

#include "image.hpp"
#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::cuda {

/// One end of a copy that the driver does by itself: memory of a device, or pinned memory of the host, whose address is
/// the same for all that may use it; or an image, which has none. Offsets are from the address, or as if the image's
/// pixels lay one after another.
struct End {
    CUdeviceptr address;
    /// The primary context that a device's memory is of; NULL for the host's.
    Primary *owner = nullptr;
    /// The host's pointer, if it is the host's memory.
    std::byte *host = nullptr;
    const Image *image = nullptr;
    /// Its own context alone reaches it: peers name that one.
    bool granted_apart = false;
};

/// A copy of rows and slices in one context; `from` and `to` have as many.
CUDA_MEMCPY3D box_copy(const End &src, const sdk::Rectangle &from, const End &dst,
                       const sdk::Rectangle &to);

/// Puts the copies of the regions into the stream. What is of a device that the submission's context has no access to
/// goes by the driver's copies between contexts.
void copy_regions(Submission &submission, const End &src, const End &dst,
                  const sdk::Regions &regions);

/// Paints a part of an image, whose bytes lie at `pixels`: `strip` is memory with `size` bytes of its pixels, a whole number of
/// them.
void paint(Submission &submission, const End &image, const sdk::Rectangle &pixels, const End &strip,
           uint64_t size);

/// Copies within an image of the submission's context, part by part through `size` bytes of memory `between`, a whole number of pixels.
void copy_within(Submission &submission, const End &image, const sdk::Regions &regions,
                 const End &between, uint64_t size);

/// The bytes after which a pattern repeats itself: 1 to its size.
uint64_t period(const std::vector<std::byte> &pattern);

/// Fills rows of one slice, which lie behind the address, with a pattern of 1 to 128 bytes, a power of two. Each row has a
/// whole number of its periods.
void fill(Submission &submission, CUdeviceptr address, const sdk::Rectangle &rows,
          const std::vector<std::byte> &pattern);

} // namespace pi::cuda
