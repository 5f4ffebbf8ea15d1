/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plugin whose functions return immediately, so that only the way to them is measured. One
 * device, no memory. PI_BENCH_PLUGIN_NAME is its name: several plugins use this source. */
#include <pi/sdk/pi_sdk_plugin.h>

typedef struct instance {
    pi_sdk_plugin plugin; /* first, as in every object */
    pi_sdk_platform platform;
    pi_sdk_device device;
    pi_device devices[1];
} instance;

static const pi_memory_scope scopes[] = {
    {.name = "none", .min_alignment = 1, .offset_alignment = 1, .flush_atom = 1}};

/* The two measured functions. */
static pi_result PI_CALL device_retain(pi_device device) {
    (void)device;
    return PI_SUCCESS;
}

static pi_result PI_CALL device_select_binary(pi_device device, uint32_t count,
                                              const pi_program_binary *binaries,
                                              uint32_t *out_index) {
    (void)device, (void)count, (void)binaries;
    *out_index = 0;
    return PI_SUCCESS;
}

static pi_result PI_CALL platforms_get(pi_plugin plugin, uint32_t capacity,
                                       pi_platform *out_platforms, uint32_t *out_count) {
    const instance *self = (const instance *)plugin;
    const pi_platform platform = (pi_platform)&self->platform;
    return pi_sdk_write_list(plugin, PI_KIND_PLUGIN, &platform, sizeof platform, 1, capacity,
                             out_platforms, out_count);
}

static pi_result PI_CALL platform_get_info(pi_platform platform, pi_platform_info name,
                                           uint64_t size, void *value, uint64_t *out_size) {
    const pi_sdk_info rows[] = {pi_sdk_text(PI_PLATFORM_INFO_NAME, "idle"),
                                pi_sdk_text(PI_PLATFORM_INFO_VENDOR, "pi-bench"),
                                pi_sdk_text(PI_PLATFORM_INFO_VERSION, "0.1"),
                                pi_sdk_u32(PI_PLATFORM_INFO_BACKEND, PI_BACKEND_OTHER),
                                {0}};
    return pi_sdk_answer_platform(platform, rows, name, size, value, out_size);
}

static pi_result PI_CALL device_get_info(pi_device device, pi_device_info name, uint64_t size,
                                         void *value, uint64_t *out_size) {
    const pi_sdk_info rows[] = {pi_sdk_text(PI_DEVICE_INFO_NAME, "idle device"),
                                pi_sdk_text(PI_DEVICE_INFO_VENDOR, "pi-bench"),
                                pi_sdk_text(PI_DEVICE_INFO_VERSION, "0.1"),
                                {0}};
    return pi_sdk_answer_device(device, rows, name, size, value, out_size);
}

static pi_result PI_CALL get_memory_connection(pi_device src_device, pi_context src_context,
                                               pi_device dst_device, pi_context dst_context,
                                               pi_memory_connection *out_connection) {
    const pi_result result =
        pi_sdk_check_connection(src_device, src_context, dst_device, dst_context, out_connection);
    if (!result)
        *out_connection = PI_MEMORY_CONNECTION_UNIFIED;
    return result;
}

static pi_result PI_CALL mem_buffer_create(pi_context context, pi_device device,
                                           const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    (void)device, (void)desc, (void)out_mem;
    return pi_sdk_fail(pi_sdk_host(context), PI_ERROR_UNSUPPORTED_FEATURE,
                       "the idle device has no memory");
}

/* Never called, as there are no memory objects. */
static pi_result PI_CALL enqueue_copy(pi_queue queue, const pi_buffer_copy_desc *desc,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event) {
    (void)desc, (void)wait_count, (void)wait_list, (void)out_event;
    return pi_sdk_fail(pi_sdk_host(queue), PI_ERROR_UNSUPPORTED_FEATURE,
                       "the idle device has no memory");
}

static pi_result PI_CALL enqueue_map(pi_queue queue, const pi_buffer_map_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    (void)desc;
    return enqueue_copy(queue, NULL, wait_count, wait_list, out_event);
}

static pi_result PI_CALL enqueue_unmap(pi_queue queue, const pi_unmap_desc *desc,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    (void)desc;
    return enqueue_copy(queue, NULL, wait_count, wait_list, out_event);
}

static const pi_dispatch functions = {.piPlatformsGet = platforms_get,
                                      .piPlatformGetInfo = platform_get_info,
                                      .piDeviceGetInfo = device_get_info,
                                      .piDeviceRetain = device_retain,
                                      .piDeviceSelectBinary = device_select_binary,
                                      .piGetMemoryConnection = get_memory_connection,
                                      .piMemBufferCreate = mem_buffer_create,
                                      .piEnqueueMemBufferCopy = enqueue_copy,
                                      .piEnqueueMemBufferMap = enqueue_map,
                                      .piEnqueueMemUnmap = enqueue_unmap};

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    instance *self =
        pi_sdk_open(host, out_desc, PI_BENCH_PLUGIN_NAME, "0.1", 0, &functions, sizeof *self, NULL);
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    self->devices[0] = (pi_device)&self->device;
    pi_sdk_embed_platform(&self->plugin, 1, self->devices, &self->platform);
    pi_sdk_embed_device(&self->platform, PI_DEVICE_TYPE_OTHER, scopes, 1, 1 << 21, &self->device);
    return PI_SUCCESS;
}
