// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of pi.h for calls that a person writes: names, parameters, and short verbs.
#pragma once

#include <pi/pi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi_run {

struct Parameter {
    enum class Kind { handle, number, text, descriptor, list, made, output, address, mark };
    std::string_view name;
    Kind kind;
    pi_kind object; ///< of a handle, a list of handles, or what is made; else 0
};

/// Of the function in that row of pi_functions.def.
const std::vector<Parameter> &parameters_of(std::size_t index);

/// The row of a function: "piMemBufferCreate", "MemBufferCreate", "MemBufferCopy" (a command), or a
/// verb ("buffer", "copy"). Empty: there is none.
std::optional<std::size_t> find_function(std::string_view verb);
/// The row of the function that releases an object; empty: the kind has no references.
std::optional<std::size_t> releasing_function(pi_kind object);
/// The shortest way to write it.
std::string verb_of(std::size_t index);
/// All short verbs, in the order of the grammar's page.
std::vector<std::string_view> short_verbs();

} // namespace pi_run
