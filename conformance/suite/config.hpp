// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pi::suite {

/// What a command that runs this program as it runs now needs in its environment, names and values:
/// LD_PRELOAD, and with it, for a plugin that is built with a sanitizer, the options of that.
/// Nothing where LD_PRELOAD is not set.
std::vector<std::pair<std::string, std::string>> preloaded();

/// What a test has given to a second process of itself, or "" in the first one; and the variable
/// that it is given in.
inline constexpr const char *second_process_variable = "CONFORMANCE_SECOND_PROCESS";
std::string given_to_second_process();

} // namespace pi::suite
