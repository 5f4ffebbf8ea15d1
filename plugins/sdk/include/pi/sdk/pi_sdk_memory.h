/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Buffers for plugins in C, and the checks that the commands on them begin with.
 */
#ifndef PI_SDK_PI_SDK_MEMORY_H
#define PI_SDK_PI_SDK_MEMORY_H

#include <pi/sdk/pi_sdk_queue.h>
#include <pi/sdk/pi_sdk_region.h>

/* A map that is enqueued, or that the application has not unmapped yet. */
typedef struct pi_sdk_map {
    struct pi_sdk_map *next; /* the next younger one */
    void *pointer;           /* the mapped pointer; NULL until the map has run */
    pi_buffer_map_desc desc;
} pi_sdk_map;

typedef struct pi_sdk_mem {
    pi_sdk_object object;
    pi_context context;
    pi_device device;
    pi_mem_buffer_desc desc; /* as requested, except alignment, the storage's; next is NULL */
    pi_coherence coherence;  /* of the scope: COHERENT, else MAP_UNMAP; the plugin may change it */
    unsigned char *bytes;    /* the storage's host address, set by the plugin; NULL without one */
    pthread_mutex_t mutex;   /* guards the list */
    pi_sdk_map *maps;        /* oldest first */
} pi_sdk_mem;

/* A plugin's own `destroy` calls it last. Until then `maps` still has the maps that were never
 * unmapped. */
static inline void pi_sdk_mem_destroy(void *object) {
    pi_sdk_mem *mem = (pi_sdk_mem *)object;
    while (mem->maps) {
        pi_sdk_map *map = mem->maps;
        mem->maps = map->next;
        free(map);
    }
    pthread_mutex_destroy(&mem->mutex);
    pi_sdk_release(mem->device);
    pi_sdk_release(mem->context);
}

static inline pi_result pi_sdk_check_buffer_desc(const pi_host *host,
                                                 const pi_mem_buffer_desc *desc,
                                                 const pi_sdk_device *device) {
    const uint64_t access = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
    const uint64_t pointer = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
    const uint64_t alignment = desc->alignment, largest = device->max_alignment;
    uint64_t limit;
    const pi_result result = pi_sdk_check_flags(host, desc->flags, access | pointer);
    if (result)
        return result;
    if (!desc->size)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "size is 0 bytes; 1 is needed");
    if (desc->scope >= device->scope_count)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE, "scope is %u; the device has %u",
                           (unsigned)desc->scope, (unsigned)device->scope_count);
    limit = device->scopes[desc->scope].max_allocation;
    if (limit && desc->size > limit)
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_DEVICE_MEMORY,
                           "size is %llu bytes; at most %llu can be allocated",
                           (unsigned long long)desc->size, (unsigned long long)limit);
    if (desc->export_types)
        return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE,
                           "export_types is 0x%x: no memory is exported here",
                           (unsigned)desc->export_types);
    if ((desc->flags & access) == access || (desc->flags & pointer) == pointer)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE, "flags 0x%llx exclude each other",
                           (unsigned long long)desc->flags);
    if (!(desc->flags & pointer) != !desc->host_ptr)
        return pi_sdk_fail(
            host, desc->host_ptr ? PI_ERROR_INVALID_VALUE : PI_ERROR_INVALID_NULL_POINTER,
            "host_ptr is %p, but flags 0x%llx", desc->host_ptr, (unsigned long long)desc->flags);
    if ((alignment & (alignment - 1) && alignment) || alignment > largest)
        return pi_sdk_fail(host, PI_ERROR_INVALID_ALIGNMENT,
                           "alignment is %llu; a power of two of at most %llu is needed",
                           (unsigned long long)alignment, (unsigned long long)largest);
    if (desc->flags & PI_MEM_USE_HOST_PTR && alignment && (uintptr_t)desc->host_ptr % alignment)
        return pi_sdk_fail(host, PI_ERROR_MISALIGNED_POINTER, "host_ptr is %p, but alignment %llu",
                           desc->host_ptr, (unsigned long long)alignment);
    return PI_SUCCESS;
}

