// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Things to be done later, by a thread that is started by the first of them.
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
    /// Does at once what is left.
    ~Timer();
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    /// `work` throws nothing.
    void add(std::chrono::nanoseconds delay, std::function<void()> work);

    /// Does what is left now, and what comes later at once.
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
