/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The header for plugins in C: include it before any header of the C library. The sdk's objects can
 * be used as they are, or begin a plugin's own structs. pi_sdk_open fills the slots that a plugin
 * leaves NULL with the sdk's entries, so a first plugin writes only what is specific to its device
 * (plugins/template/template.c).
 */
#ifndef PI_SDK_PI_SDK_PLUGIN_H
#define PI_SDK_PI_SDK_PLUGIN_H

#include <pi/sdk/pi_sdk_memory.h>

/* Fills the NULL slots with the sdk's entries. */
static inline void pi_sdk_complete(pi_dispatch *functions) {
#define PI_SDK_SLOT(slot, entry)                                                                   \
    if (!functions->slot)                                                                          \
    functions->slot = entry
    PI_SDK_SLOT(piPluginGetInfo, pi_sdk_plugin_get_info);
    PI_SDK_SLOT(piDevicesGet, pi_sdk_devices_get);
    PI_SDK_SLOT(piDeviceGetMemoryScopes, pi_sdk_device_get_memory_scopes);
    PI_SDK_SLOT(piDeviceRetain, pi_sdk_device_retain);
    PI_SDK_SLOT(piDeviceRelease, pi_sdk_device_release);
    PI_SDK_SLOT(piContextCreate, pi_sdk_context_create);
    PI_SDK_SLOT(piContextRetain, pi_sdk_context_retain);
    PI_SDK_SLOT(piContextRelease, pi_sdk_context_release);
    PI_SDK_SLOT(piContextGetInfo, pi_sdk_context_get_info);
    PI_SDK_SLOT(piQueueCreate, pi_sdk_queue_create);
    PI_SDK_SLOT(piQueueRetain, pi_sdk_queue_retain);
    PI_SDK_SLOT(piQueueRelease, pi_sdk_queue_release);
    PI_SDK_SLOT(piQueueGetInfo, pi_sdk_queue_get_info);
    PI_SDK_SLOT(piQueueFlush, pi_sdk_queue_flush);
    PI_SDK_SLOT(piQueueFinish, pi_sdk_queue_finish);
    PI_SDK_SLOT(piMemGetInfo, pi_sdk_mem_get_info);
    PI_SDK_SLOT(piMemRetain, pi_sdk_mem_retain);
    PI_SDK_SLOT(piMemRelease, pi_sdk_mem_release);
    PI_SDK_SLOT(piEnqueueEventsWait, pi_sdk_enqueue_events_wait);
    PI_SDK_SLOT(piEnqueueBarrier, pi_sdk_enqueue_barrier);
    PI_SDK_SLOT(piEventWait, pi_sdk_event_wait);
    PI_SDK_SLOT(piEventGetInfo, pi_sdk_event_get_info);
    PI_SDK_SLOT(piEventSetCallback, pi_sdk_event_set_callback);
    PI_SDK_SLOT(piEventCreateHost, pi_sdk_event_create_host);
    PI_SDK_SLOT(piEventSignalHost, pi_sdk_event_signal_host);
    PI_SDK_SLOT(piEventRetain, pi_sdk_event_retain);
    PI_SDK_SLOT(piEventRelease, pi_sdk_event_release);
#undef PI_SDK_SLOT
}

/* pi_plugin_desc::teardown of an instance made by pi_sdk_open. */
static inline void PI_CALL pi_sdk_teardown(pi_plugin instance) {
    pi_sdk_object *object = (pi_sdk_object *)instance;
    if (object->destroy)
        object->destroy(object);
    free(object);
}

/* The body of piPluginMain. Makes the instance, a struct of `size` bytes that begins with a
 * pi_sdk_plugin, with the plugin's own `functions` and the sdk's where those are NULL, and fills
 * *out_desc. `destroy` frees what else the instance owns; it may be NULL. On failure sets the error
 * text and returns NULL: return PI_ERROR_OUT_OF_HOST_MEMORY then. name and version must be
 * constants. */
static inline void *pi_sdk_open(const pi_host *host, pi_plugin_desc *out_desc, const char *name,
                                const char *version, uint64_t capabilities,
                                const pi_dispatch *functions, size_t size,
                                void (*destroy)(void *instance)) {
    pi_sdk_plugin *plugin = (pi_sdk_plugin *)calloc(1, size);
    if (!plugin) {
        pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for an instance of %zu bytes",
                    size);
        return NULL;
    }
    pi_sdk_embed(host, PI_KIND_PLUGIN, &plugin->object);
    plugin->object.destroy = destroy;
    plugin->name = name;
    plugin->version = version;
    plugin->capabilities = capabilities;
    plugin->functions = *functions;
    plugin->functions.struct_size = sizeof plugin->functions;
    plugin->functions.version_major = PI_VERSION_MAJOR;
    plugin->functions.version_minor = PI_VERSION_MINOR;
    pi_sdk_complete(&plugin->functions);

    pi_sdk_state_version(out_desc);
    out_desc->name = name;
    out_desc->version = version;
    out_desc->capabilities = capabilities;
    out_desc->functions = &plugin->functions;
    out_desc->instance = (pi_plugin)plugin;
    out_desc->teardown = pi_sdk_teardown;
    return plugin;
}

#endif
