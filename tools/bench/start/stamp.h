/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The programs with a measured start report the moment when they have their device: eight bytes on
 * standard output, CLOCK_MONOTONIC in nanoseconds, which is the same in all processes. */
#ifndef PI_BENCH_STAMP_H
#define PI_BENCH_STAMP_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Ends the process at once: the vendors' clean-up at exit is not part of the start. */
static inline void stamp_and_exit(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    _exit(write(STDOUT_FILENO, &nanoseconds, sizeof nanoseconds) == sizeof nanoseconds ? 0 : 1);
}

static inline int start_failed(const char *call, long code, const char *text) {
    fprintf(stderr, "%s: %ld %s\n", call, code, text);
    return 1;
}

#endif
