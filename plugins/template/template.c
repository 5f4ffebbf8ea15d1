/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The template plugin: only the required functions, on the process's own memory. Replace what is
 * marked "Yours" (docs/plugin-authors.md). The rest is in the sdk (pi_sdk_complete) or loader. */
#include <pi/sdk/pi_sdk_plugin.h>

/* An instance, one for each loader. Yours: your driver's data, the number of devices. */
typedef struct instance {
    pi_sdk_plugin plugin; /* first, as in every object */
    pi_sdk_platform platform;
    pi_sdk_device device;
    pi_device devices[1];
} instance;

/* Yours: your device's kinds of memory. */
static const pi_memory_scope scopes[] = {
    {.name = "global",
     .flags = PI_SCOPE_COHERENT | PI_SCOPE_POOLABLE | PI_SCOPE_MAPS_IN_PLACE,
     .min_alignment = 64,
     .offset_alignment = 1,
     .flush_atom = 1}};

/* Yours: open the vendor's library here, once; without it return PI_ERROR_UNAVAILABLE and why. */
static pi_result PI_CALL platforms_get(pi_plugin plugin, uint32_t capacity,
                                       pi_platform *out_platforms, uint32_t *out_count) {
    const instance *self = (const instance *)plugin;
    const pi_platform platform = (pi_platform)&self->platform;
    return pi_sdk_write_list(plugin, PI_KIND_PLUGIN, &platform, sizeof platform, 1, capacity,
                             out_platforms, out_count);
}

static pi_result PI_CALL platform_get_info(pi_platform platform, pi_platform_info name,
                                           uint64_t size, void *value, uint64_t *out_size) {
    const pi_sdk_info rows[] = {pi_sdk_text(PI_PLATFORM_INFO_NAME, "template platform"),
                                pi_sdk_text(PI_PLATFORM_INFO_VENDOR, "template vendor"),
                                pi_sdk_text(PI_PLATFORM_INFO_VERSION, "0.1"),
                                pi_sdk_u32(PI_PLATFORM_INFO_BACKEND, PI_BACKEND_OTHER),
                                {0}};
    return pi_sdk_answer_platform(platform, rows, name, size, value, out_size);
}

/* Yours: everything that your driver knows. Leave out the rest: do not answer with zeros. */
static pi_result PI_CALL device_get_info(pi_device device, pi_device_info name, uint64_t size,
                                         void *value, uint64_t *out_size) {
    const pi_sdk_info rows[] = {pi_sdk_text(PI_DEVICE_INFO_NAME, "template device"),
                                pi_sdk_text(PI_DEVICE_INFO_VENDOR, "template vendor"),
                                pi_sdk_text(PI_DEVICE_INFO_VERSION, "0.1"),
                                pi_sdk_u32(PI_DEVICE_INFO_INTEGRATED, 1),
                                {0}};
    return pi_sdk_answer_device(device, rows, name, size, value, out_size);
}

/* Yours, and the most important one: see the five promises in pi.h. Here all memory is shared. */
static pi_result PI_CALL get_memory_connection(pi_device src_device, pi_context src_context,
                                               pi_device dst_device, pi_context dst_context,
                                               pi_memory_connection *out_connection) {
    const pi_result result =
        pi_sdk_check_connection(src_device, src_context, dst_device, dst_context, out_connection);
    if (!result)
        *out_connection = PI_MEMORY_CONNECTION_UNIFIED;
    return result;
}

/* Yours: from here on, the driver's allocations and commands. */
static void mem_destroy(void *object) {
    pi_sdk_mem *mem = object;
    if (!(mem->desc.flags & PI_MEM_USE_HOST_PTR))
        free(mem->bytes);
    pi_sdk_mem_destroy(mem);
}

