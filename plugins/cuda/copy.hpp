// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions in the driver's terms: ranges, and boxes of rows and slices.
#pragma once

#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::cuda {

/// One end of a copy that the driver does by itself: memory of a device, or pinned memory of the host. Its address is
/// the same for all that may use it.
struct End {
    CUdeviceptr address;
    /// The primary context that a device's memory is of; NULL for the host's.
    Primary *owner = nullptr;
    /// The host's pointer, if it is the host's memory.
    std::byte *host = nullptr;
};

/// Puts the copies of the regions into the stream. What is of a device that the submission's context has no access to
/// goes by the driver's copies between contexts.
void copy_regions(Submission &submission, const End &src, const End &dst,
                  const sdk::Regions &regions);

/// Fills a range with a pattern of 1 to 128 bytes, a power of two of which `size` is a multiple.
void fill(Submission &submission, CUdeviceptr address, uint64_t size,
          const std::vector<std::byte> &pattern);

} // namespace pi::cuda
