// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stream.hpp"

#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace pi::cuda::simulated {

struct Device;

struct Context {
    CUcontext handle = nullptr;
    Device *device = nullptr;
    unsigned flags = 0;
    bool alive = true;
    /// The first error of its work: later calls on the context return it.
    CUresult error = CUDA_SUCCESS;
    std::set<CUcontext> peers; ///< contexts whose memory it may use
    std::map<int, size_t> limits;

    std::shared_ptr<Stream> legacy;
    std::map<std::thread::id, std::shared_ptr<Stream>> per_thread;
    std::vector<std::weak_ptr<Stream>> streams; ///< all of them
    std::vector<Point> tails;                   ///< of streams destroyed with pending work
};

/// All work submitted to the context so far.
std::vector<Point> work_of(const Context &context);

/// Waits for its work and destroys its objects; all but default streams count as leaks.
void destroy_context(const std::shared_ptr<Context> &context, std::unique_lock<std::mutex> &lock);

std::shared_ptr<Context> create_context(Device &device, unsigned flags);

} // namespace pi::cuda::simulated
