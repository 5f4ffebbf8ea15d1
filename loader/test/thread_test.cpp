// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/thread.hpp>

#include <catch2/catch.hpp>

TEST_CASE(
    "a thread of the loader or the runtime blocks all signals except those of its own faults") {
    sigset_t before;
    sigset_t mask;
    sigset_t after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    pi::thread_without_signals([&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); }).join();
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
        INFO("signal " << fault);
        CHECK(sigismember(&mask, fault) == 0);
    }
    for (const int sent : {SIGINT, SIGTERM, SIGALRM, SIGPIPE, SIGUSR1}) {
        INFO("signal " << sent);
        CHECK(sigismember(&mask, sent) == 1);
        CHECK(sigismember(&after, sent) == sigismember(&before, sent));
    }
}
