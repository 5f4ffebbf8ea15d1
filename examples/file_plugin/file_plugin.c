/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A whole plugin in C11 without the sdk, from pi.h and pi_plugin.h alone. Each buffer is an
 * unlinked temporary file in the folder PI_FILE_FOLDER; commands use pread, pwrite and mmap. One
 * mutex protects the objects. One thread runs the commands, one after another, once all events that
 * they wait for are complete.
 */
#define _GNU_SOURCE /* mkostemp */
#include <pi/pi_plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* page: of every system; a map begins at a multiple of it in the file. */
enum { page = 65536, chunk_size = 65536, max_alignment = 4096, text_size = 256 };
static const uint64_t max_size = UINT64_C(1) << 30; /* bytes of a buffer */

/* ===== Objects: the structs that pi.h leaves open ============================================= */

struct object {
    pi_object_header header;
    pi_plugin plugin;
    uint32_t references; /* the application's */
    uint32_t holds;      /* of commands and of other objects */
};
struct pi_platform_s {
    struct object base;
};
struct pi_device_s {
    struct object base;
};
struct pi_context_s {
    struct object base;
};
struct pi_queue_s {
    struct object base;
    pi_context context;
    uint64_t flags;
    pi_event last; /* the newest command, until it is complete */
};
struct map {
    struct map *next;
    uint64_t offset, size, flags;
    unsigned char *pointer;
    bool unmapping; /* an unmap of it is enqueued */
};
struct pi_mem_s {
    struct object base;
    pi_context context;
    uint64_t flags, size;
    int file;
    unsigned char *host_ptr; /* of PI_MEM_USE_HOST_PTR: what a map returns */
    struct map *maps;
};
struct edge { /* in the list of the event for which `follower` waits */
    struct edge *next;
    pi_event follower;
    bool order_only; /* the order of a queue, which carries no errors */
};
struct callback {
    struct callback *next;
    pi_event_callback function;
    void *user_data;
};
struct command {
    pi_struct_type type;
    uint32_t wait_count;
    const pi_event *wait_list;
    uint64_t flags;
    pi_mem src, dst;
    uint32_t region_count;
    const pi_region *regions; /* a copy of them is in the event */
    struct map *map;
    void **out_pointer;
};
struct pi_event_s {
    struct object base;
    pi_context context;
    pi_queue queue; /* NULL: a host event */
    pi_event_status status;
    pi_result result; /* before it is complete: DEPENDENCY_FAILED, or 0 */
    char text[text_size];
    uint32_t waits; /* incomplete events that it waits for */
    struct edge *followers;
    struct callback *callbacks;
    pi_event next_ready;
    struct command command;
    pi_region regions[]; /* then its edges in other events' lists */
};
struct pi_plugin_s {
    struct object base;
    const pi_host *host;
    struct pi_platform_s platform;
    struct pi_device_s device;
    pthread_mutex_t mutex;
    pthread_cond_t ready, completed;
    bool running, stop; /* the thread */
    pthread_t thread;
    pi_event first_ready, last_ready;
    unsigned char chunk[chunk_size]; /* of the thread */
};

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const pi_result tried = (call);                                                            \
        if (tried)                                                                                 \
            return tried;                                                                          \
    } while (0)
/* Returns `code` with a text if the condition holds. `self` is any object of the instance. */
#define REFUSE(condition, self, code, ...)                                                         \
    do {                                                                                           \
        if (condition)                                                                             \
            return fail(self, code, __VA_ARGS__);                                                  \
    } while (0)

static pi_result fail(const void *object, pi_result code, const char *format, ...) {
    const pi_host *host = ((const struct object *)object)->plugin->host;
    char text[text_size];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    host->set_error(host, code, text);
    return code;
}

/* The codes of wrong handles are in the order of the kinds. */
static pi_result check(const void *self, const void *handle, pi_kind kind) {
    const pi_object_header *header = handle, *own = self;
    const bool good = header && header->dispatch == own->dispatch && header->kind == kind;
    REFUSE(!good, self, PI_ERROR_INVALID_LOADER + PI_KIND_LOADER - (pi_result)kind,
           "%p: not a handle of kind %u of this plugin", handle, kind);
    return PI_SUCCESS;
}

static void lock(const void *object) {
    pthread_mutex_lock(&((const struct object *)object)->plugin->mutex);
}

static void unlock(const void *object) {
    pthread_mutex_unlock(&((const struct object *)object)->plugin->mutex);
}

static void init(void *object, pi_plugin plugin, pi_kind kind) {
    *(struct object *)object = (struct object){{plugin->host->dispatch, kind, 0}, plugin, 1, 0};
}

static void *create(const void *parent, pi_kind kind, size_t size) {
    const pi_plugin plugin = ((const struct object *)parent)->plugin;
    void *self = calloc(1, size);
    if (!self) {
        fail(parent, PI_ERROR_OUT_OF_HOST_MEMORY, "%zu bytes for an object of kind %u", size, kind);
        return NULL;
    }
    init(self, plugin, kind);
    plugin->host->object_count(plugin->host, 1);
    return self;
}

/* The mutex is locked for everything that changes counts. */
static void *hold(void *object) {
    ((struct object *)object)->holds++;
    return object;
}

static void unmap_file(struct map *map) {
    const uint64_t inside = map->offset % page;
    munmap(map->pointer - inside, map->size + inside);
}

static void destroy_if_unused(void *object);

static void drop(void *object) {
    if (!object)
        return;
    ((struct object *)object)->holds--;
    destroy_if_unused(object);
}

static void destroy_if_unused(void *object) {
    const struct object *self = object;
    const pi_host *host = self->plugin->host;
    if (self->references || self->holds)
        return;
    if (self->header.kind == PI_KIND_QUEUE) {
        drop(((pi_queue)object)->context);
    } else if (self->header.kind == PI_KIND_EVENT) {
        drop(((pi_event)object)->queue);
        drop(((pi_event)object)->context);
    } else if (self->header.kind == PI_KIND_MEM) {
        const pi_mem mem = object;
        for (struct map *map = mem->maps, *next; map; map = next) {
            next = map->next;
            if (!mem->host_ptr)
                unmap_file(map);
            free(map);
        }
        close(mem->file);
        drop(mem->context);
    }
    free(object);
    host->object_count(host, -1);
}

/* ===== Events, and the thread that runs commands ============================================== */

