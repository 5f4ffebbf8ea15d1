// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs what an event sets off without recursion: a chain of a million events must not need a million
// stack frames.
#pragma once

#include <deque>
#include <functional>
#include <new>
#include <utility>

namespace pi::sdk {

/// Per thread: tasks posted while one runs are run after it, by the outermost post. Tasks must not block.
class Trampoline {
public:
    template <class Task>
    static void post(Task &&task) {
        Trampoline &self = current();
        if (self.running_) {
            try {
                return static_cast<void>(self.tasks_.emplace_back(std::forward<Task>(task)));
            } catch (const std::bad_alloc &) {
                // It has not been moved. A frame more is better than a task that never runs.
                return std::forward<Task>(task)();
            }
        }
        const Running running(self.running_);
        std::forward<Task>(
            task)(); // the outermost task, which most are, needs no place in the list
        while (!self.tasks_.empty()) {
            std::function<void()> next = std::move(self.tasks_.front());
            self.tasks_.pop_front();
            next();
        }
    }

private:
    /// An exception must not leave the thread without a trampoline: what comes later would never run.
    struct Running {
        explicit Running(bool &flag) : flag_(flag) { flag_ = true; }
        Running(const Running &) = delete;
        ~Running() { flag_ = false; }
        bool &flag_;
    };
    static Trampoline &current() {
        static thread_local Trampoline trampoline;
        return trampoline;
    }
    std::deque<std::function<void()>> tasks_;
    bool running_ = false;
};

/// Marks that this thread runs a callback of the application, in which blocking calls answer
/// PI_ERROR_WOULD_BLOCK.
class CallbackScope {
public:
    CallbackScope() { ++depth(); }
    ~CallbackScope() { --depth(); }
    CallbackScope(const CallbackScope &) = delete;
    CallbackScope &operator=(const CallbackScope &) = delete;
    static bool active() { return depth() > 0; }

private:
    static int &depth() {
        static thread_local int value = 0;
        return value;
    }
};

} // namespace pi::sdk
