/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The template plugin for a device with its own memory, which the host cannot address, and its own
 * queue, which runs commands later. Replace what is marked "Yours"; docs/plugin-authors.md is the
 * contract. The other functions come from the sdk (pi_sdk_complete in pi_sdk_plugin.h lists them)
 * or the loader. */
#include <pi/sdk/pi_sdk_plugin.h>

#include "simulated_device.h" /* Yours: the vendor's header */

enum { DEVICES = 2 };

/* Yours: your driver's data for each device. */
typedef struct processor {
    pi_sdk_device device; /* first, as in every object */
    simulated_device *driver;
} processor;

/* An instance, one for each loader. */
typedef struct instance {
    pi_sdk_plugin plugin;
    pi_sdk_platform platform;
    processor processors[DEVICES];
    pi_device devices[DEVICES];
    pthread_mutex_t mutex; /* guards opening the driver */
} instance;

/* Yours: the kinds of memory. Neither COHERENT nor MAPS_IN_PLACE: the host accesses it through
 * copies. */
static const pi_memory_scope scopes[] = {{.name = "global",
                                          .flags = PI_SCOPE_POOLABLE,
                                          .capacity = DEVICE_MEMORY,
                                          .max_allocation = DEVICE_MEMORY,
                                          .min_alignment = 64,
                                          .offset_alignment = 1,
                                          .flush_atom = 1}};

static simulated_device *driver_of(const void *handle) {
    return ((const processor *)handle)->driver;
}

static int open_devices(instance *self) {
    int i;
    for (i = 0; i < DEVICES; ++i)
        if (!self->processors[i].driver && !(self->processors[i].driver = device_open()))
            return 0;
    return 1;
}

/* Yours: open the vendor's library here, once. Without it return PI_ERROR_UNAVAILABLE and a text
 * with the reason. */
