// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs what an event sets off without recursion: a chain of a million events must not need a million
// stack frames.
#pragma once

#include <deque>
#include <functional>
#include <utility>

namespace pi::sdk {

/// Per thread: tasks posted while one runs are run after it, by the outermost post. Tasks must not block.
class Trampoline {
public:
    template <class Task>
    static void post(Task &&task) {
        Trampoline &self = current();
        if (self.running_)
            return static_cast<void>(self.tasks_.emplace_back(std::forward<Task>(task)));
        self.running_ = true;
        std::forward<Task>(
            task)(); // the outermost task, which most are, needs no place in the list
        while (!self.tasks_.empty()) {
            std::function<void()> next = std::move(self.tasks_.front());
            self.tasks_.pop_front();
            next();
        }
        self.running_ = false;
    }

private:
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
