// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images and views of buffers as images. The driver lays an image's pixels out as it likes; a view's are the buffer's
// bytes.
#pragma once

#include "memory.hpp"

namespace pi::opencl {

/// PI_ERROR_UNSUPPORTED_FEATURE unless the device has images.
void require_images(const Device &device);

/// The multiples of bytes at which views of a buffer may begin, and at which the rows of 2-D ones do.
/// PI_ERROR_UNSUPPORTED_FEATURE where they begin at the buffer's begin only, or there are no 2-D ones.
uint64_t view_offset_alignment(const Device &device);
uint64_t view_pitch_alignment(const Device &device);

/// Pitches of pixels in memory as the vendor takes them: 0 where the type has no such step.
struct VendorPitches {
    size_t row, slice;
};
VendorPitches vendor_pitches(const sdk::ImageType &type, const sdk::Rectangle &bytes);

/// PI_ERROR_INVALID_MEM_OBJECT unless commands of the device's queues may name images.
void require_image_device(const Device &device, const sdk::ArgumentName &name);
/// An image of the context for a command of the device. PI_ERROR_INVALID_MEM_OBJECT.
Mem &checked_image(const Context &context, const Device &device, pi_mem mem,
                   const sdk::ArgumentName &name);

} // namespace pi::opencl
