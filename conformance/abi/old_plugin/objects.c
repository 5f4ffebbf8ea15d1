/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "old_plugin.h"

#include <stdlib.h>

/* Every object of the plugin begins with an object. */
static object *base_of(const void *handle) {
    return (object *)(uintptr_t)handle;
}

const pi_host *host_of(const void *handle) {
    return base_of(handle)->plugin->host;
}

void *new_object(pi_plugin plugin, pi_kind kind, size_t size, pi_context context) {
    object *made = calloc(1, size);
    if (!made)
        return NULL;
    made->plugin = plugin;
    made->references = 1;
    made->context = context;
    if (context)
        retain_object(context);
    pi_sdk_object_begin(&made->header, plugin->host, kind);
    return made;
}

void retain_object(void *handle) {
    object *it = base_of(handle);
    pthread_mutex_lock(&it->plugin->lock);
    ++it->references;
    pthread_mutex_unlock(&it->plugin->lock);
}

uint32_t references_of(void *handle) {
    object *it = base_of(handle);
    pthread_mutex_lock(&it->plugin->lock);
    uint32_t references = it->references;
    pthread_mutex_unlock(&it->plugin->lock);
    return references;
}

/* Outside of the lock: the end of the last object may tear the instance down. */
void release_object(void *handle) {
    object *it = base_of(handle);
    const pi_host *host = it->plugin->host;
    pthread_mutex_lock(&it->plugin->lock);
    uint32_t left = --it->references;
    pthread_mutex_unlock(&it->plugin->lock);
    if (left)
        return;
    if (it->header.kind == PI_KIND_MEM && ((pi_mem)handle)->owned)
        free(((pi_mem)handle)->bytes);
    if (it->context)
        release_object(it->context);
    free(it);
    pi_sdk_object_end(host);
}

/* `first` is the call's first argument, which the loader has checked to be of this plugin. */
pi_result check_kind(const void *first, const void *handle, pi_kind kind) {
    if (pi_sdk_is(handle, host_of(first), kind))
        return PI_SUCCESS;
    return pi_sdk_fail(host_of(first), pi_sdk_invalid(kind),
                       "%p is NULL or no object of kind %u of this plugin", handle, (unsigned)kind);
}

/* For a name that was not answered. */
pi_result info_name(const pi_host *host, uint32_t name, uint32_t last) {
    if (name == 0 || name > last)
        return pi_sdk_fail(host, PI_ERROR_INVALID_ENUMERATION, "name is %u, should be 1 to %u",
                           (unsigned)name, (unsigned)last);
    return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE, "this plugin has no information %u",
                       (unsigned)name);
}

#define ANSWER(type, ...)                                                                          \
    do {                                                                                           \
        type answer = __VA_ARGS__;                                                                 \
        return pi_sdk_write_info(host, &answer, sizeof answer, size, value, out_size);             \
    } while (0)
#define ANSWER_TEXT(text) return pi_sdk_write_info(host, text, sizeof text, size, value, out_size)

pi_result old_plugin_get_info(pi_plugin plugin, pi_plugin_info name, uint64_t size, void *value,
                              uint64_t *out_size) {
    const pi_host *host = plugin->host;
    switch (name) {
    case PI_PLUGIN_INFO_NAME:
        ANSWER_TEXT(PLUGIN_NAME);
    case PI_PLUGIN_INFO_VERSION:
        ANSWER_TEXT("1.2.3");
    case PI_PLUGIN_INFO_CAPABILITIES:
        ANSWER(uint64_t, PLUGIN_CAPABILITIES);
    default:
        return info_name(host, name, PI_PLUGIN_INFO_CAPABILITIES);
    }
}

pi_result old_platforms_get(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                            uint32_t *out_count) {
    if (out_platforms && capacity)
        out_platforms[0] = &plugin->platform;
    if (out_count)
        *out_count = 1;
    return PI_SUCCESS;
}