static void push_ready(pi_event event) {
    const pi_plugin plugin = event->base.plugin;
    event->status = PI_EVENT_SUBMITTED;
    *(plugin->first_ready ? &plugin->last_ready->next_ready : &plugin->first_ready) = event;
    plugin->last_ready = event;
    pthread_cond_signal(&plugin->ready);
}

static void fail_by(pi_event follower, const struct pi_event_s *before) {
    if (before->result && !follower->result) {
        follower->result = PI_ERROR_DEPENDENCY_FAILED;
        memcpy(follower->text, before->text, text_size);
    }
}

/* With the mutex locked, which it releases while it calls back; the caller holds the event. */
static void call_back(pi_event event) {
    const pi_host *host = event->base.plugin->host;
    while (event->callbacks) {
        struct callback *callback = event->callbacks;
        event->callbacks = callback->next;
        unlock(event);
        host->callback_depth(host, 1);
        callback->function(event, event->result, callback->user_data);
        host->callback_depth(host, -1);
        free(callback);
        lock(event);
    }
}

/* As call_back. */
static void complete(pi_event event, pi_result result) {
    event->result = result;
    event->status = PI_EVENT_COMPLETE;
    if (event->queue && event->queue->last == event)
        event->queue->last = NULL;
    for (struct edge *edge = event->followers; edge; edge = edge->next) {
        if (!edge->order_only)
            fail_by(edge->follower, event);
        if (--edge->follower->waits == 0)
            push_ready(edge->follower);
    }
    pthread_cond_broadcast(&event->base.plugin->completed);
    call_back(event);
}

static pi_result run(pi_event event);

static void *thread_main(void *argument) {
    const pi_plugin plugin = argument;
    lock(plugin);
    for (;;) {
        while (!plugin->first_ready && !plugin->stop)
            pthread_cond_wait(&plugin->ready, &plugin->mutex);
        const pi_event event = plugin->first_ready;
        if (!event)
            break;
        plugin->first_ready = event->next_ready;
        event->status = PI_EVENT_RUNNING;
        unlock(event);
        const pi_result result = event->result ? event->result : run(event);
        lock(event);
        struct map *map = event->command.map;
        if (map && event->command.type == PI_TYPE_UNMAP_DESC)
            map->unmapping = false; /* it failed */
        complete(event, result);
        if (result && event->command.type == PI_TYPE_BUFFER_MAP_DESC)
            free(map);
        drop(event->command.src);
        drop(event->command.dst);
        drop(event);
    }
    unlock(plugin);
    return NULL;
}

/* The time limit is a year at most. */
static bool wait_until_complete(pi_event event, uint64_t timeout) {
    const uint64_t second = 1000000000, year = 365 * 86400 * second;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const uint64_t ticks = (uint64_t)end.tv_nsec + (timeout < year ? timeout : year);
    end.tv_sec += (time_t)(ticks / second);
    end.tv_nsec = (long)(ticks % second);
    lock(event);
    hold(event);
    int late = timeout == 0;
    while (event->status != PI_EVENT_COMPLETE && !late)
        late = pthread_cond_timedwait(&event->base.plugin->completed, &event->base.plugin->mutex,
                                      &end);
    const bool is_complete = event->status == PI_EVENT_COMPLETE;
    const pi_plugin plugin = event->base.plugin;
    drop(event);
    unlock(plugin);
    return is_complete;
}

static bool in_callback(const void *object) {
    const pi_host *host = ((const struct object *)object)->plugin->host;
    return host->callback_depth(host, 0) > 0;
}

/* ===== Regions ================================================================================ */

/* One end of a region. Its rows lie in ascending order. */
struct rows {
    uint64_t offset, width, rows, slices, row_pitch, slice_pitch;
};

static struct rows rows_of(const pi_region *region, bool dst) {
    const uint64_t *pitch = dst ? region->dst_pitch : region->src_pitch, *extent = region->extent;
    const uint64_t rows = extent[1] ? extent[1] : 1, row_pitch = pitch[0] ? pitch[0] : extent[0];
    return (struct rows){.offset = dst ? region->dst_offset : region->src_offset,
                         .width = extent[0],
                         .rows = rows,
                         .slices = extent[2] ? extent[2] : 1,
                         .row_pitch = row_pitch,
                         .slice_pitch = pitch[1] ? pitch[1] : rows * row_pitch};
}

static uint64_t row_offset(const struct rows *end, uint64_t index) {
    return end->offset + index / end->rows * end->slice_pitch + index % end->rows * end->row_pitch;
}

/* Whether the end is valid and lies within `limit` bytes. */
static bool rows_fit(const struct rows *end, uint64_t limit) {
    uint64_t slice, size;
    return end->width && end->row_pitch >= end->width &&
           !__builtin_mul_overflow(end->row_pitch, end->rows, &slice) &&
           end->slice_pitch >= slice &&
           !__builtin_mul_overflow(end->slice_pitch, end->slices - 1, &size) &&
           !__builtin_add_overflow(size, slice - end->row_pitch + end->width, &size) &&
           !__builtin_add_overflow(size, end->offset, &size) && size <= limit;
}

static bool rows_overlap(const struct rows *a, const struct rows *b) {
    const uint64_t count = a->rows * a->slices;
    for (uint64_t i = 0, j = 0; i < count && j < count;) {
        const uint64_t x = row_offset(a, i), y = row_offset(b, j);
        if (x < y + b->width && y < x + a->width)
            return true;
        *(x < y ? &i : &j) += 1;
    }
    return false;
}

static pi_result check_regions(const void *self, uint32_t count, const pi_region *regions,
                               pi_mem from, pi_mem to) {
    REFUSE(!count, self, PI_ERROR_INVALID_SIZE, "region_count: 0");
    REFUSE(!regions, self, PI_ERROR_INVALID_NULL_POINTER, "regions: NULL; there are %u", count);
    for (uint32_t i = 0; i < count; i++) {
        const struct rows src = rows_of(&regions[i], false), dst = rows_of(&regions[i], true);
        REFUSE(regions[i].reserved, self, PI_ERROR_UNSUPPORTED_FEATURE, "regions[%u].reserved", i);
        REFUSE(
            !rows_fit(&src, from->size) || !rows_fit(&dst, to->size), self, PI_ERROR_INVALID_SIZE,
            "regions[%u] at %llu and %llu: no bytes, a pitch that is too small, or past the end", i,
            (unsigned long long)regions[i].src_offset, (unsigned long long)regions[i].dst_offset);
        REFUSE(from == to && rows_overlap(&src, &dst), self, PI_ERROR_MEM_COPY_OVERLAP,
               "regions[%u]: its source overlaps its destination", i);
    }
    return PI_SUCCESS;
}

