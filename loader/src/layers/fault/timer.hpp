// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs functions later, in a thread that the first of them starts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace pi::loader::fault {

class Timer {
public:
    using Clock = std::chrono::steady_clock;

    Timer() = default;
    /// Runs the remaining ones at once.
    ~Timer();
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    /// `work` must not throw.
    void add(std::chrono::nanoseconds delay, std::function<void()> work);

    /// Runs the remaining ones now, and later ones at once.
    void hurry();

private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<Clock::time_point, std::function<void()>> work_;
    bool hurried_ = false;
    bool closed_ = false;
    std::thread thread_;
};

} // namespace pi::loader::fault
