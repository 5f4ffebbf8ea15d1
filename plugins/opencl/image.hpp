// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images, and views of buffers as images. The driver chooses an image's layout; a view consists of
// the buffer's bytes.
#pragma once

#include "memory.hpp"

namespace pi::opencl {

/// PI_ERROR_UNSUPPORTED_FEATURE unless the device has images.
void require_images(const Device &device);

/// Required alignments, in bytes: of the beginning of a view, and of the row pitch of a 2-D view.
/// PI_ERROR_UNSUPPORTED_FEATURE where views must begin with their buffer, or there are no 2-D
/// views.
uint64_t view_offset_alignment(const Device &device);
uint64_t view_pitch_alignment(const Device &device);

/// Pitches of pixels in memory as the vendor expects them: 0 where the type has no such step.
struct VendorPitches {
    size_t row, slice;
};
VendorPitches vendor_pitches(const sdk::ImageType &type, const sdk::Rectangle &bytes);

/// PI_ERROR_INVALID_MEM_OBJECT unless commands of the device's queues can use images.
void require_image_device(const Device &device, const sdk::ArgumentName &name);
/// The image, checked for a command of the device: else PI_ERROR_INVALID_MEM_OBJECT.
Mem &checked_image(const Context &context, const Device &device, pi_mem mem,
                   const sdk::ArgumentName &name);

} // namespace pi::opencl
