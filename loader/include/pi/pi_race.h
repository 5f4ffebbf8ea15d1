/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An extension of the loader's layer "race", for callers that know more than the interface
 * expresses, such as a runtime: which bytes of a kernel's argument no kernel accesses. A plugin has
 * this extension only while the layer is enabled:
 *
 *     const pi_race_v1 *race;
 *     if (piPluginGetExtension(plugin, PI_RACE_V1, sizeof *race, (const void **)&race) ==
 *         PI_SUCCESS)
 *         race->set_lead(&argument, lead);
 *
 * The functions are thread-safe. They report errors as those of pi.h do.
 */
#ifndef PI_PI_RACE_H
#define PI_PI_RACE_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_RACE_V1 "pi_race_v1"

typedef struct pi_race_v1 {
    uint64_t size; /* of this table, in bytes */
    /* Declares the first `lead` bytes of an argument unused: kernels launched from now on with an
     * argument of the same mem, offset and size do not access them. (They precede the data because
     * the device's arguments can begin only at aligned offsets.) If several leads are set for such
     * an argument, the largest applies; the last release of the mem removes it.
     * PI_ERROR_INVALID_VALUE: the argument is not a PI_ARGUMENT_BUFFER with a size, or is not
     * larger than lead. PI_ERROR_INVALID_MEM_OBJECT: its mem is NULL, or the layer does not watch
     * it. */
    pi_result(PI_CALL *set_lead)(const pi_kernel_argument *argument, uint64_t lead);
} pi_race_v1;

#ifdef __cplusplus
}
#endif

#endif
