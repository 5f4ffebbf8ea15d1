// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's own functions, by the names of pi.h. Only those that the table in plugin.cpp uses are defined.
#pragma once

#include <pi/pi_plugin.h>

#include <type_traits>

namespace pi::host::entries {

#define PI_FUNCTION(name, group, needs, since) std::remove_pointer_t<decltype(&::name)> name;
#include <pi/pi_functions.def>

} // namespace pi::host::entries