pi_result old_platform_get_info(pi_platform platform, pi_platform_info name, uint64_t size,
                                void *value, uint64_t *out_size) {
    const pi_host *host = host_of(platform);
    switch (name) {
    case PI_PLATFORM_INFO_NAME:
        ANSWER_TEXT("Platform of an old plugin");
    case PI_PLATFORM_INFO_VENDOR:
        ANSWER_TEXT("PI");
    case PI_PLATFORM_INFO_VERSION:
        ANSWER_TEXT("1.2.3");
    case PI_PLATFORM_INFO_PLUGIN:
        ANSWER(pi_plugin, platform->base.plugin);
    case PI_PLATFORM_INFO_BACKEND:
        ANSWER(uint32_t, PI_BACKEND_OTHER);
    default:
        return info_name(host, name, PI_PLATFORM_INFO_BACKEND);
    }
}

pi_result old_devices_get(pi_platform platform, pi_device_type types, uint32_t capacity,
                          pi_device *out_devices, uint32_t *out_count) {
    uint32_t count = !types || types & PI_DEVICE_TYPE_CPU ? 1 : 0;
    if (out_devices && capacity && count)
        out_devices[0] = &platform->base.plugin->device;
    if (out_count)
        *out_count = count;
    return PI_SUCCESS;
}

pi_result old_device_get_info(pi_device device, pi_device_info name, uint64_t size, void *value,
                              uint64_t *out_size) {
    const pi_host *host = host_of(device);
    switch (name) {
    case PI_DEVICE_INFO_TYPE:
        ANSWER(pi_device_type, PI_DEVICE_TYPE_CPU);
    case PI_DEVICE_INFO_NAME:
        ANSWER_TEXT("Device of an old plugin");
    case PI_DEVICE_INFO_VENDOR:
        ANSWER_TEXT("PI");
    case PI_DEVICE_INFO_VERSION:
        ANSWER_TEXT("1.2.3");
    case PI_DEVICE_INFO_DRIVER_VERSION:
        ANSWER_TEXT("1.2.3");
    case PI_DEVICE_INFO_PLATFORM:
        ANSWER(pi_platform, &device->base.plugin->platform);
    case PI_DEVICE_INFO_PARENT:
        ANSWER(pi_device, NULL);
    case PI_DEVICE_INFO_REFERENCE_COUNT:
        ANSWER(uint32_t, 1);
    case PI_DEVICE_INFO_BUFFER_OFFSET_MODE:
        ANSWER(uint32_t, PI_BUFFER_OFFSET_POINTER);
    case PI_DEVICE_INFO_HOST_POINTER_IMPORT:
        ANSWER(uint32_t, 0);
    case PI_DEVICE_INFO_INTEGRATED:
        ANSWER(uint32_t, 1);
    case PI_DEVICE_INFO_QUEUE_FLAGS:
        ANSWER(uint64_t, 0);
    case PI_DEVICE_INFO_CAPABILITIES:
        ANSWER(uint64_t, 0);
    default:
        return info_name(host, name, PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT);
    }
}

pi_result old_device_retain(pi_device device) {
    (void)device;
    return PI_SUCCESS;
}

pi_result old_device_release(pi_device device) {
    (void)device;
    return PI_SUCCESS;
}

pi_result old_device_get_memory_scopes(pi_device device, uint32_t capacity,
                                       pi_memory_scope *out_scopes, uint32_t *out_count) {
    (void)device;
    if (out_scopes && capacity)
        out_scopes[0] = (pi_memory_scope){
            .name = "global", .min_alignment = 64, .offset_alignment = 1, .flush_atom = 1};
    if (out_count)
        *out_count = 1;
    return PI_SUCCESS;
}

pi_result old_context_create(pi_platform platform, const pi_context_desc *desc,
                             pi_context *out_context) {
    const pi_host *host = host_of(platform);
    pi_context_desc read;
    pi_result result = pi_sdk_read_desc(host, desc, PI_TYPE_CONTEXT_DESC, 0, &read, sizeof read);
    if (result)
        return result;
    if (read.flags || read.reserved)
        return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE, "desc->flags must be 0");
    if (!read.devices || !out_context)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "devices or out_context is NULL");
    if (read.device_count != 1)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE, "device_count is %u; there is 1 device",
                           (unsigned)read.device_count);
    if ((result = check_kind(platform, read.devices[0], PI_KIND_DEVICE)))
        return result;
    pi_context made = new_object(platform->base.plugin, PI_KIND_CONTEXT, sizeof *made, NULL);
    if (!made)
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for a context");
    *out_context = made;
    return PI_SUCCESS;
}

