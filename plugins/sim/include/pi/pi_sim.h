/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An extension of the sim plugin: the clock of a simulated machine, and the traffic on its links.
 *
 *     const pi_sim_v1 *sim;
 *     piPluginGetExtension(plugin, PI_SIM_V1, sizeof *sim, (const void **)&sim);
 *     sim->get_time(plugin, &nanoseconds);
 *
 * The functions are thread-safe. They report errors as those of pi.h do: piGetLastError has the
 * text.
 */
#ifndef PI_PI_SIM_H
#define PI_PI_SIM_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_SIM_V1 "pi_sim_v1"

/* One direction of a link. Accesses of kernels to memory elsewhere are not counted, since nothing
 * observes them. */
typedef struct pi_sim_link {
    char from[64]; /* "host" or a device's name, truncated if longer */
    char to[64];
    uint64_t bytes;     /* moved by complete commands */
    uint64_t transfers; /* complete commands that moved bytes */
    uint64_t busy;      /* virtual nanoseconds that they took */
    uint64_t reserved[5];
} pi_sim_link;

typedef struct pi_sim_v1 {
    uint64_t size; /* of this table, in bytes */
    /* The machine's clock in nanoseconds. It is the time of the host, which advances when the host
     * waits for an event, finishes a queue, or sees an event's status complete; inside a callback
     * it is the time of the event. */
    pi_result(PI_CALL *get_time)(pi_plugin plugin, uint64_t *out_time);
    /* All links of the machine, in the order of its file; links with the host that the file omits
     * come last. */
    pi_result(PI_CALL *get_links)(pi_plugin plugin, uint32_t capacity, pi_sim_link *out_links,
                                  uint32_t *out_count);
    /* Sets the counters of all links to 0. The clock is unaffected. */
    pi_result(PI_CALL *reset_links)(pi_plugin plugin);
    /* Advances the host's time to the latest known end of everything that has begun, as if the host
     * had waited for it. Returns at once; only events report whether bytes have arrived. */
    pi_result(PI_CALL *pass_time)(pi_plugin plugin, uint64_t *out_time);
} pi_sim_v1;

#ifdef __cplusplus
}
#endif

#endif
