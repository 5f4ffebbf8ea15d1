/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Instances, platforms, devices and contexts of plugins in C, to use as they are or at the start of
 * a plugin's own structs.
 */
#ifndef PI_SDK_PI_SDK_PLACE_H
#define PI_SDK_PI_SDK_PLACE_H

#include <pi/sdk/pi_sdk_object.h>

/* An instance, one for each loader. All of a plugin's state is in it, none in static variables. */
typedef struct pi_sdk_plugin {
    pi_sdk_object object;
    const char *name, *version;
    uint64_t capabilities;
    pi_dispatch functions;
} pi_sdk_plugin;

/* Parts of the instance; they live as long as it does. */
typedef struct pi_sdk_platform {
    pi_sdk_object object;
    pi_sdk_plugin *plugin;
    uint32_t device_count;
    const pi_device *devices; /* the root devices; also a part of the instance */
} pi_sdk_platform;
typedef struct pi_sdk_device {
    pi_sdk_object object;
    pi_sdk_platform *platform;
    pi_device_type type;
    uint32_t scope_count;
    const pi_memory_scope *scopes;
    uint64_t max_alignment; /* the largest alignment that a buffer may request */
} pi_sdk_device;

typedef struct pi_sdk_context {
    pi_sdk_object object;
    pi_sdk_platform *platform;
    uint32_t device_count;
    pi_device *devices;
} pi_sdk_context;

/* ----- Contexts ------------------------------------------------------------------------------- */

static inline void pi_sdk_context_destroy(void *object) {
    pi_sdk_context *context = (pi_sdk_context *)object;
    uint32_t i;
    for (i = 0; i < context->device_count; ++i)
        pi_sdk_release(context->devices[i]);
    free(context->devices);
}

static inline pi_result pi_sdk_check_context_desc(pi_platform platform,
                                                  const pi_context_desc *desc) {
    const pi_host *host = pi_sdk_host(platform);
    pi_result result = pi_sdk_check_flags(host, desc->flags, 0);
    uint32_t i, j;
    if (!result)
        result = pi_sdk_check_reserved(host, desc->reserved);
    if (!result && !desc->device_count)
        result = pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "device_count is 0; 1 is needed");
    if (!result)
        result = pi_sdk_check_pointer(host, desc->devices, "devices");
    for (i = 0; !result && i < desc->device_count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "devices[%u]", (unsigned)i);
        result = pi_sdk_check(host, desc->devices[i], PI_KIND_DEVICE, name);
        if (!result && (void *)((pi_sdk_device *)desc->devices[i])->platform != (void *)platform)
            result = pi_sdk_fail(host, PI_ERROR_INVALID_DEVICE, "%s is not of the platform", name);
        for (j = 0; !result && j < i; ++j)
            if (desc->devices[j] == desc->devices[i])
                result = pi_sdk_fail(host, PI_ERROR_INVALID_DEVICE, "%s is listed twice", name);
    }
    return result;
}

/* piContextCreate for a struct of `size` bytes that begins with a pi_sdk_context. */
static inline pi_result pi_sdk_context_new(pi_platform platform, const pi_context_desc *given,
                                           size_t size, pi_context *out_context) {
    const pi_host *host = pi_sdk_host(platform);
    pi_context_desc desc;
    pi_sdk_context *context;
    pi_result result = pi_sdk_check(host, platform, PI_KIND_PLATFORM, "platform");
    if (!result)
        result = pi_sdk_read_desc(host, given, PI_TYPE_CONTEXT_DESC, 0, &desc, sizeof desc);
    if (!result)
        result = pi_sdk_check_pointer(host, out_context, "out_context");
    if (!result)
        result = pi_sdk_check_context_desc(platform, &desc);
    if (result)
        return result;
    context = (pi_sdk_context *)pi_sdk_new(host, PI_KIND_CONTEXT, size, pi_sdk_context_destroy);
    if (!context)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    context->platform = (pi_sdk_platform *)platform;
    context->devices = (pi_device *)calloc(desc.device_count, sizeof *desc.devices);
    if (!context->devices) {
        pi_sdk_release(context);
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for a list of devices");
    }
    while (context->device_count < desc.device_count) {
        const uint32_t i = context->device_count++;
        context->devices[i] = (pi_device)pi_sdk_retain(desc.devices[i]);
    }
    *out_context = (pi_context)context;
    return PI_SUCCESS;
}

