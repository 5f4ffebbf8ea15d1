/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The limit of an exported call: hand-written code that knows that a handle's first word is a
 * function table. Null check, load, jump; in a separate shared object, as the loader is. */
#ifndef PI_BENCH_STUB_H
#define PI_BENCH_STUB_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As the function of pi.h, on the same handles. */
PI_EXPORT pi_result PI_CALL pi_bench_stub_device_retain(pi_device device);
PI_EXPORT pi_result PI_CALL pi_bench_stub_device_select_binary(pi_device device, uint32_t count,
                                                               const pi_program_binary *binaries,
                                                               uint32_t *out_index);

#ifdef __cplusplus
}
#endif

#endif
