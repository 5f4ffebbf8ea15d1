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

/// A stream's progress. Guarded by the driver's lock, like everything here.
struct Timeline {
    std::uint64_t submitted = 0, done = 0;
};

/// A position in a stream's work: events, waits and the legacy default stream are built from it.
struct Point {
    std::shared_ptr<Timeline> line;
    std::uint64_t value = 0;
    bool reached() const { return !line || line->done >= value; }
};

struct Task {
    /// Runs on the stream's thread, without the driver's lock. Receives the context's error so far;
    /// its result becomes the context's error.
    std::function<CUresult(CUresult)> work;
    std::vector<Point> after;   ///< in addition to earlier tasks of the stream
    std::uint64_t ticket = 0;   ///< counts the device's tasks
    bool despite_error = false; ///< runs even after an error has destroyed the context
};

/// A queue of tasks and the thread that runs them. The thread ends when the stream is closed and
/// empty.
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

/// Creates a stream of the context, with its thread.
std::shared_ptr<Stream> open_stream(const std::shared_ptr<Context> &context, unsigned flags,
                                    int priority);

/// Its thread ends after the tasks that are enqueued.
void close_stream(Stream &stream);

/// The stream that a handle denotes in the current context, including default streams. Throws
/// INVALID_HANDLE.
std::shared_ptr<Stream> stream_of(CUstream handle, const std::shared_ptr<Context> &current);

/// Appends the task, ordered by the rules of the legacy default stream; returns its position.
Point enqueue(Stream &stream, Task task);

} // namespace pi::cuda::simulated
