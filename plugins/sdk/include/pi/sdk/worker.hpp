// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of a plugin instance that run tasks. A vendor's callbacks are passed on to them, so that
// no code of the plugin runs while the vendor's locks are held.
#pragma once

#include <pi/sdk/pi_sdk_signals.h>

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace pi::sdk {

/// While it lives, threads that this thread starts block the application's signals, but not those
/// of their own faults.
class SignalsBlocked {
public:
    SignalsBlocked() { pi_sdk_block_signals(&before_); }
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

/// Up to `count` threads that run tasks in the order of their posts. Threads start with the first
/// post and block all signals but those of their own faults. The destructor runs the remaining
/// tasks and joins the threads.
///
/// Each thread sleeps on its own condition variable, and a post wakes the thread that slept last,
/// whose stack may still be in the cache. They do not share one: up to glibc 2.40,
/// pthread_cond_signal may wake none of several waiting threads (sourceware.org bug 25847), and the
/// task would wait until the next post.
class Workers {
    struct Worker {
        std::condition_variable called; ///< only its own thread waits for it
        bool sleeps = false;            ///< it is in the list of sleeping threads
        Worker *next = nullptr;         ///< the next in that list
        std::thread thread{};
    };

public:
    /// A task that can be posted without an allocation.
    using Prepared = std::list<std::function<void()>>;

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

    /// Also starts the first thread. Throws std::bad_alloc, or std::system_error if no thread can
    /// start.
    Prepared prepare(std::function<void()> task) {
        Prepared one;
        one.push_back(std::move(task));
        std::lock_guard lock(mutex_);
        if (workers_.empty())
            start_thread();
        return one;
    }
    void post(Prepared task) noexcept {
        post(task, [this] {
            try {
                start_thread();
            } catch (...) {
                // Fewer threads than requested still make progress.
            }
        });
    }
    /// Throws as prepare(); then the task is not posted.
    void post(std::function<void()> task) {
        Prepared one;
        one.push_back(std::move(task));
        post(one, [this] {
            try {
                start_thread();
            } catch (...) {
                if (workers_.empty())
                    throw;
            }
        });
    }

    /// Posts the task if a thread is idle. Returns false, without posting it, if all are busy or
    /// there are none. Throws std::bad_alloc.
    bool try_post(std::function<void()> task) {
        Prepared one;
        one.push_back(std::move(task));
        Worker *woken = nullptr;
        {
            std::lock_guard lock(mutex_);
            if (!sleeping_) {
                const size_t before = workers_.size();
                try {
                    if (before < count_ && !stopping_)
                        start_thread();
                } catch (...) { // as if no thread were idle
                }
                if (workers_.size() == before)
                    return false;
            }
            woken = append(one);
        }
        if (woken)
            woken->called.notify_one();
        return true;
    }

private:
    template <class Start>
    void post(Prepared &task, Start &&start) {
        Worker *woken = nullptr;
        {
            std::lock_guard lock(mutex_);
            if (!sleeping_ && workers_.size() < count_ && !stopping_)
                start();
            woken = append(task);
        }
        if (woken)
            woken->called.notify_one();
    }
    /// Call it with the lock held. Returns the thread to wake, or NULL.
    Worker *append(Prepared &task) noexcept {
        tasks_.splice(tasks_.end(), task);
        if (sleeping_)
            sleeping_->sleeps = false;
        return sleeping_ ? std::exchange(sleeping_, sleeping_->next) : nullptr;
    }

    void start_thread() {
        std::list<Worker> one(1);
        Worker &worker = one.front();
        const SignalsBlocked blocked;
        worker.thread = std::thread([this, &worker] { run(worker); }); // it waits for the lock
        workers_.splice(workers_.end(), one);
    }

    void run(Worker &self) {
        std::unique_lock lock(mutex_);
        for (;;) {
            // A busy thread may take the task before this one wakes: then it sleeps again.
            while (tasks_.empty()) {
                if (stopping_)
                    return;
                self.sleeps = true;
                self.next = std::exchange(sleeping_, &self);
                self.called.wait(lock, [&] { return stopping_ || !self.sleeps; });
            }
            Prepared task;
            task.splice(task.end(), tasks_, tasks_.begin());
            lock.unlock();
            task.front()();
            task.clear();
            lock.lock();
        }
    }

    const unsigned count_;
    std::mutex mutex_;
    Prepared tasks_;
    std::list<Worker> workers_;
    Worker *sleeping_ = nullptr; ///< the one that slept last; links to the others
    bool stopping_ = false;
};

} // namespace pi::sdk
