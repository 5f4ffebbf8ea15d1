// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the consequences of an event without recursion: a chain of a million events must not need a
// million stack frames.
#pragma once

#include <pi/pi_plugin.h>

#include <cstddef>
#include <cstdint>
#include <exception>

namespace pi::sdk {

/// For each thread: the outermost post runs the tasks that are posted while one runs. Tasks must
/// not block.
class Trampoline {
public:
    /// A task, which its owner keeps until it starts: posting it needs no memory.
    struct Task {
        void (*run)(void *owner) = nullptr;
        void *owner = nullptr;
        Task *next = nullptr; ///< of the trampoline
    };

    static void post(Task &task) {
        Trampoline &self = current();
        task.next = nullptr;
        (self.first_ ? self.last_->next : self.first_) = &task;
        self.last_ = &task;
        if (self.running_)
            return;
        self.running_ = true;
        // Tasks must not throw. If one does, the tasks posted meanwhile run all the same: events
        // depend on them.
        std::exception_ptr thrown;
        while (self.first_) {
            const Task next = *self.first_; // its owner may reuse it while it runs
            self.first_ = next.next;
            try {
                next.run(next.owner);
            } catch (...) {
                thrown = thrown ? thrown : std::current_exception();
            }
        }
        self.running_ = false;
        if (thrown)
            std::rethrow_exception(thrown);
    }

private:
    static Trampoline &current() {
        static constinit thread_local Trampoline trampoline;
        return trampoline;
    }
    Task *first_ = nullptr, *last_ = nullptr; ///< last_ is only valid if there is a first
    bool running_ = false;
};

/// Marks that this thread runs a callback of the application, in which blocking calls, also on
/// objects of other plugins, return PI_ERROR_WOULD_BLOCK.
class CallbackScope {
public:
    explicit CallbackScope(const pi_host *host) : host_(host) { depth(host_, 1); }
    ~CallbackScope() { depth(host_, -1); }
    CallbackScope(const CallbackScope &) = delete;
    CallbackScope &operator=(const CallbackScope &) = delete;
    /// Whether this thread is within a callback of any plugin.
    static bool active(const pi_host *host) { return depth(host, 0) > 0; }

private:
    static int32_t depth(const pi_host *host, int32_t change) {
        constexpr size_t end = offsetof(pi_host, callback_depth) + sizeof host->callback_depth;
        if (host->struct_size >= end)
            return host->callback_depth(host, change);
        static thread_local int32_t own = 0; // with an older loader: of this plugin only
        return own += change;
    }
    const pi_host *const host_;
};

} // namespace pi::sdk