/* Allocates storage in the process's own memory; freed by free(). NULL without memory. */
static inline void *pi_sdk_aligned_alloc(uint64_t alignment, uint64_t size) {
    const uint64_t room = alignment - 1;
    if (size > PTRDIFF_MAX - room) /* aligned_alloc requires a multiple */
        return NULL;
    return aligned_alloc((size_t)alignment, (size_t)((size + room) & ~room));
}

/* The first part of piMemBufferCreate: checks everything and makes the object, a struct of `size`
 * bytes that begins with a pi_sdk_mem. The plugin adds the storage, aligned to desc.alignment.
 * Known flags: PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY, PI_MEM_COPY_HOST_PTR, PI_MEM_USE_HOST_PTR. */
static inline pi_result pi_sdk_mem_new(pi_context context, pi_device device,
                                       const pi_mem_buffer_desc *given, size_t size,
                                       const pi_mem *out_mem, pi_sdk_mem **out_object) {
    const pi_host *host = pi_sdk_host(context);
    const pi_sdk_device *owner = (const pi_sdk_device *)device;
    pi_mem_buffer_desc desc;
    pi_sdk_mem *mem;
    pi_result result = pi_sdk_check_place(host, context, device);
    if (!result)
        result = pi_sdk_read_desc(host, given, PI_TYPE_MEM_BUFFER_DESC, 0, &desc, sizeof desc);
    if (!result)
        result = pi_sdk_check_pointer(host, out_mem, "out_mem");
    if (!result)
        result = pi_sdk_check_buffer_desc(host, &desc, owner);
    if (result)
        return result;
    mem = (pi_sdk_mem *)pi_sdk_new(host, PI_KIND_MEM, size, pi_sdk_mem_destroy);
    if (!mem)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    desc.next = NULL;
    if (desc.alignment < owner->scopes[desc.scope].min_alignment)
        desc.alignment = owner->scopes[desc.scope].min_alignment;
    mem->desc = desc;
    mem->coherence = owner->scopes[desc.scope].flags & PI_SCOPE_COHERENT ? PI_COHERENCE_COHERENT
                                                                         : PI_COHERENCE_MAP_UNMAP;
    pthread_mutex_init(&mem->mutex, NULL);
    mem->context = (pi_context)pi_sdk_retain(context);
    mem->device = (pi_device)pi_sdk_retain(device);
    *out_object = mem;
    return PI_SUCCESS;
}

/* The alignment of the storage, or of the application's pointer where that is used and less
 * aligned. */
static inline uint64_t pi_sdk_mem_alignment(const pi_sdk_mem *mem) {
    const uintptr_t address = (uintptr_t)mem->desc.host_ptr, has = address & (~address + 1);
    return mem->desc.flags & PI_MEM_USE_HOST_PTR && has < mem->desc.alignment ? has
                                                                              : mem->desc.alignment;
}

static inline pi_result PI_CALL pi_sdk_mem_get_info(pi_mem handle, pi_mem_info name, uint64_t size,
                                                    void *value, uint64_t *out_size) {
    pi_sdk_mem *mem = (pi_sdk_mem *)handle;
    const pi_result result = pi_sdk_check(pi_sdk_host(handle), handle, PI_KIND_MEM, "mem");
    if (result)
        return result;
    const pi_sdk_info rows[] = {
        pi_sdk_u64(PI_MEM_INFO_SIZE, mem->desc.size),
        pi_sdk_handle(PI_MEM_INFO_CONTEXT, mem->context),
        pi_sdk_handle(PI_MEM_INFO_DEVICE, mem->device),
        pi_sdk_u64(PI_MEM_INFO_FLAGS, mem->desc.flags),
        pi_sdk_u32(PI_MEM_INFO_SCOPE, mem->desc.scope),
        pi_sdk_u64(PI_MEM_INFO_ALIGNMENT, pi_sdk_mem_alignment(mem)),
        pi_sdk_handle(PI_MEM_INFO_PARENT, NULL),
        pi_sdk_u64(PI_MEM_INFO_OFFSET, 0),
        pi_sdk_u32(PI_MEM_INFO_COHERENCE, mem->coherence),
        pi_sdk_u32(PI_MEM_INFO_KIND, PI_MEMORY_KIND_BUFFER),
        pi_sdk_u32(PI_MEM_INFO_REFERENCE_COUNT, atomic_load(&mem->object.references)),
        {0}};
    return pi_sdk_answer(mem, rows, name, size, value, out_size);
}

