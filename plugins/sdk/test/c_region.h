/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C half's checks of rectangles, for tests in C++. */
#ifndef PI_TEST_C_REGION_H
#define PI_TEST_C_REGION_H

#include <pi/pi_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct c_end {
    uint64_t offset, extent[3], pitch[2];
} c_end;

pi_result c_check_end(const pi_host *host, const c_end *end, uint64_t limit);
int c_overlap(const c_end *a, const c_end *b);

#ifdef __cplusplus
}
#endif

#endif