pi_result old_context_retain(pi_context context) {
    retain_object(context);
    return PI_SUCCESS;
}

pi_result old_context_release(pi_context context) {
    release_object(context);
    return PI_SUCCESS;
}

pi_result old_context_get_info(pi_context context, pi_context_info name, uint64_t size, void *value,
                               uint64_t *out_size) {
    const pi_host *host = host_of(context);
    switch (name) {
    case PI_CONTEXT_INFO_DEVICES:
        ANSWER(pi_device, &context->base.plugin->device);
    case PI_CONTEXT_INFO_PLATFORM:
        ANSWER(pi_platform, &context->base.plugin->platform);
    case PI_CONTEXT_INFO_REFERENCE_COUNT:
        ANSWER(uint32_t, references_of(context));
    default:
        return info_name(host, name, PI_CONTEXT_INFO_REFERENCE_COUNT);
    }
}

/* There is one device, and all contexts are of it. */
pi_result old_get_memory_connection(pi_device src_device, pi_context src_context,
                                    pi_device dst_device, pi_context dst_context,
                                    pi_memory_connection *out_connection) {
    pi_result result = check_kind(src_device, src_context, PI_KIND_CONTEXT);
    if (!result)
        result = check_kind(src_device, dst_device, PI_KIND_DEVICE);
    if (!result)
        result = check_kind(src_device, dst_context, PI_KIND_CONTEXT);
    if (!result)
        *out_connection = PI_MEMORY_CONNECTION_UNIFIED;
    return result;
}

pi_result old_queue_create(pi_context context, pi_device device, const pi_queue_desc *desc,
                           pi_queue *out_queue) {
    const pi_host *host = host_of(context);
    pi_queue_desc read = {0};
    pi_result result = check_kind(context, device, PI_KIND_DEVICE);
    if (!result && desc)
        result = pi_sdk_read_desc(host, desc, PI_TYPE_QUEUE_DESC, 0, &read, sizeof read);
    if (result)
        return result;
    if (read.flags & ~(uint64_t)(PI_QUEUE_PRIORITY_LOW | PI_QUEUE_PRIORITY_HIGH))
        return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE, "queues are in order, unprofiled");
    pi_queue made = new_object(context->base.plugin, PI_KIND_QUEUE, sizeof *made, context);
    if (!made)
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
    *out_queue = made;
    return PI_SUCCESS;
}

pi_result old_queue_retain(pi_queue queue) {
    retain_object(queue);
    return PI_SUCCESS;
}

/* A pending command holds a reference to the queue: nothing to cancel, nothing to wait for. */
pi_result old_queue_release(pi_queue queue) {
    release_object(queue);
    return PI_SUCCESS;
}

pi_result old_queue_get_info(pi_queue queue, pi_queue_info name, uint64_t size, void *value,
                             uint64_t *out_size) {
    const pi_host *host = host_of(queue);
    switch (name) {
    case PI_QUEUE_INFO_CONTEXT:
        ANSWER(pi_context, queue->base.context);
    case PI_QUEUE_INFO_DEVICE:
        ANSWER(pi_device, &queue->base.plugin->device);
    case PI_QUEUE_INFO_FLAGS:
        ANSWER(uint64_t, 0);
    case PI_QUEUE_INFO_REFERENCE_COUNT:
        ANSWER(uint32_t, references_of(queue));
    default:
        return info_name(host, name, PI_QUEUE_INFO_REFERENCE_COUNT);
    }
}