static inline pi_result PI_CALL pi_sdk_context_create(pi_platform platform,
                                                      const pi_context_desc *desc,
                                                      pi_context *out_context) {
    return pi_sdk_context_new(platform, desc, sizeof(pi_sdk_context), out_context);
}

static inline pi_result PI_CALL pi_sdk_context_get_info(pi_context handle, pi_context_info name,
                                                        uint64_t size, void *value,
                                                        uint64_t *out_size) {
    pi_sdk_context *context = (pi_sdk_context *)handle;
    const pi_result result = pi_sdk_check(pi_sdk_host(handle), handle, PI_KIND_CONTEXT, "context");
    if (result)
        return result;
    const pi_sdk_info rows[] = {
        pi_sdk_bytes(PI_CONTEXT_INFO_DEVICES, context->devices,
                     context->device_count * sizeof *context->devices),
        pi_sdk_handle(PI_CONTEXT_INFO_PLATFORM, context->platform),
        pi_sdk_u32(PI_CONTEXT_INFO_REFERENCE_COUNT, atomic_load(&context->object.references)),
        {0}};
    return pi_sdk_answer(context, rows, name, size, value, out_size);
}

/* Checks both handles, and that the device is one of the context's. `host` is that of the entry's
 * first argument. */
static inline pi_result pi_sdk_check_place(const pi_host *host, pi_context handle,
                                           pi_device device) {
    const pi_sdk_context *context = (const pi_sdk_context *)handle;
    pi_result result = pi_sdk_check(host, handle, PI_KIND_CONTEXT, "context");
    uint32_t i;
    if (!result)
        result = pi_sdk_check(host, device, PI_KIND_DEVICE, "device");
    for (i = 0; !result && i < context->device_count; ++i)
        if (context->devices[i] == device)
            return PI_SUCCESS;
    return result ? result
                  : pi_sdk_fail(host, PI_ERROR_INVALID_DEVICE,
                                "device is not one of the context's %u devices",
                                (unsigned)context->device_count);
}

/* ----- Plugins, platforms, devices ------------------------------------------------------------ */

static inline pi_result PI_CALL pi_sdk_plugin_get_info(pi_plugin handle, pi_plugin_info name,
                                                       uint64_t size, void *value,
                                                       uint64_t *out_size) {
    const pi_sdk_plugin *plugin = (const pi_sdk_plugin *)handle;
    const pi_result result = pi_sdk_check(pi_sdk_host(handle), handle, PI_KIND_PLUGIN, "plugin");
    if (result)
        return result;
    const pi_sdk_info rows[] = {pi_sdk_text(PI_PLUGIN_INFO_NAME, plugin->name),
                                pi_sdk_text(PI_PLUGIN_INFO_VERSION, plugin->version),
                                pi_sdk_u64(PI_PLUGIN_INFO_CAPABILITIES, plugin->capabilities),
                                {0}};
    return pi_sdk_answer(plugin, rows, name, size, value, out_size);
}

/* Makes a part of the instance the plugin's platform. `devices`, also a part of the instance, are
 * its devices; the plugin fills their structs by pi_sdk_embed_device. */
static inline void pi_sdk_embed_platform(pi_sdk_plugin *plugin, uint32_t device_count,
                                         const pi_device *devices, pi_sdk_platform *platform) {
    pi_sdk_embed(plugin->object.host, PI_KIND_PLATFORM, &platform->object);
    platform->plugin = plugin;
    platform->device_count = device_count;
    platform->devices = devices;
}
static inline void pi_sdk_embed_device(pi_sdk_platform *platform, pi_device_type type,
                                       const pi_memory_scope *scopes, uint32_t scope_count,
                                       uint64_t max_alignment, pi_sdk_device *device) {
    pi_sdk_embed(platform->object.host, PI_KIND_DEVICE, &device->object);
    device->platform = platform;
    device->type = type;
    device->scopes = scopes;
    device->scope_count = scope_count;
    device->max_alignment = max_alignment;
}

