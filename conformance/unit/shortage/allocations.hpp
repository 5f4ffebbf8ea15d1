// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "own_code.hpp"
#include "shortage.hpp"

namespace shortage {

/// Whose memory is short, and when.
extern pi_test::OwnCode own_code;
extern pi_test::Shortage memory;

} // namespace shortage
