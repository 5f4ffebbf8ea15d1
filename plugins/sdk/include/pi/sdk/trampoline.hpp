// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs what an event sets off without recursion: a chain of a million events must not need a million
// stack frames.
#pragma once

#include <pi/pi_plugin.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
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
        self.running_ = true;
        // Tasks must not throw; what was posted meanwhile runs all the same: events hang on it.
        std::exception_ptr thrown;
        const auto run = [&thrown](auto &&each) {
            try {
                std::forward<decltype(each)>(each)();
            } catch (...) {
                thrown = thrown ? thrown : std::current_exception();
            }
        };
        run(std::forward<Task>(
            task)); // the outermost task, which most are, needs no place in the list
        while (!self.tasks_.empty()) {
            const std::function<void()> next = std::move(self.tasks_.front());
            self.tasks_.pop_front();
            run(next);
        }
        self.running_ = false;
        if (thrown)
            std::rethrow_exception(thrown);
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
/// PI_ERROR_WOULD_BLOCK, those on objects of other plugins included.
class CallbackScope {
public:
    explicit CallbackScope(const pi_host *host) : host_(host) { depth(host_, 1); }
    ~CallbackScope() { depth(host_, -1); }
    CallbackScope(const CallbackScope &) = delete;
    CallbackScope &operator=(const CallbackScope &) = delete;
    /// Whether the calling thread is inside a callback, of this plugin or of any other.
    static bool active(const pi_host *host) { return depth(host, 0) > 0; }

private:
    static int32_t depth(const pi_host *host, int32_t change) {
        constexpr size_t end = offsetof(pi_host, callback_depth) + sizeof host->callback_depth;
        if (host->struct_size >= end)
            return host->callback_depth(host, change);
        static thread_local int32_t own = 0; // with an older loader: this plugin's alone
        return own += change;
    }
    const pi_host *const host_;
};

} // namespace pi::sdk
