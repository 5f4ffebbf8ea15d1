/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Signals and a plugin's own threads, in C and C++. Signals that are sent to the process belong to
 * the application, so no thread of a plugin may receive them. A signal that a thread causes by its
 * own fault comes to that thread alone; if the thread blocked it, the process would end without
 * running a handler that could report it.
 */
#ifndef PI_SDK_PI_SDK_SIGNALS_H
#define PI_SDK_PI_SDK_SIGNALS_H

#include <pi/sdk/pi_sdk_posix.h> /* first */

#include <signal.h>
#include <stddef.h>

/* Blocks all signals except those of faults in this thread, and so in threads that it starts.
 * Restore the mask with pthread_sigmask(SIG_SETMASK, out_before, NULL) once they are started. */
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
