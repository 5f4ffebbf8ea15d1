// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of the project's own libraries: not part of the interface.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace pi {

/// A thread to which none of the application's signals comes, only those of its own faults: blocked, they would end the
/// process, and no handler could report it. std::system_error where the system has none left.
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
