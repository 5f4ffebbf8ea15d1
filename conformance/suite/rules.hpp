// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sentences of pi.h that each test holds a plugin to: conformance/rules.md, which is embedded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pi::suite {

/// The sentences that name a test, by its id: "piMemFlush: Both are synchronous, ..." They are empty
/// for a test that rules.md does not name.
std::vector<std::string> rules_of(std::string_view test);

/// The same for a given text of rules.md.
std::vector<std::string> rules_of(std::string_view test, std::string_view rules);

} // namespace pi::suite
