// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between a device and unpinned host memory. The driver's own block the calling thread.
// These use two pinned blocks in turn, so that host and device copy at the same time, on a thread
// that may wait. Large copies use several threads, since one alone cannot saturate a fast link.
#pragma once

#include "image.hpp"
#include "primary.hpp"

#include <pi/sdk/region.hpp>

namespace pi::cuda {

enum class Direction { TO_DEVICE, TO_HOST };

/// The device's end: an address, or an image, whose pixels count as one after another.
struct DeviceEnd {
    DeviceEnd(CUdeviceptr begin) : address(begin) {}
    DeviceEnd(const Image &whole) : image(&whole) {}
    CUdeviceptr address = 0;
    const Image *image = nullptr;
};

/// Copies the bytes of the regions; their device offsets are relative to `device`, their host
/// offsets to `host`. Returns when the copy is complete. All dependencies must be complete.
void transfer(Primary &primary, Direction direction, DeviceEnd device, std::byte *host,
              const sdk::Regions &regions);

/// Whether the driver knows the range as pinned, so that it can be copied in a stream.
bool is_pinned(const Api &api, const void *begin, uint64_t size);

} // namespace pi::cuda
