// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: what a descriptor says of their shape, and boxes of pixels.
#pragma once

#include "layers/validate/check.hpp"
#include "layers/validate/regions.hpp"

namespace pi::loader::validate {

/// Not of a vendor's own type or format (PI_VENDOR_BIT), of whose pixels nothing is known here.
bool is_known_image(const pi_mem_image_desc &desc) noexcept;

/// Type, format and extents of a descriptor. Devices' limits are the plugin's to check. False if it is refused, or not known.
bool read_shape(Check &check, const pi_mem_image_desc &desc, ImageShape &out) noexcept;

/// The shape of a descriptor that has been checked, and is known.
ImageShape shape_of(const pi_mem_image_desc &desc) noexcept;

/// Where the pixels of host_ptr or of a viewed buffer lie; PI_ERROR_INVALID_SIZE for pitches that cannot be.
bool read_pitches(Check &check, const pi_mem_image_desc &desc, const ImageShape &shape,
                  Rectangle &out) noexcept;

/// A part of an image; extents of 0 filled in.
struct Box {
    uint64_t origin[3];
    uint64_t extent[3];
    uint32_t mip_level;
};
bool overlap(const Box &a, const Box &b) noexcept;

/// The names of a box's words.
struct BoxNames {
    const char *origin;
    const char *mip_level;
    const char *memory; ///< "desc->image"
};

/// A box of an image. False if it is refused.
bool read_box(Check &check, const Name &element, const BoxNames &names, const ImageShape &image,
              const uint64_t (&origin)[3], const uint64_t (&extent)[3], uint32_t mip_level,
              Box &out) noexcept;

/// The bytes beside a box, in host memory or a buffer. False if it is refused.
bool read_linear_end(Check &check, const Name &element, const End &end, const Box &box,
                     const ImageShape &image, uint64_t offset, uint64_t row_pitch,
                     uint64_t slice_pitch, Rectangle &out) noexcept;

} // namespace pi::loader::validate
