// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sentences of pi.h that each test holds a plugin to: conformance/rules.md, which is embedded.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pi::suite {

/// "piMemFlush: Both are synchronous, ..."
using Rules = std::vector<std::string>;

/// The sentences of a text of rules.md, by the tests that it names under them.
std::map<std::string, Rules, std::less<>> rules_by_test(std::string_view rules);

/// Those of conformance/rules.md that name a test, by its id; none if it does not.
const Rules &rules_of(std::string_view test);

} // namespace pi::suite
