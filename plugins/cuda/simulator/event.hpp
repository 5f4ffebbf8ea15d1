// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <chrono>

namespace pi::cuda::simulated {

/// One cuEventRecord; a later one makes a new record, and whoever waits for this one is not disturbed.
struct Record {
    Point point;
    std::chrono::steady_clock::time_point time;
};

struct Event {
    CUevent handle = nullptr;
    std::shared_ptr<Context> context;
    unsigned flags = 0;
    std::shared_ptr<Record> record; ///< none yet: null
};

} // namespace pi::cuda::simulated
