// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "own_code.hpp"
#include "shortage.hpp"

namespace shortage {

/// Decides which requests for memory or threads fail.
extern pi_test::OwnCode own_code;
extern pi_test::Shortage memory;
extern pi_test::Shortage threads;

} // namespace shortage
