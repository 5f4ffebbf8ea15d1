// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: shapes from descriptors, and boxes of pixels.
#pragma once

#include "layers/validate/check.hpp"
#include "layers/validate/regions.hpp"

namespace pi::loader::validate {

/// False for a vendor's own type or format (PI_VENDOR_BIT), whose pixels are unknown here.
bool is_known_image(const pi_mem_image_desc &desc) noexcept;

/// Type, format and extents of a descriptor. The plugin checks its devices' limits. False if it is
/// refused, or unknown.
bool read_shape(Check &check, const pi_mem_image_desc &desc, ImageShape &out) noexcept;

/// The shape of a checked and known descriptor.
ImageShape shape_of(const pi_mem_image_desc &desc) noexcept;

/// The layout of the pixels of host_ptr or of a viewed buffer; PI_ERROR_INVALID_SIZE for impossible
/// pitches.
bool read_pitches(Check &check, const pi_mem_image_desc &desc, const ImageShape &shape,
                  Rectangle &out) noexcept;

/// A part of an image; extents of 0 filled in.
struct Box {
    uint64_t origin[3];
    uint64_t extent[3];
    uint32_t mip_level;
};
bool overlap(const Box &a, const Box &b) noexcept;

/// The names of a box's members.
struct BoxNames {
    const char *origin;
    const char *mip_level;
    const char *memory; ///< "desc->image"
};

/// A box of an image. False if it is refused.
bool read_box(Check &check, const Name &element, const BoxNames &names, const ImageShape &image,
              const uint64_t (&origin)[3], const uint64_t (&extent)[3], uint32_t mip_level,
              Box &out) noexcept;

/// The linear bytes of a box, in host memory or a buffer. False if it is refused.
bool read_linear_end(Check &check, const Name &element, const End &end, const Box &box,
                     const ImageShape &image, uint64_t offset, uint64_t row_pitch,
                     uint64_t slice_pitch, Rectangle &out) noexcept;

} // namespace pi::loader::validate
