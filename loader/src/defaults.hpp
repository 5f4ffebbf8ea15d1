// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions for the slots that a plugin leaves empty.
#pragma once

#include <pi/pi_plugin.h>

namespace pi::loader {

/// Fills every empty slot: with the default of its row in pi_functions.def if it has one, else with
/// a function that returns PI_ERROR_UNSUPPORTED_FEATURE and names the function and the plugin.
void fill_defaults(pi_dispatch &table) noexcept;

/// Makes every function refuse, for objects that were created before this process was forked.
void refuse_after_fork(pi_dispatch &table) noexcept;

} // namespace pi::loader
