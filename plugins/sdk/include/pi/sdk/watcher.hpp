// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polls for the end of things that nothing reports, for example a vendor's events of the
// application, on one thread.
#pragma once

#include <pi/sdk/worker.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace pi::sdk {

/// Polls each function that was added until it returns true, on one thread that starts with the
/// first. The interval grows from 50 us to 2 ms, so an end is noticed up to 2 ms late. If polling
/// itself takes long, it uses at most an eighth of the thread's time. The destructor polls once
/// more and drops the rest.
class Watcher {
public:
    /// Returns whether the thing has ended; then it is destroyed without another call. Must not
    /// wait or throw.
    using Look = std::function<bool()>;

    Watcher() = default;
    Watcher(const Watcher &) = delete;
    Watcher &operator=(const Watcher &) = delete;
    ~Watcher() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        called_.notify_one();
        if (thread_.joinable())
            thread_.join();
    }

    /// Throws std::system_error if the thread cannot start.
    void add(Look look) {
        std::list<Look> one;
        one.push_back(std::move(look));
        const std::lock_guard lock(mutex_);
        if (!thread_.joinable()) {
            const SignalsBlocked blocked;
            thread_ = std::thread([this] { run(); });
        }
        added_.splice(added_.end(), one);
        called_.notify_one();
    }

private:
    using Clock = std::chrono::steady_clock;

    void run() {
        constexpr std::chrono::microseconds soon{50}, late{2000};
        constexpr int share = 8;
        std::list<Look> open;
        Clock::duration pause = soon;
        std::unique_lock lock(mutex_);
        for (;;) {
            called_.wait(lock, [&] { return stopping_ || !open.empty() || !added_.empty(); });
            if (!added_.empty())
                pause = soon;
            open.splice(open.end(), added_);
            const bool last = stopping_;
            lock.unlock();
            const Clock::time_point begin = Clock::now();
            for (auto look = open.begin(); look != open.end();) {
                if ((*look)()) {
                    look = open.erase(look);
                    pause = soon;
                } else {
                    ++look;
                }
            }
            const Clock::time_point end = Clock::now();
            lock.lock();
            if (last)
                return;
            const auto stops = [&] { return stopping_; };
            called_.wait_until(lock, end + (share - 1) * (end - begin), stops);
            called_.wait_until(lock, end + pause, [&] { return stopping_ || !added_.empty(); });
            pause = std::min<Clock::duration>(2 * pause, late);
        }
    }

    std::mutex mutex_; ///< guards the members below
    std::condition_variable called_;
    std::list<Look> added_;
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace pi::sdk
