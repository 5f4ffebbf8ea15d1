// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's entries, with their names in pi.h. Only those in the table of plugin.cpp are
// defined.
#pragma once

#include <pi/pi_plugin.h>

#include <type_traits>

namespace pi::sim::entries {

#define PI_FUNCTION(name, group, needs, since) std::remove_pointer_t<decltype(&::name)> name;
#include <pi/pi_functions.def>

} // namespace pi::sim::entries