/* ----- Commands ------------------------------------------------------------------------------- */

/* The plugin's own answer for a buffer and another place (dst_device, dst_context); NONE if the
 * query fails. */
static inline pi_memory_connection pi_sdk_connection(const pi_sdk_mem *src, const void *dst_device,
                                                     const void *dst_context) {
    const pi_sdk_device *device = (const pi_sdk_device *)src->device;
    pi_memory_connection connection;
    const pi_result result = device->platform->plugin->functions.piGetMemoryConnection(
        src->device, src->context, (pi_device)dst_device, (pi_context)dst_context, &connection);
    return result ? PI_MEMORY_CONNECTION_NONE : connection;
}
static inline int pi_sdk_is_unified(const pi_sdk_mem *mem, pi_queue handle) {
    const pi_sdk_queue *queue = (const pi_sdk_queue *)handle;
    return pi_sdk_connection(mem, queue->device, queue->context) == PI_MEMORY_CONNECTION_UNIFIED;
}

/* Checks a command's buffer: its kind, and that the queue's device can use it (else
 * PI_ERROR_INVALID_MEM_OBJECT). */
static inline pi_result pi_sdk_check_mem(pi_queue queue, pi_mem mem, const char *name) {
    const pi_host *host = pi_sdk_host(queue);
    const pi_result result = pi_sdk_check(host, mem, PI_KIND_MEM, name);
    if (!result && !pi_sdk_is_unified((const pi_sdk_mem *)mem, queue))
        return pi_sdk_fail(host, PI_ERROR_INVALID_MEM_OBJECT,
                           "%s is memory that the queue's device cannot use: their connection is "
                           "not UNIFIED",
                           name);
    return result;
}

/* Checks both buffers of a copy: the queue's device can use both, or it can use one and the plugin
 * copies between them (MIGRATABLE). */
static inline pi_result pi_sdk_check_copied(pi_queue queue, pi_mem src_handle, pi_mem dst_handle) {
    const pi_host *host = pi_sdk_host(queue);
    const pi_sdk_mem *src = (const pi_sdk_mem *)src_handle, *dst = (const pi_sdk_mem *)dst_handle;
    int src_here, dst_here;
    pi_result result = pi_sdk_check(host, src, PI_KIND_MEM, "src");
    if (!result)
        result = pi_sdk_check(host, dst, PI_KIND_MEM, "dst");
    if (result)
        return result;
    src_here = pi_sdk_is_unified(src, queue);
    dst_here = pi_sdk_is_unified(dst, queue);
    if ((src_here && dst_here) ||
        ((src_here || dst_here) &&
         pi_sdk_connection(src, dst->device, dst->context) != PI_MEMORY_CONNECTION_NONE))
        return PI_SUCCESS;
    return pi_sdk_fail(
        host, PI_ERROR_INVALID_MEM_OBJECT,
        "%s is memory that the queue's device cannot use, and %s", src_here ? "dst" : "src",
        src_here || dst_here ? "the connection of src and dst is NONE" : "so is dst");
}

static inline pi_result pi_sdk_read_copy(pi_queue queue, const pi_buffer_copy_desc *given,
                                         pi_buffer_copy_desc *out_desc) {
    const pi_host *host = pi_sdk_host(queue);
    const pi_sdk_mem *src, *dst;
    const void *src_begin, *dst_begin;
    pi_result result = pi_sdk_read_command(queue, given, PI_TYPE_BUFFER_COPY_DESC,
                                           PI_COMMAND_BLOCKING, out_desc, sizeof *out_desc);
    if (!result)
        result = pi_sdk_check_copied(queue, out_desc->src, out_desc->dst);
    if (!result)
        result = pi_sdk_check_reserved(host, out_desc->reserved);
    if (result)
        return result;
    src = (const pi_sdk_mem *)out_desc->src;
    dst = (const pi_sdk_mem *)out_desc->dst;
    /* Within one buffer regions overlap wherever it lies: without an address any address serves for
     * the check. */
    src_begin = src->bytes || src != dst ? (const void *)src->bytes : src;
    dst_begin = dst->bytes || src != dst ? (const void *)dst->bytes : dst;
    return pi_sdk_check_regions(host, out_desc->region_count, out_desc->regions, src_begin,
                                src->desc.size, dst_begin, dst->desc.size);
}

