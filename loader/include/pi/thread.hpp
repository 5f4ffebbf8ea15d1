// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of the project's own libraries; not part of the interface.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace pi {

/// Starts a thread that receives none of the application's signals, except those that its own
/// faults raise: if these were blocked, they would end the process without a handler to report
/// them. Throws std::system_error if the system cannot start a thread.
template <typename Body>
std::thread thread_without_signals(Body &&body) {
    struct Blocked {
        Blocked() noexcept {
            sigset_t blocked;
            ::sigfillset(&blocked);
            for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
                ::sigdelset(&blocked, fault);
            ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
        }
        Blocked(const Blocked &) = delete;
        ~Blocked() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
        sigset_t before;
    };
    const Blocked blocked;
    return std::thread(std::forward<Body>(body));
}

} // namespace pi
