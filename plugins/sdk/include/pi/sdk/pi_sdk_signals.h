/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Signals and a plugin's own threads, in C and C++. Those that are sent to the process are the application's, and no
 * thread of a plugin may take them. Those that a thread causes by a fault of its own come to that thread alone; where
 * it blocks them they end the process, and no handler runs that could tell of it.
 */
#ifndef PI_SDK_PI_SDK_SIGNALS_H
#define PI_SDK_PI_SDK_SIGNALS_H

#include <pi/sdk/pi_sdk_posix.h> /* first */

#include <signal.h>
#include <stddef.h>

/* Blocks all signals but those of faults for this thread, and so for those that it starts. *out_before is for
 * pthread_sigmask(SIG_SETMASK, ...) when they are started. */
static inline void pi_sdk_block_signals(sigset_t *out_before) {
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked;
    size_t i;
    sigfillset(&blocked);
    for (i = 0; i < sizeof faults / sizeof *faults; ++i)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, out_before);
}

#endif
