// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of a plugin instance that run tasks: a vendor's callbacks are passed on to one, so that nothing
// of ours runs inside the vendor's locks.
#pragma once

#include <pi/sdk/pi_sdk_signals.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace pi::sdk {

/// While it lives, threads that this one starts take none of the application's signals, only those of their own faults.
class SignalsBlocked {
public:
    SignalsBlocked() { pi_sdk_block_signals(&before_); }
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

/// `count` threads that take tasks in the order in which they were posted. Threads start with the first
/// post and take no signals but those of their own faults. The destructor runs what is left and joins.
///
/// Each thread sleeps on a condition variable of its own, and a post wakes the one that slept last. Not all on one: up to
/// glibc 2.40, pthread_cond_signal may wake nobody where several threads wait (sourceware.org bug 25847), and the task
/// would lie there until the next post. It also wakes a thread whose stack is still in the cache.
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
        for (Worker &worker : workers_)
            worker.called.notify_one();
        for (Worker &worker : workers_)
            worker.thread.join();
    }

    void post(std::function<void()> task) {
        Worker *woken = nullptr;
        {
            std::lock_guard lock(mutex_);
            if (!sleeping_ && workers_.size() < count_ && !stopping_)
                start_thread();
            tasks_.push_back(std::move(task));
            if (sleeping_) {
                woken = std::exchange(sleeping_, sleeping_->next);
                woken->sleeps = false;
            }
        }
        if (woken)
            woken->called.notify_one();
    }

    /// Posts the task if a thread takes it at once. False, and the task is as it was: all are busy, or there are none.
    bool try_post(std::function<void()> &task) {
        Worker *woken = nullptr;
        {
            std::lock_guard lock(mutex_);
            if (!sleeping_) {
                const size_t before = workers_.size();
                try {
                    if (before < count_ && !stopping_)
                        start_thread();
                } catch (...) { // as without a thread that is idle
                }
                if (workers_.size() == before)
                    return false;
            }
            tasks_.push_back(std::move(task));
            if (sleeping_) {
                woken = std::exchange(sleeping_, sleeping_->next);
                woken->sleeps = false;
            }
        }
        if (woken)
            woken->called.notify_one();
        return true;
    }

private:
    struct Worker {
        std::condition_variable called; ///< only its own thread waits for it
        bool sleeps = false;            ///< it is in the list of those that do
        Worker *next = nullptr;         ///< in that list
        std::thread thread{};
    };

    void start_thread() {
        Worker &worker = workers_.emplace_back();
        const SignalsBlocked blocked;
        try {
            worker.thread = std::thread([this, &worker] { run(worker); });
        } catch (...) {
            workers_.pop_back();
            if (workers_.empty())
                throw; // else fewer threads than wished for still make progress
        }
    }

    void run(Worker &self) {
        std::unique_lock lock(mutex_);
        for (;;) {
            // A busy thread may have been faster than this one after a call, which then sleeps again.
            while (tasks_.empty()) {
                if (stopping_)
                    return;
                self.sleeps = true;
                self.next = std::exchange(sleeping_, &self);
                self.called.wait(lock, [&] { return stopping_ || !self.sleeps; });
            }
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
    std::deque<std::function<void()>> tasks_;
    std::list<Worker> workers_;
    Worker *sleeping_ = nullptr; ///< the one that slept last; the others behind it
    bool stopping_ = false;
};

} // namespace pi::sdk
