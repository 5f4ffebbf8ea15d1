// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of a plugin instance that run tasks: a vendor's callbacks are passed on to one, so that nothing
// of ours runs inside the vendor's locks.
#pragma once

#include <condition_variable>
#include <csignal>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pi::sdk {

/// `count` threads that take tasks in the order in which they were posted. Threads start with the first
/// post and block all signals, which belong to the application. The destructor runs what is left and joins.
class Workers {
public:
    explicit Workers(unsigned count = 1) : count_(count ? count : 1) {}
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;
    ~Workers() {
        {
            std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        condition_.notify_all();
        for (std::thread &thread : threads_)
            thread.join();
    }

    void post(std::function<void()> task) {
        {
            std::lock_guard lock(mutex_);
            if (threads_.size() < count_ && waiting_ <= tasks_.size())
                start_thread();
            tasks_.push_back(std::move(task));
        }
        condition_.notify_one();
    }

private:
    void start_thread() {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            threads_.emplace_back([this] { run(); });
        } catch (...) {
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            if (threads_.empty())
                throw;
            return; // fewer threads than wished for still make progress
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            ++waiting_;
            condition_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
            --waiting_;
            if (tasks_.empty())
                return;
            std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            task = nullptr;
            lock.lock();
        }
    }

    const unsigned count_;
    std::mutex mutex_;
    std::condition_variable condition_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
    size_t waiting_ = 0;
    bool stopping_ = false;
};

} // namespace pi::sdk