/* Checks what read and write (PI_CAPABILITY_BUFFER_COMMANDS) have in common. */
static inline pi_result pi_sdk_check_transfer(pi_queue queue, pi_mem mem, const void *host_ptr,
                                              uint32_t count, const pi_region *regions,
                                              uint32_t reserved, int is_read) {
    const pi_host *host = pi_sdk_host(queue);
    pi_result result = pi_sdk_check_mem(queue, mem, "mem");
    uint64_t size;
    if (!result)
        result = pi_sdk_check_pointer(host, host_ptr, "host_ptr");
    if (!result)
        result = pi_sdk_check_reserved(host, reserved);
    if (result)
        return result;
    size = ((const pi_sdk_mem *)mem)->desc.size;
    return pi_sdk_check_regions(host, count, regions, NULL, is_read ? size : UINT64_MAX, NULL,
                                is_read ? UINT64_MAX : size);
}
static inline pi_result pi_sdk_read_read(pi_queue queue, const pi_buffer_read_desc *given,
                                         pi_buffer_read_desc *out_desc) {
    const pi_result result = pi_sdk_read_command(queue, given, PI_TYPE_BUFFER_READ_DESC,
                                                 PI_COMMAND_BLOCKING, out_desc, sizeof *out_desc);
    return result ? result
                  : pi_sdk_check_transfer(queue, out_desc->mem, out_desc->host_ptr,
                                          out_desc->region_count, out_desc->regions,
                                          out_desc->reserved, 1);
}
static inline pi_result pi_sdk_read_write(pi_queue queue, const pi_buffer_write_desc *given,
                                          pi_buffer_write_desc *out_desc) {
    const pi_result result = pi_sdk_read_command(queue, given, PI_TYPE_BUFFER_WRITE_DESC,
                                                 PI_COMMAND_BLOCKING, out_desc, sizeof *out_desc);
    return result ? result
                  : pi_sdk_check_transfer(queue, out_desc->mem, out_desc->host_ptr,
                                          out_desc->region_count, out_desc->regions,
                                          out_desc->reserved, 0);
}

/* A checked fill with a copy of its pattern, for use as a command's data. */
typedef struct pi_sdk_fill {
    /* its pattern pointer is the application's, and invalid after the call */
    pi_buffer_fill_desc desc;
    unsigned char pattern[128];
} pi_sdk_fill;
static inline pi_result pi_sdk_read_fill(pi_queue queue, const pi_buffer_fill_desc *given,
                                         pi_sdk_fill *out_fill) {
    const pi_host *host = pi_sdk_host(queue);
    pi_buffer_fill_desc *desc = &out_fill->desc;
    uint64_t unit;
    pi_result result = pi_sdk_read_command(queue, given, PI_TYPE_BUFFER_FILL_DESC,
                                           PI_COMMAND_BLOCKING, desc, sizeof *desc);
    if (!result)
        result = pi_sdk_check_mem(queue, desc->mem, "mem");
    if (!result)
        result = pi_sdk_check_pointer(host, desc->pattern, "pattern");
    if (result)
        return result;
    unit = desc->pattern_size;
    if (!unit || unit & (unit - 1) || unit > sizeof out_fill->pattern)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE,
                           "pattern_size is %llu; a power of two from 1 to 128 is needed",
                           (unsigned long long)unit);
    if (desc->offset % unit || desc->size % unit)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE,
                           "offset is %llu and size %llu; multiples of pattern_size, %llu, are "
                           "needed",
                           (unsigned long long)desc->offset, (unsigned long long)desc->size,
                           (unsigned long long)unit);
    memcpy(out_fill->pattern, desc->pattern, (size_t)unit);
    return pi_sdk_check_range(host, desc->offset, desc->size,
                              ((const pi_sdk_mem *)desc->mem)->desc.size);
}
/* Runs the fill; `bytes` is the buffer's first byte. */
static inline void pi_sdk_fill_bytes(const pi_sdk_fill *fill, unsigned char *bytes) {
    const uint64_t size = fill->desc.size, cached = UINT64_C(128) * 1024;
    unsigned char *const begin = bytes + fill->desc.offset;
    uint64_t done = size ? fill->desc.pattern_size : 0, step;
    memcpy(begin, fill->pattern, (size_t)done);
    /* Each pass copies all that is written so far, up to a size that stays in the second-level
     * cache. */
    for (; done < size; done += step) {
        step = done < cached ? done : cached;
        if (step > size - done)
            step = size - done;
        memcpy(begin + done, begin, (size_t)step);
    }
}