static pi_result PI_CALL mem_buffer_create(pi_context context, pi_device device,
                                           const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    pi_sdk_mem *mem;
    const pi_result result = pi_sdk_mem_new(context, device, desc, sizeof *mem, out_mem, &mem);
    if (result)
        return result;
    mem->object.destroy = mem_destroy;
    mem->bytes = mem->desc.flags & PI_MEM_USE_HOST_PTR
                     ? mem->desc.host_ptr
                     : pi_sdk_aligned_alloc(mem->desc.alignment, mem->desc.size);
    if (!mem->bytes) {
        pi_sdk_release(mem);
        return pi_sdk_fail(pi_sdk_host(context), PI_ERROR_OUT_OF_DEVICE_MEMORY,
                           "malloc failed: %llu bytes requested", (unsigned long long)desc->size);
    }
    if (mem->desc.flags & PI_MEM_COPY_HOST_PTR)
        memcpy(mem->bytes, mem->desc.host_ptr, mem->desc.size);
    *out_mem = (pi_mem)mem;
    return PI_SUCCESS;
}

static void copy_start(pi_sdk_event *event) {
    const pi_sdk_mem *src = event->command.keeps[0], *dst = event->command.keeps[1];
    pi_sdk_copy_regions(event->command.data_size / sizeof(pi_region), event->command.data,
                        src->bytes, dst->bytes);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}

static pi_result PI_CALL enqueue_copy(pi_queue queue, const pi_buffer_copy_desc *given,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event) {
    pi_buffer_copy_desc desc;
    const pi_result result = pi_sdk_read_copy(queue, given, &desc);
    if (result)
        return result;
    const pi_sdk_command command = {.type = desc.type,
                                    .flags = desc.flags,
                                    .start = copy_start,
                                    .data = desc.regions,
                                    .data_size = desc.region_count * sizeof(pi_region),
                                    .keeps = {desc.src, desc.dst}};
    return pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}

static void map_start(pi_sdk_event *event) {
    const pi_buffer_map_desc *desc = event->command.data;
    const pi_sdk_mem *mem = event->command.keeps[0];
    pi_sdk_mem_mapped(event, mem->bytes + desc->offset);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}

static pi_result PI_CALL enqueue_map(pi_queue queue, const pi_buffer_map_desc *given,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    pi_buffer_map_desc desc;
    const pi_result result = pi_sdk_read_map(queue, given, &desc);
    return result ? result
                  : pi_sdk_enqueue_map(queue, &desc, map_start, wait_count, wait_list, out_event);
}

static void unmap_start(pi_sdk_event *event) {
    const int mapped = pi_sdk_mem_unmapped(event, NULL);
    pi_sdk_event_finish(event, mapped ? PI_SUCCESS : PI_ERROR_INVALID_VALUE,
                        "no map of mem gave this pointer");
}

static pi_result PI_CALL enqueue_unmap(pi_queue queue, const pi_unmap_desc *given,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    pi_unmap_desc desc;
    const pi_result result = pi_sdk_read_unmap(queue, given, &desc);
    return result
               ? result
               : pi_sdk_enqueue_unmap(queue, &desc, unmap_start, wait_count, wait_list, out_event);
}

static const pi_dispatch functions = {.piPlatformsGet = platforms_get,
                                      .piPlatformGetInfo = platform_get_info,
                                      .piDeviceGetInfo = device_get_info,
                                      .piGetMemoryConnection = get_memory_connection,
                                      .piMemBufferCreate = mem_buffer_create,
                                      .piEnqueueMemBufferCopy = enqueue_copy,
                                      .piEnqueueMemBufferMap = enqueue_map,
                                      .piEnqueueMemUnmap = enqueue_unmap};

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    instance *self = pi_sdk_open(host, out_desc, "template", "0.1", 0, &functions, sizeof *self, 0);
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    self->devices[0] = (pi_device)&self->device;
    pi_sdk_embed_platform(&self->plugin, 1, self->devices, &self->platform);
    pi_sdk_embed_device(&self->platform, PI_DEVICE_TYPE_OTHER, scopes, 1, 1 << 21, &self->device);
    return PI_SUCCESS;
}
