// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions with an image at one end at least, in the driver's terms.
#pragma once

#include "copy.hpp"

namespace pi::level_zero {

/// As append_box, of which it is the part for images. `whole`: it is all that the submission has.
void append_pixels(Submission &submission, bool whole, const End &src, const sdk::Rectangle &from,
                   const End &dst, const sdk::Rectangle &to);

} // namespace pi::level_zero
