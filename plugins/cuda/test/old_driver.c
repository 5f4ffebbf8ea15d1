/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A driver of CUDA 10.1, which is too old: only the entry points that are asked for first. */
#include <pi/pi.h>

PI_EXPORT int cuInit(unsigned flags);
PI_EXPORT int cuDriverGetVersion(int *version);

int cuInit(unsigned flags) {
    (void)flags;
    return 0;
}

int cuDriverGetVersion(int *version) {
    *version = 10010;
    return 0;
}