/* A new file without a name, or -1. */
static int open_file(pi_plugin plugin) {
    const char *folder = plugin->host->get_option(plugin->host, "PI_FILE_FOLDER");
    char path[4096];
    snprintf(path, sizeof path, "%s/pi_file_XXXXXX", folder ? folder : "/tmp");
    const int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

/* ===== What commands do ======================================================================= */

static bool read_file(int file, unsigned char *bytes, uint64_t offset, uint64_t size) {
    for (ssize_t done; size; bytes += done, offset += (uint64_t)done, size -= (uint64_t)done) {
        done = pread(file, bytes, size, (off_t)offset);
        if (done <= 0)
            return false;
    }
    return true;
}

static bool write_file(int file, const unsigned char *bytes, uint64_t offset, uint64_t size) {
    for (ssize_t done; size; bytes += done, offset += (uint64_t)done, size -= (uint64_t)done) {
        done = pwrite(file, bytes, size, (off_t)offset);
        if (done <= 0)
            return false;
    }
    return true;
}

static bool copy_row(const struct command *command, unsigned char *chunk, uint64_t from,
                     uint64_t to, uint64_t size) {
    for (uint64_t i = 0; i < size; i += chunk_size) {
        const uint64_t count = size - i < chunk_size ? size - i : chunk_size;
        if (!read_file(command->src->file, chunk, from + i, count) ||
            !write_file(command->dst->file, chunk, to + i, count))
            return false;
    }
    return true;
}

/* A map of USE_HOST_PTR is a copy at host_ptr, any other one the file itself. */
static bool map_buffer(const struct command *command) {
    const pi_mem mem = command->dst;
    struct map *map = command->map;
    const uint64_t inside = map->offset % page;
    if (mem->host_ptr) {
        map->pointer = mem->host_ptr + map->offset;
        if (map->flags & (PI_MAP_READ | PI_MAP_WRITE) &&
            !read_file(mem->file, map->pointer, map->offset, map->size))
            return false;
    } else {
        void *base = mmap(NULL, map->size + inside, PROT_READ | PROT_WRITE, MAP_SHARED, mem->file,
                          (off_t)(map->offset - inside));
        if (base == MAP_FAILED)
            return false;
        map->pointer = (unsigned char *)base + inside;
    }
    *command->out_pointer = map->pointer;
    lock(mem);
    map->next = mem->maps;
    mem->maps = map;
    unlock(mem);
    return true;
}

static bool unmap_buffer(struct command *command) {
    const pi_mem mem = command->dst;
    struct map *map = command->map, **place = &mem->maps;
    if (!mem->host_ptr)
        unmap_file(map);
    else if (map->flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD) &&
             !write_file(mem->file, map->pointer, map->offset, map->size))
        return false;
    lock(mem);
    while (*place != map)
        place = &(*place)->next;
    *place = map->next;
    unlock(mem);
    free(map);
    command->map = NULL;
    return true;
}

/* On the thread, without the mutex. */
static pi_result run(pi_event event) {
    struct command *command = &event->command;
    unsigned char *chunk = event->base.plugin->chunk;
    bool good = true;
    for (uint32_t i = 0; i < command->region_count && good; i++) {
        const struct rows src = rows_of(&event->regions[i], false);
        const struct rows dst = rows_of(&event->regions[i], true);
        for (uint64_t row = 0; row < src.rows * src.slices && good; row++)
            good =
                copy_row(command, chunk, row_offset(&src, row), row_offset(&dst, row), src.width);
    }
    if (command->type == PI_TYPE_BUFFER_MAP_DESC)
        good = map_buffer(command);
    else if (command->type == PI_TYPE_UNMAP_DESC)
        good = unmap_buffer(command);
    if (good)
        return PI_SUCCESS;
    snprintf(event->text, text_size, "the buffer's file: %s", strerror(errno));
    return errno == ENOMEM ? PI_ERROR_OUT_OF_HOST_MEMORY : PI_ERROR_BACKEND;
}

/* ===== Grammar: infos, lists, descriptors ===================================================== */

struct info {
    uint32_t name, size; /* size 0: pi.h has the name, the object cannot answer it */
    const void *value;
};

#define ANSWER(self, infos, name, size, value, out_size)                                           \
    answer(self, infos, sizeof(infos) / sizeof *(infos), name, size, value, out_size)

static pi_result answer(const void *self, const struct info *infos, size_t count, uint32_t name,
                        uint64_t size, void *value, uint64_t *out_size) {
    const struct info *info = infos, *end = infos + count;
    while (info < end && info->name != name)
        info++;
    REFUSE(info == end || !name, self, PI_ERROR_INVALID_ENUMERATION, "name: %u is not an info",
           name);
    REFUSE(!info->size, self, PI_ERROR_UNSUPPORTED_FEATURE, "name: %u is not known here", name);
    REFUSE(!value && !out_size, self, PI_ERROR_INVALID_NULL_POINTER, "value and out_size: NULL");
    REFUSE(value && size < info->size, self, PI_ERROR_INVALID_SIZE, "size: %llu; at least %u",
           (unsigned long long)size, info->size);
    if (value)
        memcpy(value, info->value, info->size);
    if (out_size)
        *out_size = info->size;
    return PI_SUCCESS;
}

static pi_result answer_list(const void *self, const void *element, size_t size, uint32_t count,
                             uint32_t capacity, void *out_array, uint32_t *out_count) {
    REFUSE(!out_array && !out_count, self, PI_ERROR_INVALID_NULL_POINTER, "both outputs: NULL");
    if (out_array && capacity && count)
        memcpy(out_array, element, size); /* a list here has one element at most */
    if (out_count)
        *out_count = count;
    return PI_SUCCESS;
}

