// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace pi_info {

/// Whether the user disables colours in all programs: NO_COLOR is set and not empty
/// (https://no-color.org).
bool no_colour_wanted();

} // namespace pi_info
