// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills of regions by the driver: ranges, and boxes of rows and slices.
#pragma once

#include "image.hpp"
#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::cuda {

/// One end of a copy that the driver does by itself: device memory; pinned host memory, whose
/// address is valid on all devices that may use it; or an image, which has no address. Offsets
/// count from the address, or as if the image's pixels lay one after another.
struct End {
    CUdeviceptr address;
    /// The primary context of device memory; NULL for host memory.
    Primary *owner = nullptr;
    /// The host pointer of host memory; else NULL.
    std::byte *host = nullptr;
    const Image *image = nullptr;
    /// Only its own context reaches it: copies from elsewhere must name that context.
    bool granted_apart = false;
};

/// A copy of rows and slices within one context; `from` and `to` have equal shapes.
CUDA_MEMCPY3D box_copy(const End &src, const sdk::Rectangle &from, const End &dst,
                       const sdk::Rectangle &to);

/// Adds the copies of the regions to the stream. Memory of a device to which the submission's
/// context has no access is copied by the driver's copies between contexts.
void copy_regions(Submission &submission, const End &src, const End &dst,
                  const sdk::Regions &regions);

/// Paints a part of an image, whose bytes lie at `pixels`. `strip` has `size` bytes of its pixels,
/// a whole number of them.
void paint(Submission &submission, const End &image, const sdk::Rectangle &pixels, const End &strip,
           uint64_t size);

/// Copies within an image of the submission's context, part by part through `size` bytes of the
/// memory `between`, a whole number of pixels.
void copy_within(Submission &submission, const End &image, const sdk::Regions &regions,
                 const End &between, uint64_t size);

/// The number of bytes after which a pattern repeats: 1 to its size.
uint64_t period(const std::vector<std::byte> &pattern);

/// Fills rows of one slice, at offsets from the address, with a pattern of 1 to 128 bytes (a power
/// of two). Each row has a whole number of the pattern's periods.
void fill(Submission &submission, CUdeviceptr address, const sdk::Rectangle &rows,
          const std::vector<std::byte> &pattern);

} // namespace pi::cuda
