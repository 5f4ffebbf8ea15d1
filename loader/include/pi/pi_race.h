/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the loader's layer "race" accepts from callers that know more than the interface says,
 * such as a runtime: which bytes of a kernel's argument no kernel accesses. A plugin has this
 * extension where the layer is enabled, and nowhere else:
 *
 *     const pi_race_v1 *race;
 *     if (piPluginGetExtension(plugin, PI_RACE_V1, sizeof *race, (const void **)&race) ==
 *         PI_SUCCESS)
 *         race->set_lead(&argument, lead);
 *
 * The functions are thread-safe and fail as those of pi.h do.
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
    /* Kernels launched from now on with an argument of the same mem, offset and size access none
     * of its first `lead` bytes: they are there because the device's arguments begin at aligned
     * offsets only. Set again for such an argument, the largest lead counts; the last release of
     * the mem forgets it. PI_ERROR_INVALID_VALUE: the argument is not a PI_ARGUMENT_BUFFER with a
     * size, or is not larger than lead; PI_ERROR_INVALID_MEM_OBJECT: its mem is NULL or is not
     * watched by the layer. */
    pi_result(PI_CALL *set_lead)(const pi_kernel_argument *argument, uint64_t lead);
} pi_race_v1;

#ifdef __cplusplus
}
#endif

#endif
