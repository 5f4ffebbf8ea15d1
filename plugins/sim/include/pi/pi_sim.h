/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a program can ask a simulated machine beside what pi.h has: its clock, and what has gone over its links.
 *
 *     const pi_sim_v1 *sim;
 *     piPluginGetExtension(plugin, PI_SIM_V1, sizeof *sim, (const void **)&sim);
 *     sim->get_time(plugin, &nanoseconds);
 *
 * The functions are thread-safe and fail as those of pi.h do: the text is piGetLastError's.
 */
#ifndef PI_PI_SIM_H
#define PI_PI_SIM_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_SIM_V1 "pi_sim_v1"

/* One link, one way. What kernels read and write of memory elsewhere is not counted: nobody sees it. */
typedef struct pi_sim_link {
    char from[64]; /* "host" or a device's name, cut where it is longer */
    char to[64];
    uint64_t bytes;     /* moved by commands that are final */
    uint64_t transfers; /* such commands */
    uint64_t busy;      /* virtual nanoseconds that they took */
    uint64_t reserved[5];
} pi_sim_link;

typedef struct pi_sim_v1 {
    uint64_t size; /* of this table, in bytes */
    /* Nanoseconds of the machine's clock: the host's time, which goes on when the host waits for an event, finishes a
     * queue, or sees an event's status complete; in a callback, the time of its event. */
    pi_result(PI_CALL *get_time)(pi_plugin plugin, uint64_t *out_time);
    /* All links of the machine, in the order of its file; those with the host that the file leaves out come last. */
    pi_result(PI_CALL *get_links)(pi_plugin plugin, uint32_t capacity, pi_sim_link *out_links,
                                  uint32_t *out_count);
    /* Sets the counters of all links to 0. The clock goes on. */
    pi_result(PI_CALL *reset_links)(pi_plugin plugin);
    /* The host waits for all that has begun: its time becomes the latest end that is known. Returns at once; whether
     * the bytes are there is for events to tell. */
    pi_result(PI_CALL *pass_time)(pi_plugin plugin, uint64_t *out_time);
} pi_sim_v1;

#ifdef __cplusplus
}
#endif

#endif
