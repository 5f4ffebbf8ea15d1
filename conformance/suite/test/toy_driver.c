/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A driver with one call, which never returns. */
#include <unistd.h>

void toyDriverSynchronize(void);

static void wait_for_device(void) {
    for (;;)
        pause();
}

void toyDriverSynchronize(void) {
    wait_for_device();
}
