// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ends of things that nobody reports, a vendor's events of the application for example: one thread asks for all.
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

/// Asks for each thing that was added whether it has ended, until it has, on one thread that starts with the first. It
/// asks often at first and later every 2 ms: an end is noticed up to 2 ms late. Where to ask for all takes long, it does
/// so an eighth of the time. The destructor asks once more, and drops what has not ended.
class Watcher {
public:
    /// Whether it has ended; then it is not asked again, and destroyed. Never waits, throws nothing.
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

    /// std::system_error without a thread.
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

    std::mutex mutex_; ///< guards what follows
    std::condition_variable called_;
    std::list<Look> added_;
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace pi::sdk