static inline pi_result pi_sdk_read_map(pi_queue queue, const pi_buffer_map_desc *given,
                                        pi_buffer_map_desc *out_desc) {
    const uint64_t modes = PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD;
    const pi_host *host = pi_sdk_host(queue);
    pi_result result = pi_sdk_read_command(queue, given, PI_TYPE_BUFFER_MAP_DESC,
                                           PI_COMMAND_BLOCKING | modes, out_desc, sizeof *out_desc);
    if (!result)
        result = pi_sdk_check_mem(queue, out_desc->mem, "mem");
    if (!result && !(out_desc->flags & modes))
        result = pi_sdk_fail(host, PI_ERROR_INVALID_VALUE,
                             "flags is 0x%llx: one of PI_MAP_READ, PI_MAP_WRITE and "
                             "PI_MAP_WRITE_DISCARD is needed",
                             (unsigned long long)out_desc->flags);
    if (!result)
        result = pi_sdk_check_range(host, out_desc->offset, out_desc->size,
                                    ((const pi_sdk_mem *)out_desc->mem)->desc.size);
    return result ? result : pi_sdk_check_pointer(host, out_desc->out_pointer, "out_pointer");
}

/* The link to the oldest map of this pointer, or, for NULL, of one that has not run; the list's end
 * without one. Call it with the mutex locked. */
static inline pi_sdk_map **pi_sdk_find_map(pi_sdk_mem *mem, const void *pointer) {
    pi_sdk_map **at = &mem->maps;
    while (*at && (*at)->pointer != pointer)
        at = &(*at)->next;
    return at;
}

/* Reads an unmap. `pointer` must come from a map of mem. A map that has not run yet has no pointer
 * yet: then any pointer may be right, but only within the storage, where that has an address. */
static inline pi_result pi_sdk_read_unmap(pi_queue queue, const pi_unmap_desc *given,
                                          pi_unmap_desc *out_desc) {
    const pi_host *host = pi_sdk_host(queue);
    pi_sdk_mem *mem;
    int known;
    pi_result result = pi_sdk_read_command(queue, given, PI_TYPE_UNMAP_DESC, PI_COMMAND_BLOCKING,
                                           out_desc, sizeof *out_desc);
    if (!result)
        result = pi_sdk_check_mem(queue, out_desc->mem, "mem");
    if (!result)
        result = pi_sdk_check_pointer(host, out_desc->pointer, "pointer");
    if (result)
        return result;
    mem = (pi_sdk_mem *)out_desc->mem;
    pthread_mutex_lock(&mem->mutex);
    known = *pi_sdk_find_map(mem, out_desc->pointer) != NULL;
    if (!known &&
        (!mem->bytes || (uintptr_t)out_desc->pointer - (uintptr_t)mem->bytes < mem->desc.size))
        known = *pi_sdk_find_map(mem, NULL) != NULL;
    pthread_mutex_unlock(&mem->mutex);
    if (!known)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE, "pointer is %p, which no map of mem gave",
                           out_desc->pointer);
    return PI_SUCCESS;
}

