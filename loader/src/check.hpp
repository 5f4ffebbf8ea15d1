// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plugin's description must be, checked before anything of it is used. Each function returns
// "" or a sentence that says what is wrong.
#pragma once

#include "functions.hpp"

#include <span>
#include <string>

namespace pi::loader {

/// Major versions must be equal, and so must drafts. `minor` receives the minor version that counts: the smaller one, and
/// below that of a draft for a plugin of a later version.
std::string check_version(const pi_plugin_desc &desc, uint16_t &minor);

/// Copies the plugin's slots into `table`, whatever the size of its own table; slots beyond that or
/// newer than `minor`, by what `rows` say of them, become NULL.
std::string read_table(const pi_plugin_desc &desc, uint16_t minor, pi_dispatch &table,
                       std::span<const FunctionRow> rows = function_rows);

/// Required slots are there; each group is whole or absent and its capability bit says so.
std::string check_slots(const pi_plugin_desc &desc, uint16_t minor, const pi_dispatch &table);

/// The name, the teardown function, and the instance handle, which must carry `outermost`.
std::string check_instance(const pi_plugin_desc &desc, const pi_dispatch *outermost);

} // namespace pi::loader