static pi_result check_buffer(const pi_host *host, const pi_mem_buffer_desc *desc) {
    const uint64_t host_flags = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
    if (desc->flags & ~(host_flags | PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY) || desc->export_types)
        return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE, "flags %#llx or export_types %#x",
                           (unsigned long long)desc->flags, (unsigned)desc->export_types);
    if (desc->size == 0)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "size is 0");
    if (desc->alignment & (desc->alignment - 1))
        return pi_sdk_fail(host, PI_ERROR_INVALID_ALIGNMENT, "alignment %llu is no power of two",
                           (unsigned long long)desc->alignment);
    if (desc->scope != 0)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE, "scope is %u; there is 1",
                           (unsigned)desc->scope);
    if (!desc->host_ptr != !(desc->flags & host_flags) || (desc->flags & host_flags) == host_flags)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE, "host_ptr and flags disagree");
    if (desc->flags & PI_MEM_USE_HOST_PTR && desc->alignment > 1 &&
        (uintptr_t)desc->host_ptr % desc->alignment)
        return pi_sdk_fail(host, PI_ERROR_MISALIGNED_POINTER, "host_ptr breaks the alignment");
    return PI_SUCCESS;
}

pi_result old_mem_buffer_create(pi_context context, pi_device device,
                                const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    const pi_host *host = host_of(context);
    pi_mem_buffer_desc read;
    pi_result result = check_kind(context, device, PI_KIND_DEVICE);
    if (!result)
        result = pi_sdk_read_desc(host, desc, PI_TYPE_MEM_BUFFER_DESC, 0, &read, sizeof read);
    if (!result)
        result = check_buffer(host, &read);
    if (result)
        return result;
    uint64_t alignment = read.alignment > 64 ? read.alignment : 64;
    void *bytes = read.host_ptr;
    if (!(read.flags & PI_MEM_USE_HOST_PTR) && posix_memalign(&bytes, alignment, read.size))
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_DEVICE_MEMORY, "%llu bytes asked",
                           (unsigned long long)read.size);
    pi_mem made = new_object(context->base.plugin, PI_KIND_MEM, sizeof *made, context);
    if (!made) {
        if (bytes != read.host_ptr)
            free(bytes);
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for a buffer");
    }
    if (read.flags & PI_MEM_COPY_HOST_PTR)
        memcpy(bytes, read.host_ptr, read.size);
    made->flags = read.flags;
    made->size = read.size;
    made->bytes = bytes;
    made->owned = bytes != read.host_ptr;
    made->alignment = made->owned ? alignment : read.alignment ? read.alignment : 1;
    *out_mem = made;
    return PI_SUCCESS;
}

pi_result old_mem_get_info(pi_mem mem, pi_mem_info name, uint64_t size, void *value,
                           uint64_t *out_size) {
    const pi_host *host = host_of(mem);
    switch (name) {
    case PI_MEM_INFO_SIZE:
        ANSWER(uint64_t, mem->size);
    case PI_MEM_INFO_CONTEXT:
        ANSWER(pi_context, mem->base.context);
    case PI_MEM_INFO_DEVICE:
        ANSWER(pi_device, &mem->base.plugin->device);
    case PI_MEM_INFO_FLAGS:
        ANSWER(uint64_t, mem->flags);
    case PI_MEM_INFO_SCOPE:
        ANSWER(uint32_t, 0);
    case PI_MEM_INFO_ALIGNMENT:
        ANSWER(uint64_t, mem->alignment);
    case PI_MEM_INFO_PARENT:
        ANSWER(pi_mem, NULL);
    case PI_MEM_INFO_OFFSET:
        ANSWER(uint64_t, 0);
    case PI_MEM_INFO_COHERENCE:
        ANSWER(pi_coherence, PI_COHERENCE_MAP_UNMAP);
    case PI_MEM_INFO_KIND:
        ANSWER(pi_memory_kind, PI_MEMORY_KIND_BUFFER);
    case PI_MEM_INFO_REFERENCE_COUNT:
        ANSWER(uint32_t, references_of(mem));
    default:
        return info_name(host, name, PI_MEM_INFO_REFERENCE_COUNT);
    }
}

pi_result old_mem_retain(pi_mem mem) {
    retain_object(mem);
    return PI_SUCCESS;
}

pi_result old_mem_release(pi_mem mem) {
    release_object(mem);
    return PI_SUCCESS;
}
