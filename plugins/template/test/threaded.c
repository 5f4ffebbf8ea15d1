/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The template plugin as a backend with its own threads and two devices: each command is finished
 * on another thread, after its start returned. Shows that the sdk does not rely on the opposite.
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

pi_result PI_CALL template_main(const pi_host *host, pi_plugin_desc *out_desc);
#define pi_sdk_event_finish finish_later
#define piPluginMain template_main
#include "../../../plugins/template/template.c"
#undef piPluginMain

/* Begins like the template's. */
typedef struct two_devices {
    pi_sdk_plugin plugin;
    pi_sdk_platform platform;
    pi_sdk_device device[2];
    pi_device devices[2];
} two_devices;

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    two_devices *self =
        pi_sdk_open(host, out_desc, "template", "0.1", 0, &functions, sizeof *self, NULL);
    int i;
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    pi_sdk_embed_platform(&self->plugin, 2, self->devices, &self->platform);
    for (i = 0; i < 2; ++i) {
        self->devices[i] = (pi_device)&self->device[i];
        pi_sdk_embed_device(&self->platform, PI_DEVICE_TYPE_OTHER, scopes, 1, 1 << 21,
                            &self->device[i]);
    }
    return PI_SUCCESS;
}