/* Every descriptor with flags has them behind the header. */
static pi_result read_desc(const void *self, const void *desc, pi_struct_type type,
                           uint64_t known_flags, void *out, size_t size) {
    const pi_struct_header *given = desc;
    uint64_t flags;
    REFUSE(!given, self, PI_ERROR_INVALID_NULL_POINTER, "desc: NULL");
    REFUSE(given->struct_size < sizeof *given || given->type != type, self,
           PI_ERROR_INVALID_DESCRIPTOR, "desc: struct_size %u, type %u; the type is %u",
           given->struct_size, given->type, type);
    for (size_t i = size; i < given->struct_size; i++)
        REFUSE(((const char *)desc)[i], self, PI_ERROR_UNSUPPORTED_FEATURE, "desc: byte %zu", i);
    for (const pi_struct_header *next = given->next; next; next = next->next)
        REFUSE(!(next->type & PI_TYPE_MAY_IGNORE_BIT), self, PI_ERROR_UNSUPPORTED_FEATURE,
               "desc: next: type %u is not known here", next->type);
    memset(out, 0, size);
    memcpy(out, desc, given->struct_size < size ? given->struct_size : size);
    memcpy(&flags, (char *)out + sizeof *given, sizeof flags);
    REFUSE(flags & ~known_flags, self, PI_ERROR_UNSUPPORTED_FEATURE, "flags: 0x%llx; known: 0x%llx",
           (unsigned long long)flags, (unsigned long long)known_flags);
    return PI_SUCCESS;
}

static pi_result retain(void *self, pi_kind kind) {
    TRY(check(self, self, kind));
    lock(self);
    ((struct object *)self)->references++;
    unlock(self);
    return PI_SUCCESS;
}

static pi_result release(void *self, pi_kind kind) {
    TRY(check(self, self, kind));
    const pi_plugin plugin = ((struct object *)self)->plugin;
    const pi_event event = kind == PI_KIND_EVENT ? self : NULL;
    lock(plugin);
    hold(self);
    if (--((struct object *)self)->references == 0 && event && !event->queue &&
        event->status != PI_EVENT_COMPLETE) {
        snprintf(event->text, text_size, "the host event was released before a signal");
        complete(event, PI_ERROR_ABANDONED);
    }
    drop(self);
    unlock(plugin);
    return PI_SUCCESS;
}

#define COUNTED(name, handle, kind)                                                                \
    static pi_result PI_CALL name##_retain(handle self) {                                          \
        return retain(self, kind);                                                                 \
    }                                                                                              \
    static pi_result PI_CALL name##_release(handle self) {                                         \
        return release(self, kind);                                                                \
    }
COUNTED(context, pi_context, PI_KIND_CONTEXT)
COUNTED(queue, pi_queue, PI_KIND_QUEUE)
COUNTED(mem, pi_mem, PI_KIND_MEM)
COUNTED(event, pi_event, PI_KIND_EVENT)

/* ===== The plugin, its platform, its device, contexts ========================================= */

static const uint64_t zero; /* for all infos whose value is 0 */

static pi_result PI_CALL plugin_info(pi_plugin self, pi_plugin_info name, uint64_t size,
                                     void *value, uint64_t *out_size) {
    TRY(check(self, self, PI_KIND_PLUGIN));
    const struct info infos[] = {{PI_PLUGIN_INFO_NAME, sizeof "file", "file"},
                                 {PI_PLUGIN_INFO_VERSION, sizeof "1.0", "1.0"},
                                 {PI_PLUGIN_INFO_CAPABILITIES, sizeof zero, &zero}};
    return ANSWER(self, infos, name, size, value, out_size);
}

