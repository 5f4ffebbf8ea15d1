/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the loader's layer "trace" offers to those who know more than single calls and commands, such as a runtime: spans of
 * their own in its file. A plugin has this extension where the layer is enabled, and nowhere else:
 *
 *     const pi_trace_v1 *trace;
 *     if (piPluginGetExtension(plugin, PI_TRACE_V1, sizeof *trace, (const void **)&trace) == PI_SUCCESS)
 *         trace->write_span(plugin, &span);
 *
 * All plugins of a loader write one file. The functions are thread-safe and fail as those of pi.h do.
 */
#ifndef PI_PI_TRACE_H
#define PI_PI_TRACE_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_TRACE_V1 "pi_trace_v1"

/* Something that began and ended. Spans of one track may overlap. All texts are copied. */
typedef struct pi_trace_span {
    const char *group;     /* a group of tracks: "transfers" */
    const char *track;     /* in its group, made when it is first named: "host -> opencl:0:0" */
    const char *name;      /* what is shown */
    const char *category;  /* by which viewers filter: "transfer" */
    const char *arguments; /* a JSON object, or NULL; what is in it is nested at most 64 deep */
    uint64_t begin;        /* nanoseconds of CLOCK_MONOTONIC */
    uint64_t end;          /* likewise, not before begin */
    uint64_t reserved[3];  /* 0 */
} pi_trace_span;

typedef struct pi_trace_v1 {
    uint64_t size; /* of this table, in bytes */
    /* PI_ERROR_INVALID_VALUE: the arguments are no JSON object or nested too deep, or the end is before the begin;
     * PI_ERROR_UNSUPPORTED_FEATURE: a reserved word is not 0. */
    pi_result(PI_CALL *write_span)(pi_plugin plugin, const pi_trace_span *span);
} pi_trace_v1;

#ifdef __cplusplus
}
#endif

#endif
