/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The template plugin as a backend with threads of its own: each command is finished on another thread, later than
 * its start returns. It shows that the sdk's graph does not count on the opposite.
 */
#include <pi/sdk/pi_sdk_plugin.h>

typedef struct job {
    pi_sdk_event *event;
    pi_result result;
    const char *text; /* a literal */
} job;

static void *run(void *argument) {
    const job done = *(job *)argument;
    free(argument);
    pi_sdk_event_finish(done.event, done.result, done.text);
    return NULL;
}

static void finish_later(pi_sdk_event *event, pi_result result, const char *text) {
    job *given = malloc(sizeof *given);
    pthread_t thread;
    if (!given) {
        pi_sdk_event_finish(event, result, text);
        return;
    }
    *given = (job){event, result, text};
    if (pthread_create(&thread, NULL, run, given))
        run(given);
    else
        pthread_detach(thread);
}

#define pi_sdk_event_finish finish_later
#include "../../../plugins/template/template.c"
