/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "c_region.h"

#include <pi/sdk/pi_sdk_region.h>

static pi_sdk_rectangle rectangle_of(const c_end *end) {
    return pi_sdk_rectangle_of(end->offset, end->extent, end->pitch);
}

pi_result c_check_end(const pi_host *host, const c_end *end, uint64_t limit) {
    const pi_sdk_rectangle rectangle = rectangle_of(end);
    return pi_sdk_check_rectangle(host, &rectangle, limit, "src");
}

int c_overlap(const c_end *a, const c_end *b) {
    const pi_sdk_rectangle x = rectangle_of(a), y = rectangle_of(b);
    return pi_sdk_overlap(&x, &y);
}
