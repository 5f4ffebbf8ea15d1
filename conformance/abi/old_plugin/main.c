/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "old_plugin.h"

#include <stdlib.h>
#include <time.h>

static const pi_dispatch table = {
    .struct_size = PLUGIN_TABLE_SIZE,
    .version_major = PI_VERSION_MAJOR,
    .version_minor = PLUGIN_MINOR,
    .piPluginGetInfo = old_plugin_get_info,
    .piPlatformsGet = old_platforms_get,
    .piPlatformGetInfo = old_platform_get_info,
    .piDevicesGet = old_devices_get,
    .piDeviceGetInfo = old_device_get_info,
    .piDeviceRetain = old_device_retain,
    .piDeviceRelease = old_device_release,
    .piDeviceGetMemoryScopes = old_device_get_memory_scopes,
    .piContextCreate = old_context_create,
    .piContextRetain = old_context_retain,
    .piContextRelease = old_context_release,
    .piContextGetInfo = old_context_get_info,
    .piGetMemoryConnection = old_get_memory_connection,
    .piQueueCreate = old_queue_create,
    .piQueueRetain = old_queue_retain,
    .piQueueRelease = old_queue_release,
    .piQueueGetInfo = old_queue_get_info,
    .piQueueFlush = old_queue_flush,
    .piQueueFinish = old_queue_finish,
    .piMemBufferCreate = old_mem_buffer_create,
    .piMemGetInfo = old_mem_get_info,
    .piMemRetain = old_mem_retain,
    .piMemRelease = old_mem_release,
    .piEnqueueMemBufferCopy = old_enqueue_copy,
    .piEnqueueMemBufferMap = old_enqueue_map,
    .piEnqueueMemUnmap = old_enqueue_unmap,
    .piEnqueueEventsWait = old_enqueue_events_wait,
    .piEnqueueBarrier = old_enqueue_barrier,
    .piEventWait = old_event_wait,
    .piEventGetInfo = old_event_get_info,
    .piEventSetCallback = old_event_set_callback,
    .piEventCreateHost = old_event_create_host,
    .piEventSignalHost = old_event_signal_host,
    .piEventRetain = old_event_retain,
    .piEventRelease = old_event_release,
};

static void teardown(pi_plugin instance) {
    pthread_cond_destroy(&instance->changed);
    pthread_mutex_destroy(&instance->lock);
    free(instance->functions);
    free(instance);
}

/* The instance, its platform and its device are not counted: their headers are written here. */
static void begin(object *it, pi_plugin instance, pi_kind kind) {
    it->header = (pi_object_header){instance->host->dispatch, kind, 0};
    it->plugin = instance;
}

pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    pi_plugin instance = calloc(1, sizeof *instance);
    /* No longer than it says: reading past it is then an error that a sanitizer sees. */
    pi_dispatch *functions = calloc(1, PLUGIN_TABLE_SIZE);
    if (!instance || !functions) {
        free(instance);
        free(functions);
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for an instance");
    }
    memcpy(functions, &table, PLUGIN_TABLE_SIZE < sizeof table ? PLUGIN_TABLE_SIZE : sizeof table);
#ifdef PI_ABI_TOMORROW
    memset(functions + 1, 0x5a, PLUGIN_TABLE_SIZE - sizeof table);
#endif
    instance->host = host;
    instance->functions = functions;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&instance->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&instance->lock, NULL);
    begin(&instance->base, instance, PI_KIND_PLUGIN);
    begin(&instance->platform.base, instance, PI_KIND_PLATFORM);
    begin(&instance->device.base, instance, PI_KIND_DEVICE);

    out_desc->version_major = PI_VERSION_MAJOR;
    out_desc->version_minor = PLUGIN_MINOR;
    out_desc->name = PLUGIN_NAME;
    out_desc->version = "1.2.3";
    out_desc->capabilities = PLUGIN_CAPABILITIES;
    out_desc->functions = functions;
    out_desc->instance = instance;
    out_desc->teardown = teardown;
    return PI_SUCCESS;
}
