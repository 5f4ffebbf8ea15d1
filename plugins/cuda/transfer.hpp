// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes between a device and memory of the host that is not pinned. The driver's own way for them makes the calling
// thread wait for the stream; this one goes through two pinned blocks in turn, so that the host copies while the device
// does, on a thread that may wait. Large ones do so on several threads at a time, since one alone cannot feed a fast link.
#pragma once

#include "image.hpp"
#include "primary.hpp"

#include <pi/sdk/region.hpp>

namespace pi::cuda {

enum class Direction { TO_DEVICE, TO_HOST };

/// The end of a device: an address, or an image, whose pixels lie one after another for the regions.
struct DeviceEnd {
    DeviceEnd(CUdeviceptr begin) : address(begin) {}
    DeviceEnd(const Image &whole) : image(&whole) {}
    CUdeviceptr address = 0;
    const Image *image = nullptr;
};

/// Moves the bytes of the regions, whose device's end lies behind `device` and whose host's end behind `host`. Returns
/// when they have arrived. Nothing before it may be under way.
void transfer(Primary &primary, Direction direction, DeviceEnd device, std::byte *host,
              const sdk::Regions &regions);

/// Whether the driver knows the range of the host's memory as pinned, so that it can be copied in a stream.
bool is_pinned(const Api &api, const void *begin, uint64_t size);

} // namespace pi::cuda
