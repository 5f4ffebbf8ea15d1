// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cases of conformance/cases/plugin, as tests of the area "case".
#pragma once

#include "registry.hpp"

#include <vector>

namespace pi::suite {

/// A test for each case, by its title.
std::vector<ConformanceTest> case_tests();

} // namespace pi::suite
