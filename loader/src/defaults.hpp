// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands in the slots that a plugin leaves empty.
#pragma once

#include <pi/pi_plugin.h>

namespace pi::loader {

/// Fills every empty slot: with the default of its row in pi_functions.def where there is one, else
/// with a function that answers PI_ERROR_UNSUPPORTED_FEATURE and says which function of which plugin.
void fill_defaults(pi_dispatch &table) noexcept;

/// Every function of the table refuses, as of an object that came from the process that this one was forked from.
void refuse_after_fork(pi_dispatch &table) noexcept;

} // namespace pi::loader
