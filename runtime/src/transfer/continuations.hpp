// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace pi::runtime {

/// Runs small non-blocking pieces of work one after the other, on the thread that posts while none
/// is running. So a long chain of events that complete inside one another's callbacks needs no deep
/// stack, and data that only such work uses needs no lock of its own. Never post with a lock that
/// the work takes.
///
/// Work must not throw: the thread that runs it may be a plugin's. An exception ends there, with a
/// line on stderr.
class Continuations {
public:
    using Work = std::function<void()>;
    /// Work with its memory, so that posting it allocates nothing.
    using Prepared = std::list<Work>;

    static Prepared prepare(Work work) {
        Prepared one;
        one.push_back(std::move(work));
        return one;
    }

    /// Whether this thread is running posted work: then it must not wait for other posted work.
    bool running_here() const {
        const std::lock_guard lock(mutex_);
        return running_ && runner_ == std::this_thread::get_id();
    }

    void post(Work work) { post(prepare(std::move(work))); }
    /// For work that must be done: without memory it runs at once.
    template <class AnyWork>
    void post_or_run(const AnyWork &work) {
        Prepared prepared;
        try {
            prepared = prepare(work);
        } catch (const std::bad_alloc &) {
            run(work);
            return;
        }
        post(std::move(prepared));
    }
    /// All of it, in its order.
    void post(Prepared work) noexcept {
        std::unique_lock lock(mutex_);
        queue_.splice(queue_.end(), work);
        if (running_) {
            return;
        }
        running_ = true;
        runner_ = std::this_thread::get_id();
        while (!queue_.empty()) {
            Prepared next;
            next.splice(next.end(), queue_, queue_.begin());
            lock.unlock();
            run(next.front());
            next.clear(); // its captures are destroyed without the lock
            lock.lock();
        }
        running_ = false;
        idle_.notify_all();
    }

    /// Waits until no thread is running posted work. False if the deadline passes first.
    bool wait_until_idle(std::chrono::steady_clock::time_point deadline) const {
        std::unique_lock lock(mutex_);
        return idle_.wait_until(lock, deadline, [this] { return !running_; });
    }

private:
    template <class AnyWork>
    static void run(const AnyWork &work) noexcept {
        const auto report = [](const char *what) {
            std::fprintf(stderr, "pi runtime: a callback threw an exception, which ends here: %s\n",
                         what);
        };
        try {
            work();
        } catch (const std::exception &error) {
            report(error.what());
        } catch (...) {
            report("no std::exception");
        }
    }

    mutable std::mutex mutex_;
    mutable std::condition_variable idle_;
    Prepared queue_;
    bool running_ = false;
    std::thread::id runner_;
};

} // namespace pi::runtime
