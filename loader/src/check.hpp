// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a plugin's descriptor before any of it is used. Each function returns "" or what is
// wrong.
#pragma once

#include "functions.hpp"

#include <span>
#include <string>

namespace pi::loader {

/// Major versions must be equal, and so must drafts. `minor` receives the effective minor version:
/// the smaller one, and for a draft and a plugin of a later version the one before it.
std::string check_version(const pi_plugin_desc &desc, uint16_t &minor);

/// Copies the plugin's slots into `table`, whatever the size of its own table. Slots that its table
/// lacks, or that `rows` marks as newer than `minor`, become NULL.
std::string read_table(const pi_plugin_desc &desc, uint16_t minor, pi_dispatch &table,
                       std::span<const FunctionRow> rows = function_rows);

/// Required slots are present; each group is complete or absent, as its capability bit says.
std::string check_slots(const pi_plugin_desc &desc, uint16_t minor, const pi_dispatch &table);

/// The name, the teardown function, and the instance handle, whose dispatch must be `outermost`.
std::string check_instance(const pi_plugin_desc &desc, const pi_dispatch *outermost);

} // namespace pi::loader
