// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's entry points, named as in pi.h. Those that plugin.cpp's table uses are defined.
#pragma once

#include <pi/pi_plugin.h>

#include <type_traits>

namespace pi::opencl::entries {

#define PI_FUNCTION(name, group, needs, since) std::remove_pointer_t<decltype(&::name)> name;
#include <pi/pi_functions.def>

} // namespace pi::opencl::entries
