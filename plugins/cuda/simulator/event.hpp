// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <chrono>

namespace pi::cuda::simulated {

/// One cuEventRecord. A later one makes a new record, so that waits for this one are unaffected.
struct Record {
    Point point;
    std::chrono::steady_clock::time_point time;
};

struct Event {
    CUevent handle = nullptr;
    std::shared_ptr<Context> context;
    unsigned flags = 0;
    std::shared_ptr<Record> record; ///< null before the first
};

} // namespace pi::cuda::simulated
