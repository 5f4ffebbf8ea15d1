// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "timer.hpp"

#include <pi/thread.hpp>

namespace pi::loader::fault {

Timer::~Timer() {
    {
        const std::scoped_lock lock(mutex_);
        hurried_ = closed_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable())
        thread_.join();
}

void Timer::add(std::chrono::nanoseconds delay, std::function<void()> work) {
    const std::scoped_lock lock(mutex_);
    const auto entry = work_.emplace(Clock::now() + delay, std::move(work));
    try {
        if (!thread_.joinable())
            thread_ = thread_without_signals([this] { run(); });
    } catch (...) {
        work_.erase(entry);
        throw;
    }
    changed_.notify_all();
}

void Timer::hurry() {
    const std::scoped_lock lock(mutex_);
    hurried_ = true;
    changed_.notify_all();
}

void Timer::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (work_.empty()) {
            if (closed_)
                return;
            changed_.wait(lock);
            continue;
        }
        const auto next = work_.begin();
        if (!hurried_ && Clock::now() < next->first) {
            changed_.wait_until(lock, next->first);
            continue;
        }
        const std::function<void()> work = std::move(next->second);
        work_.erase(next);
        lock.unlock();
        work();
        lock.lock();
    }
}

} // namespace pi::loader::fault