/* The data of a map command; the descriptor comes first. */
typedef struct pi_sdk_map_data {
    pi_buffer_map_desc desc;
    pi_sdk_map *map; /* NULL once it has run */
} pi_sdk_map_data;

/* Drops a map that will never run. */
static inline void pi_sdk_map_drop(const pi_sdk_command *command) {
    pi_sdk_mem *mem = (pi_sdk_mem *)command->keeps[0];
    pi_sdk_map *map = ((const pi_sdk_map_data *)command->data)->map, **at = &mem->maps;
    if (!map)
        return;
    pthread_mutex_lock(&mem->mutex);
    while (*at != map)
        at = &(*at)->next;
    *at = map->next;
    pthread_mutex_unlock(&mem->mutex);
    free(map);
}

/* Enqueues a map. The command's data begins with its descriptor; `start` calls pi_sdk_mem_mapped
 * before it finishes with success. */
static inline pi_result pi_sdk_enqueue_map(pi_queue queue, const pi_buffer_map_desc *desc,
                                           void (*start)(pi_sdk_event *event), uint32_t wait_count,
                                           const pi_event *wait_list, pi_event *out_event) {
    pi_sdk_mem *mem = (pi_sdk_mem *)desc->mem;
    const pi_sdk_map_data data = {*desc, (pi_sdk_map *)calloc(1, sizeof(pi_sdk_map))};
    const pi_sdk_command command = {.type = PI_TYPE_BUFFER_MAP_DESC,
                                    .flags = desc->flags,
                                    .start = start,
                                    .drop = pi_sdk_map_drop,
                                    .data = &data,
                                    .data_size = sizeof data,
                                    .keeps = {mem}};
    pi_sdk_map **at = &mem->maps;
    if (!data.map)
        return pi_sdk_fail(pi_sdk_host(queue), PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for a map");
    data.map->desc = *desc;
    pthread_mutex_lock(&mem->mutex);
    while (*at)
        at = &(*at)->next;
    *at = data.map;
    pthread_mutex_unlock(&mem->mutex);
    return pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}

/* Called in a map's `start` or later: sets the mapped pointer. */
static inline void pi_sdk_mem_mapped(pi_sdk_event *event, void *pointer) {
    pi_sdk_map_data *data = (pi_sdk_map_data *)event->command.data; /* the event's own copy */
    pi_sdk_mem *mem = (pi_sdk_mem *)event->command.keeps[0];
    pthread_mutex_lock(&mem->mutex);
    data->map->pointer = pointer;
    pthread_mutex_unlock(&mem->mutex);
    data->map = NULL;
    *data->desc.out_pointer = pointer;
}

/* Called in an unmap's `start` or later: removes the oldest map of its pointer, and copies its
 * descriptor to *out_map unless that is NULL. Returns 0 if there is no such map: every map needs an
 * unmap of its own. */
static inline int pi_sdk_mem_unmapped(pi_sdk_event *event, pi_buffer_map_desc *out_map) {
    const pi_unmap_desc *desc = (const pi_unmap_desc *)event->command.data;
    pi_sdk_mem *mem = (pi_sdk_mem *)event->command.keeps[0];
    pi_sdk_map **at, *map;
    pthread_mutex_lock(&mem->mutex);
    at = pi_sdk_find_map(mem, desc->pointer);
    map = *at;
    if (map)
        *at = map->next;
    pthread_mutex_unlock(&mem->mutex);
    if (map && out_map)
        *out_map = map->desc;
    free(map);
    return map != NULL;
}

/* Enqueues an unmap. If pi_sdk_mem_unmapped returns 0, `start` finishes with an error. */
static inline pi_result pi_sdk_enqueue_unmap(pi_queue queue, const pi_unmap_desc *desc,
                                             void (*start)(pi_sdk_event *event),
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event) {
    const pi_sdk_command command = {.type = PI_TYPE_UNMAP_DESC,
                                    .flags = desc->flags,
                                    .start = start,
                                    .data = desc,
                                    .data_size = sizeof *desc,
                                    .keeps = {desc->mem}};
    return pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}

#endif
