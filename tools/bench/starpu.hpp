// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "session.hpp"

#include <cstdint>
#include <string>

namespace pi_bench {

/// A row in which StarPU does the same on two OpenCL devices, in a separate process: `bytes` used
/// in turn at both. `ours` does that many rounds, and moves no bytes. The row is not measured if PI
/// was built without StarPU, or if StarPU finds fewer than two devices.
void compare_with_starpu(Session &session, const std::string &name, uint64_t bytes,
                         const Batch &ours);

} // namespace pi_bench
