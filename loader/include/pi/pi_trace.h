/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An extension of the loader's layer "trace", for callers that know more than single calls and
 * commands, such as a runtime: it adds their own spans to the layer's file. A plugin has this
 * extension only while the layer is enabled:
 *
 *     const pi_trace_v1 *trace;
 *     if (piPluginGetExtension(plugin, PI_TRACE_V1, sizeof *trace, (const void **)&trace) ==
 *         PI_SUCCESS)
 *         trace->write_span(plugin, &span);
 *
 * All plugins of a loader write to the same file. The functions are thread-safe. They report errors
 * as those of pi.h do.
 */
#ifndef PI_PI_TRACE_H
#define PI_PI_TRACE_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_TRACE_V1 "pi_trace_v1"

/* An interval of time. Spans of one track may overlap. All strings are copied. */
typedef struct pi_trace_span {
    const char *group; /* a group of tracks: "transfers" */
    /* A track of the group, created when first named: "host -> opencl:0:0". */
    const char *track;
    const char *name;      /* the displayed text */
    const char *category;  /* for the filters of viewers: "transfer" */
    const char *arguments; /* a JSON object, nested at most 64 deep, or NULL */
    uint64_t begin;        /* nanoseconds of CLOCK_MONOTONIC */
    uint64_t end;          /* likewise, not before begin */
    uint64_t reserved[3];  /* must be 0 */
} pi_trace_span;

typedef struct pi_trace_v1 {
    uint64_t size; /* of this table, in bytes */
    /* PI_ERROR_INVALID_VALUE: the arguments are not a JSON object or are nested too deep, or the
     * end is before the beginning. PI_ERROR_UNSUPPORTED_FEATURE: a reserved word is not 0. */
    pi_result(PI_CALL *write_span)(pi_plugin plugin, const pi_trace_span *span);
} pi_trace_v1;

#ifdef __cplusplus
}
#endif

#endif
