// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of regions with an image at one end at least.
#pragma once

#include "copy.hpp"

namespace pi::level_zero {

/// The part of append_box() for images. `whole`: the copy is the submission's only one.
void append_pixels(Submission &submission, bool whole, const End &src, const sdk::Rectangle &from,
                   const End &dst, const sdk::Rectangle &to);

} // namespace pi::level_zero
