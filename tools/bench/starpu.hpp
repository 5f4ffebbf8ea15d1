// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "session.hpp"

#include <cstdint>
#include <string>

namespace pi_bench {

/// A row that has the same done by StarPU on two OpenCL devices, in a process of its own: `bytes` used in
/// turn at both. `ours` does so many rounds, and moves no bytes. Where PI was built without StarPU, or it
/// finds no two devices, the row is left out.
void compare_with_starpu(Session &session, const std::string &name, uint64_t bytes,
                         const Batch &ours);

} // namespace pi_bench