static pi_result open_device(pi_plugin self) {
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    const int file = open_file(self);
    REFUSE(file < 0, self, PI_ERROR_UNAVAILABLE, "PI_FILE_FOLDER: no file can be created there: %s",
           strerror(errno));
    close(file);
    sigfillset(&blocked); /* signals are the application's */
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const int error = pthread_create(&self->thread, NULL, thread_main, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    REFUSE(error, self, PI_ERROR_OUT_OF_RESOURCES, "pthread_create: %s", strerror(error));
    self->running = true;
    return PI_SUCCESS;
}

static pi_result PI_CALL platforms_get(pi_plugin self, uint32_t capacity,
                                       pi_platform *out_platforms, uint32_t *out_count) {
    TRY(check(self, self, PI_KIND_PLUGIN));
    lock(self);
    const pi_result result = self->running ? PI_SUCCESS : open_device(self);
    unlock(self);
    TRY(result);
    const pi_platform platform = &self->platform;
    return answer_list(self, &platform, sizeof platform, 1, capacity, out_platforms, out_count);
}

static pi_result PI_CALL platform_info(pi_platform self, pi_platform_info name, uint64_t size,
                                       void *value, uint64_t *out_size) {
    static const uint32_t backend = PI_BACKEND_OTHER;
    TRY(check(self, self, PI_KIND_PLATFORM));
    const struct info infos[] = {{PI_PLATFORM_INFO_NAME, sizeof "files", "files"},
                                 {PI_PLATFORM_INFO_PLUGIN, sizeof(void *), &self->base.plugin},
                                 {PI_PLATFORM_INFO_BACKEND, sizeof backend, &backend},
                                 {PI_PLATFORM_INFO_VENDOR, 0, NULL},
                                 {PI_PLATFORM_INFO_VERSION, 0, NULL}};
    return ANSWER(self, infos, name, size, value, out_size);
}

static pi_result PI_CALL devices_get(pi_platform self, pi_device_type types, uint32_t capacity,
                                     pi_device *out_devices, uint32_t *out_count) {
    TRY(check(self, self, PI_KIND_PLATFORM));
    const pi_device device = &self->base.plugin->device;
    return answer_list(self, &device, sizeof device, !types || types & PI_DEVICE_TYPE_OTHER,
                       capacity, out_devices, out_count);
}

static pi_result PI_CALL device_info(pi_device self, pi_device_info name, uint64_t size,
                                     void *value, uint64_t *out_size) {
    static const char text[] = "temporary files";
    static const pi_device_type type = PI_DEVICE_TYPE_OTHER;
    TRY(check(self, self, PI_KIND_DEVICE));
    const pi_platform platform = &self->base.plugin->platform;
    const bool known = name - PI_DEVICE_INFO_TYPE <= 7 || name - PI_DEVICE_INFO_UUID <= 3 ||
                       name - PI_DEVICE_INFO_COMPUTE_UNITS <= 10 ||
                       name - PI_DEVICE_INFO_BUFFER_OFFSET_MODE <= 56;
    const struct info infos[] = {{PI_DEVICE_INFO_TYPE, sizeof type, &type},
                                 {PI_DEVICE_INFO_NAME, sizeof text, text},
                                 {PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform},
                                 {PI_DEVICE_INFO_PARENT, sizeof zero, &zero},
                                 {PI_DEVICE_INFO_QUEUE_FLAGS, sizeof zero, &zero},
                                 {PI_DEVICE_INFO_CAPABILITIES, sizeof zero, &zero},
                                 {PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, sizeof max_size, &max_size},
                                 {known ? name : 0, 0, NULL}};
    return ANSWER(self, infos, name, size, value, out_size);
}

static pi_result PI_CALL device_counted(pi_device self) {
    return check(self, self, PI_KIND_DEVICE);
}

static pi_result PI_CALL device_scopes(pi_device self, uint32_t capacity,
                                       pi_memory_scope *out_scopes, uint32_t *out_count) {
    TRY(check(self, self, PI_KIND_DEVICE));
    const pi_memory_scope scope = {.name = "global",
                                   .max_allocation = max_size,
                                   .min_alignment = max_alignment,
                                   .offset_alignment = 1,
                                   .flush_atom = 1};
    return answer_list(self, &scope, sizeof scope, 1, capacity, out_scopes, out_count);
}

static pi_result PI_CALL context_create(pi_platform platform, const pi_context_desc *given,
                                        pi_context *out_context) {
    pi_context_desc desc;
    TRY(check(platform, platform, PI_KIND_PLATFORM));
    TRY(read_desc(platform, given, PI_TYPE_CONTEXT_DESC, 0, &desc, sizeof desc));
    REFUSE(desc.reserved, platform, PI_ERROR_UNSUPPORTED_FEATURE, "reserved: %u", desc.reserved);
    REFUSE(!desc.device_count, platform, PI_ERROR_INVALID_SIZE, "device_count: 0");
    REFUSE(!desc.devices || !out_context, platform, PI_ERROR_INVALID_NULL_POINTER,
           "devices or out_context: NULL");
    for (uint32_t i = 0; i < desc.device_count; i++)
        TRY(check(platform, desc.devices[i], PI_KIND_DEVICE));
    REFUSE(desc.device_count > 1, platform, PI_ERROR_INVALID_DEVICE, "devices: one of them twice");
    const pi_context self = create(platform, PI_KIND_CONTEXT, sizeof *self);
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    *out_context = self;
    return PI_SUCCESS;
}

static pi_result PI_CALL context_info(pi_context self, pi_context_info name, uint64_t size,
                                      void *value, uint64_t *out_size) {
    TRY(check(self, self, PI_KIND_CONTEXT));
    const pi_device device = &self->base.plugin->device;
    const pi_platform platform = &self->base.plugin->platform;
    const struct info infos[] = {{PI_CONTEXT_INFO_DEVICES, sizeof device, &device},
                                 {PI_CONTEXT_INFO_PLATFORM, sizeof platform, &platform},
                                 {PI_CONTEXT_INFO_REFERENCE_COUNT, 0, NULL}};
    return ANSWER(self, infos, name, size, value, out_size);
}

/* The thread can open the files of all places. */
static pi_result PI_CALL connection(pi_device src_device, pi_context src_context,
                                    pi_device dst_device, pi_context dst_context,
                                    pi_memory_connection *out_connection) {
    TRY(check(src_device, src_device, PI_KIND_DEVICE));
    TRY(check(src_device, src_context, PI_KIND_CONTEXT));
    TRY(check(src_device, dst_device, PI_KIND_DEVICE));
    TRY(check(src_device, dst_context, PI_KIND_CONTEXT));
    REFUSE(!out_connection, src_device, PI_ERROR_INVALID_NULL_POINTER, "out_connection: NULL");
    *out_connection = PI_MEMORY_CONNECTION_UNIFIED;
    return PI_SUCCESS;
}

/* ===== Queues and buffers ===================================================================== */

static pi_result PI_CALL queue_create(pi_context context, pi_device device,
                                      const pi_queue_desc *given, pi_queue *out_queue) {
    pi_queue_desc desc = {0};
    TRY(check(context, context, PI_KIND_CONTEXT));
    TRY(check(context, device, PI_KIND_DEVICE));
    if (given)
        TRY(read_desc(context, given, PI_TYPE_QUEUE_DESC,
                      PI_QUEUE_PRIORITY_LOW | PI_QUEUE_PRIORITY_HIGH, &desc, sizeof desc));
    REFUSE(!out_queue, context, PI_ERROR_INVALID_NULL_POINTER, "out_queue: NULL");
    const pi_queue self = create(context, PI_KIND_QUEUE, sizeof *self);
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    self->flags = desc.flags;
    lock(self);
    self->context = hold(context);
    unlock(self);
    *out_queue = self;
    return PI_SUCCESS;
}

static pi_result PI_CALL queue_info(pi_queue self, pi_queue_info name, uint64_t size, void *value,
                                    uint64_t *out_size) {
    TRY(check(self, self, PI_KIND_QUEUE));
    const pi_device device = &self->base.plugin->device;
    const struct info infos[] = {{PI_QUEUE_INFO_CONTEXT, sizeof self->context, &self->context},
                                 {PI_QUEUE_INFO_DEVICE, sizeof device, &device},
                                 {PI_QUEUE_INFO_FLAGS, sizeof self->flags, &self->flags},
                                 {PI_QUEUE_INFO_REFERENCE_COUNT, 0, NULL}};
    return ANSWER(self, infos, name, size, value, out_size);
}

static pi_result PI_CALL queue_flush(pi_queue self) {
    return check(self, self, PI_KIND_QUEUE); /* no command is held back */
}

static pi_result PI_CALL queue_finish(pi_queue self) {
    TRY(check(self, self, PI_KIND_QUEUE));
    lock(self);
    const pi_event last = self->last ? hold(self->last) : NULL;
    unlock(self);
    const bool blocked = last && in_callback(self);
    if (last && !blocked)
        wait_until_complete(last, PI_TIMEOUT_NEVER);
    lock(self);
    drop(last);
    unlock(self);
    REFUSE(blocked, self, PI_ERROR_WOULD_BLOCK, "piQueueFinish: inside a callback");
    return PI_SUCCESS;
}

static pi_result check_buffer(const void *self, const pi_mem_buffer_desc *desc) {
    const uint64_t copy = desc->flags & PI_MEM_COPY_HOST_PTR,
                   use = desc->flags & PI_MEM_USE_HOST_PTR;
    REFUSE(copy && use, self, PI_ERROR_INVALID_VALUE, "flags: COPY_HOST_PTR and USE_HOST_PTR");
    REFUSE(desc->flags & PI_MEM_READ_ONLY && desc->flags & PI_MEM_WRITE_ONLY, self,
           PI_ERROR_INVALID_VALUE, "flags: READ_ONLY and WRITE_ONLY");
    REFUSE(!desc->size, self, PI_ERROR_INVALID_SIZE, "size: 0");
    REFUSE(desc->size > max_size, self, PI_ERROR_OUT_OF_DEVICE_MEMORY, "size: %llu; at most %llu",
           (unsigned long long)desc->size, (unsigned long long)max_size);
    REFUSE(desc->alignment & (desc->alignment - 1) || desc->alignment > max_alignment, self,
           PI_ERROR_INVALID_ALIGNMENT, "alignment: %llu; a power of two, at most %u",
           (unsigned long long)desc->alignment, max_alignment);
    REFUSE(desc->scope, self, PI_ERROR_INVALID_VALUE, "scope: %u; there is one", desc->scope);
    REFUSE(desc->export_types, self, PI_ERROR_UNSUPPORTED_FEATURE, "export_types: must be 0");
    REFUSE((copy || use) && !desc->host_ptr, self, PI_ERROR_INVALID_NULL_POINTER, "host_ptr: NULL");
    REFUSE(!copy && !use && desc->host_ptr, self, PI_ERROR_INVALID_VALUE,
           "host_ptr: %p, without COPY_HOST_PTR or USE_HOST_PTR", desc->host_ptr);
    REFUSE(use && desc->alignment && (uintptr_t)desc->host_ptr % desc->alignment, self,
           PI_ERROR_MISALIGNED_POINTER, "host_ptr: %p; a multiple of alignment", desc->host_ptr);
    return PI_SUCCESS;
}

static pi_result PI_CALL buffer_create(pi_context context, pi_device device,
                                       const pi_mem_buffer_desc *given, pi_mem *out_mem) {
    const uint64_t known =
        PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY | PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
    pi_mem_buffer_desc desc;
    TRY(check(context, context, PI_KIND_CONTEXT));
    TRY(check(context, device, PI_KIND_DEVICE));
    TRY(read_desc(context, given, PI_TYPE_MEM_BUFFER_DESC, known, &desc, sizeof desc));
    TRY(check_buffer(context, &desc));
    REFUSE(!out_mem, context, PI_ERROR_INVALID_NULL_POINTER, "out_mem: NULL");
    const int file = open_file(context->base.plugin);
    REFUSE(file < 0, context, PI_ERROR_OUT_OF_RESOURCES, "mkostemp: %s", strerror(errno));
    const int error = posix_fallocate(file, 0, (off_t)desc.size);
    const pi_mem self = error ? NULL : create(context, PI_KIND_MEM, sizeof *self);
    if (!self)
        close(file);
    REFUSE(error, context, PI_ERROR_OUT_OF_DEVICE_MEMORY, "size: %llu: %s",
           (unsigned long long)desc.size, strerror(error));
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    self->flags = desc.flags;
    self->size = desc.size;
    self->file = file;
    self->host_ptr = desc.flags & PI_MEM_USE_HOST_PTR ? desc.host_ptr : NULL;
    lock(self);
    self->context = hold(context);
    unlock(self);
    if (desc.host_ptr && !write_file(file, desc.host_ptr, 0, desc.size)) {
        mem_release(self);
        return fail(context, PI_ERROR_OUT_OF_DEVICE_MEMORY, "pwrite: %s", strerror(errno));
    }
    *out_mem = self;
    return PI_SUCCESS;
}

static pi_result PI_CALL mem_info(pi_mem self, pi_mem_info name, uint64_t size, void *value,
                                  uint64_t *out_size) {
    static const pi_coherence coherence = PI_COHERENCE_MAP_UNMAP;
    TRY(check(self, self, PI_KIND_MEM));
    const pi_device device = &self->base.plugin->device;
    const bool known = name - 1 < PI_MEM_INFO_REFERENCE_COUNT;
    const struct info infos[] = {{PI_MEM_INFO_SIZE, sizeof self->size, &self->size},
                                 {PI_MEM_INFO_CONTEXT, sizeof self->context, &self->context},
                                 {PI_MEM_INFO_DEVICE, sizeof device, &device},
                                 {PI_MEM_INFO_FLAGS, sizeof self->flags, &self->flags},
                                 {PI_MEM_INFO_SCOPE, sizeof(uint32_t), &zero},
                                 {PI_MEM_INFO_PARENT, sizeof zero, &zero},
                                 {PI_MEM_INFO_OFFSET, sizeof zero, &zero},
                                 {PI_MEM_INFO_COHERENCE, sizeof coherence, &coherence},
                                 {PI_MEM_INFO_KIND, sizeof(pi_memory_kind), &zero}, /* BUFFER */
                                 {known ? name : 0, 0, NULL}};
    return ANSWER(self, infos, name, size, value, out_size);
}

/* ===== Commands =============================================================================== */

/* What all commands check. */
static pi_result read_command(pi_queue queue, const void *given, struct command *command,
                              uint64_t map_flags, void *out, size_t size) {
    const uint64_t known = map_flags | PI_COMMAND_BLOCKING;
    TRY(check(queue, queue, PI_KIND_QUEUE));
    TRY(read_desc(queue, given, command->type, known, out, size));
    memcpy(&command->flags, (char *)out + sizeof(pi_struct_header), sizeof command->flags);
    REFUSE(command->wait_count && !command->wait_list, queue, PI_ERROR_INVALID_WAIT_LIST,
           "wait_list: NULL; wait_count is %u", command->wait_count);
    for (uint32_t i = 0; i < command->wait_count; i++)
        TRY(check(queue, command->wait_list[i], PI_KIND_EVENT));
    REFUSE(command->flags & PI_COMMAND_BLOCKING && in_callback(queue), queue, PI_ERROR_WOULD_BLOCK,
           "flags: PI_COMMAND_BLOCKING inside a callback");
    return PI_SUCCESS;
}

static void follow(pi_event self, pi_event before, bool order_only, struct edge *edge) {
    if (before->status == PI_EVENT_COMPLETE) {
        fail_by(self, before);
        return;
    }
    *edge = (struct edge){before->followers, self, order_only};
    before->followers = edge;
    self->waits++;
}

/* All memory that the command will need is allocated here. */
static pi_result enqueue(pi_queue queue, const struct command *command, pi_event *out_event) {
    const uint32_t regions = command->region_count, waits = command->wait_count;
    const pi_event self = create(queue, PI_KIND_EVENT,
                                 sizeof *self + regions * sizeof *command->regions +
                                     (waits + (size_t)1) * sizeof(struct edge));
    if (!self) {
        if (command->type == PI_TYPE_BUFFER_MAP_DESC)
            free(command->map);
        else if (command->map)
            command->map->unmapping = false;
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    }
    struct edge *edges = (struct edge *)(self->regions + regions);
    self->command = *command;
    self->status = PI_EVENT_QUEUED;
    if (regions)
        memcpy(self->regions, command->regions, regions * sizeof *command->regions);
    lock(self);
    self->queue = hold(queue);
    self->context = hold(queue->context);
    if (command->src)
        hold(command->src);
    if (command->dst)
        hold(command->dst);
    for (uint32_t i = 0; i < waits; i++)
        follow(self, command->wait_list[i], false, &edges[i]);
    if (queue->last)
        follow(self, queue->last, true, &edges[waits]);
    queue->last = hold(self); /* dropped by the thread */
    if (!self->waits)
        push_ready(self);
    unlock(self);
    pi_result result = PI_SUCCESS;
    if (command->flags & PI_COMMAND_BLOCKING) {
        wait_until_complete(self, PI_TIMEOUT_NEVER);
        result = self->result ? fail(queue, self->result, "%s", self->text) : PI_SUCCESS;
    }
    if (out_event && !result)
        *out_event = self;
    else
        event_release(self);
    return result;
}

static pi_result PI_CALL enqueue_copy(pi_queue queue, const pi_buffer_copy_desc *given,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event) {
    struct command command = {PI_TYPE_BUFFER_COPY_DESC, wait_count, wait_list};
    pi_buffer_copy_desc desc;
    TRY(read_command(queue, given, &command, 0, &desc, sizeof desc));
    REFUSE(desc.reserved, queue, PI_ERROR_UNSUPPORTED_FEATURE, "reserved: %u", desc.reserved);
    TRY(check(queue, desc.src, PI_KIND_MEM));
    TRY(check(queue, desc.dst, PI_KIND_MEM));
    TRY(check_regions(queue, desc.region_count, desc.regions, desc.src, desc.dst));
    command.src = desc.src;
    command.dst = desc.dst;
    command.region_count = desc.region_count;
    command.regions = desc.regions;
    return enqueue(queue, &command, out_event);
}

static pi_result PI_CALL enqueue_map(pi_queue queue, const pi_buffer_map_desc *given,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    const uint64_t map_flags = PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD;
    struct command command = {PI_TYPE_BUFFER_MAP_DESC, wait_count, wait_list};
    pi_buffer_map_desc desc;
    TRY(read_command(queue, given, &command, map_flags, &desc, sizeof desc));
    TRY(check(queue, desc.mem, PI_KIND_MEM));
    REFUSE(!desc.out_pointer, queue, PI_ERROR_INVALID_NULL_POINTER, "out_pointer: NULL");
    REFUSE(!(desc.flags & map_flags), queue, PI_ERROR_INVALID_VALUE, "flags: no PI_MAP_ flag");
    REFUSE(!desc.size || desc.size > desc.mem->size || desc.offset > desc.mem->size - desc.size,
           queue, PI_ERROR_INVALID_SIZE, "offset: %llu, size: %llu; mem has %llu bytes",
           (unsigned long long)desc.offset, (unsigned long long)desc.size,
           (unsigned long long)desc.mem->size);
    command.dst = desc.mem;
    command.out_pointer = desc.out_pointer;
    command.map = calloc(1, sizeof *command.map);
    REFUSE(!command.map, queue, PI_ERROR_OUT_OF_HOST_MEMORY, "a map: no memory");
    *command.map = (struct map){.offset = desc.offset, .size = desc.size, .flags = desc.flags};
    return enqueue(queue, &command, out_event);
}

static pi_result PI_CALL enqueue_unmap(pi_queue queue, const pi_unmap_desc *given,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    struct command command = {PI_TYPE_UNMAP_DESC, wait_count, wait_list};
    pi_unmap_desc desc;
    TRY(read_command(queue, given, &command, 0, &desc, sizeof desc));
    TRY(check(queue, desc.mem, PI_KIND_MEM));
    command.dst = desc.mem;
    lock(queue);
    command.map = desc.mem->maps;
    while (command.map && (command.map->unmapping || command.map->pointer != desc.pointer))
        command.map = command.map->next;
    if (command.map)
        command.map->unmapping = true;
    unlock(queue);
    REFUSE(!command.map, queue, PI_ERROR_INVALID_VALUE, "pointer: %p is not of a map of mem",
           desc.pointer);
    return enqueue(queue, &command, out_event);
}

/* The queue is in order: both kinds complete after the commands before them. */
static pi_result enqueue_nothing(pi_queue queue, const void *given, struct command *command,
                                 pi_event *out_event) {
    const pi_barrier_desc none = {sizeof none, command->type}; /* both descriptors are equal */
    pi_barrier_desc desc;
    TRY(read_command(queue, given ? given : &none, command, 0, &desc, sizeof desc));
    return enqueue(queue, command, out_event);
}

static pi_result PI_CALL enqueue_events_wait(pi_queue queue, const pi_events_wait_desc *given,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event) {
    struct command command = {PI_TYPE_EVENTS_WAIT_DESC, wait_count, wait_list};
    return enqueue_nothing(queue, given, &command, out_event);
}

static pi_result PI_CALL enqueue_barrier(pi_queue queue, const pi_barrier_desc *given,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    struct command command = {PI_TYPE_BARRIER_DESC, wait_count, wait_list};
    return enqueue_nothing(queue, given, &command, out_event);
}

/* ===== The application's events =============================================================== */

static pi_result PI_CALL event_wait(pi_event self, uint64_t timeout) {
    TRY(check(self, self, PI_KIND_EVENT));
    const bool blocked = timeout && in_callback(self);
    const bool is_complete = wait_until_complete(self, blocked ? 0 : timeout);
    REFUSE(is_complete && self->result, self, self->result, "%s", self->text);
    REFUSE(!is_complete && blocked, self, PI_ERROR_WOULD_BLOCK, "piEventWait: inside a callback");
    REFUSE(!is_complete, self, PI_ERROR_TIMEOUT, "timeout: %llu ns have passed",
           (unsigned long long)timeout);
    return PI_SUCCESS;
}

static pi_result PI_CALL event_info(pi_event self, pi_event_info name, uint64_t size, void *value,
                                    uint64_t *out_size) {
    TRY(check(self, self, PI_KIND_EVENT));
    lock(self);
    const pi_event_status status = self->status;
    const pi_result result = status == PI_EVENT_COMPLETE ? self->result : PI_SUCCESS;
    unlock(self);
    const char *text = result ? self->text : "";
    const struct info infos[] = {
        {PI_EVENT_INFO_STATUS, sizeof status, &status},
        {PI_EVENT_INFO_RESULT, sizeof result, &result},
        {PI_EVENT_INFO_ERROR_TEXT, (uint32_t)strlen(text) + 1, text},
        {PI_EVENT_INFO_CONTEXT, sizeof self->context, &self->context},
        {PI_EVENT_INFO_QUEUE, sizeof self->queue, &self->queue},
        {PI_EVENT_INFO_COMMAND, sizeof self->command.type, &self->command.type},
        {PI_EVENT_INFO_REFERENCE_COUNT, 0, NULL}};
    return ANSWER(self, infos, name, size, value, out_size);
}

static pi_result PI_CALL event_set_callback(pi_event self, pi_event_callback function,
                                            void *user_data) {
    TRY(check(self, self, PI_KIND_EVENT));
    REFUSE(!function, self, PI_ERROR_INVALID_NULL_POINTER, "callback: NULL");
    struct callback *callback = malloc(sizeof *callback);
    REFUSE(!callback, self, PI_ERROR_OUT_OF_HOST_MEMORY, "a callback: no memory");
    const pi_plugin plugin = self->base.plugin;
    lock(self);
    hold(self);
    *callback = (struct callback){self->callbacks, function, user_data};
    self->callbacks = callback;
    if (self->status == PI_EVENT_COMPLETE)
        call_back(self);
    drop(self);
    unlock(plugin);
    return PI_SUCCESS;
}

static pi_result PI_CALL event_create_host(pi_context context, const pi_host_event_desc *given,
                                           pi_event *out_event) {
    pi_host_event_desc desc;
    TRY(check(context, context, PI_KIND_CONTEXT));
    if (given)
        TRY(read_desc(context, given, PI_TYPE_HOST_EVENT_DESC, 0, &desc, sizeof desc));
    REFUSE(!out_event, context, PI_ERROR_INVALID_NULL_POINTER, "out_event: NULL");
    const pi_event self = create(context, PI_KIND_EVENT, sizeof *self);
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    self->status = PI_EVENT_SUBMITTED;
    lock(self);
    self->context = hold(context);
    unlock(self);
    *out_event = self;
    return PI_SUCCESS;
}

static pi_result PI_CALL event_signal(pi_event self, pi_result result) {
    TRY(check(self, self, PI_KIND_EVENT));
    REFUSE(result > 0 || result == PI_ERROR_TIMEOUT || result == PI_ERROR_WOULD_BLOCK, self,
           PI_ERROR_INVALID_VALUE, "result: %d; 0, or an error of a command", result);
    const pi_plugin plugin = self->base.plugin;
    lock(plugin);
    const bool open = !self->queue && self->status != PI_EVENT_COMPLETE;
    if (open) {
        hold(self);
        if (result)
            snprintf(self->text, text_size, "signalled with %d", result);
        complete(self, result);
        drop(self);
    }
    unlock(plugin);
    REFUSE(!open, plugin, PI_ERROR_INVALID_OPERATION, "event: of a command, or signalled before");
    return PI_SUCCESS;
}

/* ===== The entry ============================================================================== */

static const pi_dispatch functions = {
    .struct_size = sizeof functions,
    .version_major = PI_VERSION_MAJOR,
    .version_minor = PI_VERSION_MINOR,
    .piPluginGetInfo = plugin_info,
    .piPlatformsGet = platforms_get,
    .piPlatformGetInfo = platform_info,
    .piDevicesGet = devices_get,
    .piDeviceGetInfo = device_info,
    .piDeviceRetain = device_counted,
    .piDeviceRelease = device_counted,
    .piDeviceGetMemoryScopes = device_scopes,
    .piContextCreate = context_create,
    .piContextRetain = context_retain,
    .piContextRelease = context_release,
    .piContextGetInfo = context_info,
    .piGetMemoryConnection = connection,
    .piQueueCreate = queue_create,
    .piQueueRetain = queue_retain,
    .piQueueRelease = queue_release,
    .piQueueGetInfo = queue_info,
    .piQueueFlush = queue_flush,
    .piQueueFinish = queue_finish,
    .piMemBufferCreate = buffer_create,
    .piMemGetInfo = mem_info,
    .piMemRetain = mem_retain,
    .piMemRelease = mem_release,
    .piEnqueueMemBufferCopy = enqueue_copy,
    .piEnqueueMemBufferMap = enqueue_map,
    .piEnqueueMemUnmap = enqueue_unmap,
    .piEnqueueEventsWait = enqueue_events_wait,
    .piEnqueueBarrier = enqueue_barrier,
    .piEventWait = event_wait,
    .piEventGetInfo = event_info,
    .piEventSetCallback = event_set_callback,
    .piEventCreateHost = event_create_host,
    .piEventSignalHost = event_signal,
    .piEventRetain = event_retain,
    .piEventRelease = event_release,
};

/* On the thread of piLoaderRelease. */
static void PI_CALL teardown(pi_plugin self) {
    lock(self);
    self->stop = true;
    pthread_cond_signal(&self->ready);
    unlock(self);
    if (self->running)
        pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->completed);
    pthread_cond_destroy(&self->ready);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    const pi_plugin self = calloc(1, sizeof *self);
    pthread_condattr_t monotonic;
    if (!self)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    self->host = host;
    init(self, self, PI_KIND_PLUGIN);
    init(&self->platform, self, PI_KIND_PLATFORM);
    init(&self->device, self, PI_KIND_DEVICE);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->completed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&self->ready, NULL);
    pthread_mutex_init(&self->mutex, NULL);
    out_desc->version_major = PI_VERSION_MAJOR;
    out_desc->version_minor = PI_VERSION_MINOR;
    if (out_desc->struct_size >= offsetof(pi_plugin_desc, draft) + sizeof out_desc->draft)
        out_desc->draft = PI_VERSION_DRAFT;
    out_desc->name = "file";
    out_desc->version = "1.0";
    out_desc->functions = &functions;
    out_desc->instance = self;
    out_desc->teardown = teardown;
    return PI_SUCCESS;
}
