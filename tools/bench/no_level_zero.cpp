// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces plugin_level_zero.cpp if the headers of Level Zero are missing.
#include "session.hpp"

namespace pi_bench {

void bench_level_zero(Session &session) {
    session.skip("Level Zero", "pi-bench was built without the headers of Level Zero");
}

} // namespace pi_bench