static pi_result PI_CALL platforms_get(pi_plugin plugin, uint32_t capacity,
                                       pi_platform *out_platforms, uint32_t *out_count) {
    instance *self = (instance *)plugin;
    const pi_platform platform = (pi_platform)&self->platform;
    const pi_host *host = pi_sdk_host(plugin);
    pi_result result = pi_sdk_check(host, plugin, PI_KIND_PLUGIN, "plugin");
    if (result)
        return result;
    pthread_mutex_lock(&self->mutex);
    if (!open_devices(self))
        result = pi_sdk_fail(host, PI_ERROR_UNAVAILABLE, "device_open: no device answers");
    pthread_mutex_unlock(&self->mutex);
    return result ? result
                  : pi_sdk_write_list(plugin, PI_KIND_PLUGIN, &platform, sizeof platform, 1,
                                      capacity, out_platforms, out_count);
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

/* Yours: everything that your driver knows. Leave out what it does not know: do not answer with
 * zeros. */
static pi_result PI_CALL device_get_info(pi_device device, pi_device_info name, uint64_t size,
                                         void *value, uint64_t *out_size) {
    const pi_sdk_info rows[] = {pi_sdk_text(PI_DEVICE_INFO_NAME, "template device"),
                                pi_sdk_text(PI_DEVICE_INFO_VENDOR, "template vendor"),
                                pi_sdk_text(PI_DEVICE_INFO_VERSION, "0.1"),
                                pi_sdk_u64(PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, DEVICE_MEMORY),
                                pi_sdk_u64(PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, DEVICE_MEMORY),
                                pi_sdk_u32(PI_DEVICE_INFO_INTEGRATED, 0),
                                {0}};
    return pi_sdk_answer_device(device, rows, name, size, value, out_size);
}

/* Yours, and the most important function: see the five promises in pi.h. Here each device has its
 * own memory, the same in all contexts, and cannot access another device's. */
static pi_result PI_CALL get_memory_connection(pi_device src_device, pi_context src_context,
                                               pi_device dst_device, pi_context dst_context,
                                               pi_memory_connection *out_connection) {
    const pi_result result =
        pi_sdk_check_connection(src_device, src_context, dst_device, dst_context, out_connection);
    if (!result)
        *out_connection =
            src_device == dst_device ? PI_MEMORY_CONNECTION_UNIFIED : PI_MEMORY_CONNECTION_NONE;
    return result;
}

/* ----- Buffers -------------------------------------------------------------------------------- */

/* mem.bytes stays NULL: the host cannot address the memory. */
typedef struct buffer {
    pi_sdk_mem mem; /* first */
    uint64_t address;
} buffer;

/* A map returns the application's PI_MEM_USE_HOST_PTR, or a copy of the plugin's. */
static void *copy_alloc(const buffer *self, const pi_buffer_map_desc *map) {
    return self->mem.desc.flags & PI_MEM_USE_HOST_PTR
               ? (unsigned char *)self->mem.desc.host_ptr + map->offset
               : pi_sdk_aligned_alloc(self->mem.desc.alignment, map->size);
}
static void copy_free(const buffer *self, void *copy) {
    if (!(self->mem.desc.flags & PI_MEM_USE_HOST_PTR))
        free(copy);
}

/* Called when no command uses the buffer: `keeps` of the last one was released. */
static void buffer_destroy(void *object) {
    buffer *self = object;
    const pi_sdk_map *map;
    for (map = self->mem.maps; map; map = map->next)
        copy_free(self, map->pointer);
    if (self->address != NO_ADDRESS)
        device_free(driver_of(self->mem.device), self->address);
    pi_sdk_mem_destroy(self);
}

/* The initial bytes of a buffer: a copy, since the application may change its own after the
 * call. */
typedef struct upload {
    uint64_t address, size;
    unsigned char bytes[];
} upload;

static void upload_work(unsigned char *memory, void *user) {
    const upload *self = user;
    memcpy(memory + self->address, self->bytes, self->size);
    free(user);
}

/* Creating a buffer must not wait for commands. The device runs things in order: this comes before
 * all uses. */
static int buffer_upload(const buffer *self) {
    const uint64_t size = self->mem.desc.size;
    upload *copy = malloc(sizeof *copy + size);
    if (!copy)
        return 0;
    copy->address = self->address;
    copy->size = size;
    memcpy(copy->bytes, self->mem.desc.host_ptr, size);
    if (device_submit(driver_of(self->mem.device), upload_work, copy))
        return 1;
    free(copy);
    return 0;
}

static pi_result PI_CALL mem_buffer_create(pi_context context, pi_device device,
                                           const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    const pi_host *host = pi_sdk_host(context);
    pi_sdk_mem *mem;
    buffer *self;
    pi_result result = pi_sdk_mem_new(context, device, desc, sizeof *self, out_mem, &mem);
    if (result)
        return result;
    self = (buffer *)mem;
    mem->object.destroy = buffer_destroy;
    self->address = device_alloc(driver_of(device), mem->desc.size, mem->desc.alignment);
    if (self->address == NO_ADDRESS)
        result = pi_sdk_fail(host, PI_ERROR_OUT_OF_DEVICE_MEMORY,
                             "device_alloc: %llu bytes requested, aligned to %llu",
                             (unsigned long long)mem->desc.size,
                             (unsigned long long)mem->desc.alignment);
    else if (mem->desc.host_ptr && !buffer_upload(self))
        result = pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory to copy host_ptr");
    if (result)
        pi_sdk_release(mem);
    else
        *out_mem = (pi_mem)mem;
    return result;
}

/* ----- Commands: submitted when their dependencies are complete, and finished by the device --- */

/* Yours: the vendor's call, with a callback. It must not block. */
static void submit(pi_sdk_event *event, device_work work) {
    if (!device_submit(driver_of(event->queue->device), work, event))
        pi_sdk_event_finish(event, PI_ERROR_OUT_OF_HOST_MEMORY, "device_submit: no memory");
}

static void copy_work(unsigned char *memory, void *user) {
    pi_sdk_event *event = user;
    const buffer *src = event->command.keeps[0], *dst = event->command.keeps[1];
    pi_sdk_copy_regions(event->command.data_size / sizeof(pi_region), event->command.data,
                        memory + src->address, memory + dst->address);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}
static void copy_start(pi_sdk_event *event) {
    submit(event, copy_work);
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

static void map_work(unsigned char *memory, void *user) {
    pi_sdk_event *event = user;
    const pi_buffer_map_desc *desc = event->command.data;
    const buffer *self = event->command.keeps[0];
    void *copy = copy_alloc(self, desc);
    if (!copy) {
        pi_sdk_event_finish(event, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory to map into");
        return;
    }
    if (desc->flags & (PI_MAP_READ | PI_MAP_WRITE)) /* WRITE keeps what the host does not write */
        memcpy(copy, memory + self->address + desc->offset, desc->size);
    pi_sdk_mem_mapped(event, copy);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}

static void unmap_work(unsigned char *memory, void *user) {
    pi_sdk_event *event = user;
    const pi_unmap_desc *desc = event->command.data;
    const buffer *self = event->command.keeps[0];
    pi_buffer_map_desc map;
    if (!pi_sdk_mem_unmapped(event, &map)) {
        pi_sdk_event_finish(event, PI_ERROR_INVALID_VALUE, "no map of mem gave this pointer");
        return;
    }
    if (map.flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD))
        memcpy(memory + self->address + map.offset, desc->pointer, map.size);
    copy_free(self, desc->pointer);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}
static void map_start(pi_sdk_event *event) {
    submit(event, map_work);
}
static void unmap_start(pi_sdk_event *event) {
    submit(event, unmap_work);
}

static pi_result PI_CALL enqueue_map(pi_queue queue, const pi_buffer_map_desc *given,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    pi_buffer_map_desc desc;
    const pi_result result = pi_sdk_read_map(queue, given, &desc);
    return result ? result
                  : pi_sdk_enqueue_map(queue, &desc, map_start, wait_count, wait_list, out_event);
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

/* ----- PI_CAPABILITY_BUFFER_COMMANDS: all three, or none: then the loader uses maps ----------- */

static void read_work(unsigned char *memory, void *user) {
    pi_sdk_event *event = user;
    const buffer *self = event->command.keeps[0];
    pi_sdk_copy_regions(event->command.data_size / sizeof(pi_region), event->command.data,
                        memory + self->address, event->command.host_ptr);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}
static void read_start(pi_sdk_event *event) {
    submit(event, read_work);
}

static pi_result PI_CALL enqueue_read(pi_queue queue, const pi_buffer_read_desc *given,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event) {
    pi_buffer_read_desc desc;
    const pi_result result = pi_sdk_read_read(queue, given, &desc);
    if (result)
        return result;
    const pi_sdk_command command = {.type = desc.type,
                                    .flags = desc.flags,
                                    .start = read_start,
                                    .data = desc.regions,
                                    .data_size = desc.region_count * sizeof(pi_region),
                                    .keeps = {desc.mem},
                                    .host_ptr = desc.host_ptr};
    return pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}

static void write_work(unsigned char *memory, void *user) {
    pi_sdk_event *event = user;
    const buffer *self = event->command.keeps[0];
    pi_sdk_copy_regions(event->command.data_size / sizeof(pi_region), event->command.data,
                        event->command.host_ptr, memory + self->address);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}
static void write_start(pi_sdk_event *event) {
    submit(event, write_work);
}

static pi_result PI_CALL enqueue_write(pi_queue queue, const pi_buffer_write_desc *given,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    pi_buffer_write_desc desc;
    const pi_result result = pi_sdk_read_write(queue, given, &desc);
    if (result)
        return result;
    const pi_sdk_command command = {.type = desc.type,
                                    .flags = desc.flags,
                                    .start = write_start,
                                    .data = desc.regions,
                                    .data_size = desc.region_count * sizeof(pi_region),
                                    .keeps = {desc.mem},
                                    .host_ptr = (void *)desc.host_ptr};
    return pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}

static void fill_work(unsigned char *memory, void *user) {
    pi_sdk_event *event = user;
    const buffer *self = event->command.keeps[0];
    pi_sdk_fill_bytes(event->command.data, memory + self->address);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}
static void fill_start(pi_sdk_event *event) {
    submit(event, fill_work);
}

static pi_result PI_CALL enqueue_fill(pi_queue queue, const pi_buffer_fill_desc *given,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event) {
    pi_sdk_fill fill;
    const pi_result result = pi_sdk_read_fill(queue, given, &fill);
    if (result)
        return result;
    const pi_sdk_command command = {.type = fill.desc.type,
                                    .flags = fill.desc.flags,
                                    .start = fill_start,
                                    .data = &fill,
                                    .data_size = sizeof fill,
                                    .keeps = {fill.desc.mem}};
    return pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}

/* ----- PI_CAPABILITY_HOST_FUNCTION ------------------------------------------------------------ */

static void function_work(unsigned char *memory, void *user) {
    pi_sdk_event *event = user;
    const pi_host_function_desc *desc = event->command.data;
    (void)memory;
    pi_sdk_call_host_function(event->object.host, desc->function, desc->user_data);
    pi_sdk_event_finish(event, PI_SUCCESS, NULL);
}
static void function_start(pi_sdk_event *event) {
    submit(event, function_work);
}

static pi_result PI_CALL enqueue_host_function(pi_queue queue, const pi_host_function_desc *given,
                                               uint32_t wait_count, const pi_event *wait_list,
                                               pi_event *out_event) {
    pi_host_function_desc desc;
    const pi_result result = pi_sdk_read_command(queue, given, PI_TYPE_HOST_FUNCTION_DESC,
                                                 PI_COMMAND_BLOCKING, &desc, sizeof desc);
    if (result)
        return result;
    if (!desc.function)
        return pi_sdk_fail(pi_sdk_host(queue), PI_ERROR_INVALID_NULL_POINTER, "function is NULL");
    const pi_sdk_command command = {.type = desc.type,
                                    .flags = desc.flags,
                                    .start = function_start,
                                    .data = &desc,
                                    .data_size = sizeof desc};
    return pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}

/* ----- The plugin ----------------------------------------------------------------------------- */

static const pi_dispatch functions = {.piPlatformsGet = platforms_get,
                                      .piPlatformGetInfo = platform_get_info,
                                      .piDeviceGetInfo = device_get_info,
                                      .piGetMemoryConnection = get_memory_connection,
                                      .piMemBufferCreate = mem_buffer_create,
                                      .piEnqueueMemBufferRead = enqueue_read,
                                      .piEnqueueMemBufferWrite = enqueue_write,
                                      .piEnqueueMemBufferCopy = enqueue_copy,
                                      .piEnqueueMemBufferFill = enqueue_fill,
                                      .piEnqueueMemBufferMap = enqueue_map,
                                      .piEnqueueMemUnmap = enqueue_unmap,
                                      .piEnqueueHostFunction = enqueue_host_function};

/* Called when no object is left, and no thread of the application is in the plugin. */
static void instance_destroy(void *object) {
    instance *self = object;
    int i;
    for (i = 0; i < DEVICES; ++i)
        if (self->processors[i].driver)
            device_close(self->processors[i].driver);
    pthread_mutex_destroy(&self->mutex);
}

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    const uint64_t capabilities = PI_CAPABILITY_BUFFER_COMMANDS | PI_CAPABILITY_HOST_FUNCTION;
    instance *self = pi_sdk_open(host, out_desc, "template", "0.1", capabilities, &functions,
                                 sizeof *self, instance_destroy);
    int i;
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&self->mutex, NULL);
    pi_sdk_embed_platform(&self->plugin, DEVICES, self->devices, &self->platform);
    for (i = 0; i < DEVICES; ++i) {
        self->devices[i] = (pi_device)&self->processors[i];
        pi_sdk_embed_device(&self->platform, PI_DEVICE_TYPE_ACCELERATOR, scopes, 1, 1 << 21,
                            &self->processors[i].device);
    }
    return PI_SUCCESS;
}