/* Answers piPlatformGetInfo from the plugin's `rows`; PI_PLATFORM_INFO_PLUGIN is answered here. */
static inline pi_result pi_sdk_answer_platform(pi_platform handle, const pi_sdk_info *rows,
                                               uint32_t name, uint64_t size, void *value,
                                               uint64_t *out_size) {
    const pi_sdk_platform *platform = (const pi_sdk_platform *)handle;
    const pi_host *host = pi_sdk_host(handle);
    int found;
    pi_result result = pi_sdk_check(host, handle, PI_KIND_PLATFORM, "platform");
    if (result)
        return result;
    result = pi_sdk_find_info(host, rows, name, size, value, out_size, &found);
    if (found)
        return result;
    const pi_sdk_info common[] = {pi_sdk_handle(PI_PLATFORM_INFO_PLUGIN, platform->plugin), {0}};
    return pi_sdk_answer(handle, common, name, size, value, out_size);
}

static inline pi_result PI_CALL pi_sdk_devices_get(pi_platform handle, pi_device_type types,
                                                   uint32_t capacity, pi_device *out_devices,
                                                   uint32_t *out_count) {
    const pi_sdk_platform *platform = (const pi_sdk_platform *)handle;
    const pi_host *host = pi_sdk_host(handle);
    uint32_t i, count = 0;
    pi_result result = pi_sdk_check(host, handle, PI_KIND_PLATFORM, "platform");
    if (!result && !out_devices && !out_count)
        result = pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER,
                             "out_devices and out_count are both NULL: nothing to answer into");
    if (result)
        return result;
    for (i = 0; i < platform->device_count; ++i)
        if (pi_sdk_asks_for(types, ((const pi_sdk_device *)platform->devices[i])->type)) {
            if (out_devices && count < capacity)
                out_devices[count] = platform->devices[i];
            ++count;
        }
    if (out_count)
        *out_count = count;
    return PI_SUCCESS;
}

static inline pi_result PI_CALL pi_sdk_device_get_memory_scopes(pi_device handle, uint32_t capacity,
                                                                pi_memory_scope *out_scopes,
                                                                uint32_t *out_count) {
    const pi_sdk_device *device = (const pi_sdk_device *)handle;
    const pi_result result = pi_sdk_check(pi_sdk_host(handle), handle, PI_KIND_DEVICE, "device");
    return result
               ? result
               : pi_sdk_write_list(handle, PI_KIND_DEVICE, device->scopes, sizeof *device->scopes,
                                   device->scope_count, capacity, out_scopes, out_count);
}

/* Answers piDeviceGetInfo from the plugin's `rows`; what is the same for every root device is
 * answered here. */
static inline pi_result pi_sdk_answer_device(pi_device handle, const pi_sdk_info *rows,
                                             uint32_t name, uint64_t size, void *value,
                                             uint64_t *out_size) {
    const pi_sdk_device *device = (const pi_sdk_device *)handle;
    const pi_host *host = pi_sdk_host(handle);
    int found;
    pi_result result = pi_sdk_check(host, handle, PI_KIND_DEVICE, "device");
    if (result)
        return result;
    result = pi_sdk_find_info(host, rows, name, size, value, out_size, &found);
    if (found)
        return result;
    const pi_sdk_info common[] = {
        pi_sdk_u32(PI_DEVICE_INFO_TYPE, device->type),
        pi_sdk_handle(PI_DEVICE_INFO_PLATFORM, device->platform),
        pi_sdk_handle(PI_DEVICE_INFO_PARENT, NULL),
        pi_sdk_u32(PI_DEVICE_INFO_REFERENCE_COUNT, atomic_load(&device->object.references)),
        pi_sdk_u64(PI_DEVICE_INFO_QUEUE_FLAGS, 0),
        pi_sdk_u64(PI_DEVICE_INFO_CAPABILITIES, device->platform->plugin->capabilities),
        {0}};
    return pi_sdk_answer(handle, common, name, size, value, out_size);
}

/* Checks the arguments of piGetMemoryConnection. */
static inline pi_result pi_sdk_check_connection(pi_device src_device, pi_context src_context,
                                                pi_device dst_device, pi_context dst_context,
                                                const pi_memory_connection *out_connection) {
    const pi_host *host = pi_sdk_host(src_device);
    pi_result result = pi_sdk_check_place(host, src_context, src_device);
    if (!result)
        result = pi_sdk_check_place(host, dst_context, dst_device);
    return result ? result : pi_sdk_check_pointer(host, out_connection, "out_connection");
}

#endif
