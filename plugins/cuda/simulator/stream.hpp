// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "entry_points.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace pi::cuda::simulated {

struct Context;

/// How far a stream has come. Guarded by the driver's lock, as everything here.
struct Timeline {
    std::uint64_t submitted = 0, done = 0;
};

/// "That stream has done so much": what events, waits and the legacy default stream are made of.
struct Point {
    std::shared_ptr<Timeline> line;
    std::uint64_t value = 0;
    bool reached() const { return !line || line->done >= value; }
};

struct Task {
    /// Runs on the stream's thread, without the driver's lock; gets the context's error so far. What it returns
    /// becomes the context's error.
    std::function<CUresult(CUresult)> work;
    std::vector<Point> after;   ///< besides what came before it in the stream
    std::uint64_t ticket = 0;   ///< counts the device's tasks
    bool despite_error = false; ///< runs in a context that an error has spoilt, too
};

/// A queue and the thread that works it off. The thread ends when the stream is closed and empty.
struct Stream {
    CUstream handle = nullptr;
    std::shared_ptr<Context> context;
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    std::shared_ptr<Timeline> timeline = std::make_shared<Timeline>();
    std::deque<Task> tasks;
    bool closed = false, running = false;
    std::minstd_rand delays;

    bool legacy = false; ///< the context's legacy default stream
    bool blocking() const { return !legacy && !(flags & CU_STREAM_NON_BLOCKING); }
    Point end() const { return {timeline, timeline->submitted}; }
};

/// Makes a stream of the context, with its thread.
std::shared_ptr<Stream> open_stream(const std::shared_ptr<Context> &context, unsigned flags,
                                    int priority);

/// Lets its thread end after what was enqueued.
void close_stream(Stream &stream);

/// The stream that a handle means in the current context, default streams included. Throws INVALID_HANDLE.
std::shared_ptr<Stream> stream_of(CUstream handle, const std::shared_ptr<Context> &current);

/// Appends the task, behind what the rules of the legacy default stream say; returns its end.
Point enqueue(Stream &stream, Task task);

} // namespace pi::cuda::simulated
