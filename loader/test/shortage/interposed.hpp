// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "own_code.hpp"
#include "shortage.hpp"

namespace shortage {

/// Who is short of memory or threads, and when.
extern pi_test::OwnCode own_code;
extern pi_test::Shortage memory;
extern pi_test::Shortage threads;

} // namespace shortage
