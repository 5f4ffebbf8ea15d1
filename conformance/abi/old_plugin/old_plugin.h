/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plugin of version 1.0, unchanged: only the required functions, in a table that ends after the
 * last of them. It is compiled against conformance/abi/v1.0, never against the headers of today;
 * today's loader must serve it. It is correct and small: one device (the memory of the process),
 * commands that run on the thread that makes them ready, one lock.
 */
#ifndef PI_OLD_PLUGIN_H
#define PI_OLD_PLUGIN_H

#include <pi/sdk/pi_sdk.h>

#include <pthread.h>

/* With PI_ABI_TOMORROW it is of a later minor version than today's: its table has slots, and its
 * capabilities a bit, that the loader does not know. */
#ifdef PI_ABI_TOMORROW
#define PLUGIN_NAME "tomorrow"
#define PLUGIN_MINOR (PI_VERSION_MINOR + 77)
#define PLUGIN_CAPABILITIES (UINT64_C(1) << 60)
#define PLUGIN_TABLE_SIZE (sizeof(pi_dispatch) + 3 * sizeof(void *))
#else
#define PLUGIN_NAME "old"
#define PLUGIN_MINOR PI_VERSION_MINOR
#define PLUGIN_CAPABILITIES UINT64_C(0)
#define PLUGIN_TABLE_SIZE offsetof(pi_dispatch, piEventGetNativeHandle)
#endif

/* What every counted object begins with. */
typedef struct object {
    pi_object_header header;
    pi_plugin plugin;
    uint32_t references; /* under the lock */
    pi_context context;  /* kept alive; NULL in a context */
} object;

/* Platform and device live in the instance and are not counted. */
struct pi_platform_s {
    object base;
};
struct pi_device_s {
    object base;
};
struct pi_plugin_s {
    object base;
    const pi_host *host;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an event became final */
    struct pi_platform_s platform;
    struct pi_device_s device;
    pi_dispatch *functions; /* of exactly struct_size bytes */
};
struct pi_context_s {
    object base;
};
struct pi_queue_s {
    object base;
    pi_event last; /* what the next command comes after; kept alive; NULL when it is final */
};
struct pi_mem_s {
    object base;
    uint64_t flags;
    uint64_t size;
    uint64_t alignment;
    unsigned char *bytes;
    int owned;
};

/* objects.c */
void retain_object(void *handle);
void release_object(void *handle);
uint32_t references_of(void *handle);
void *new_object(pi_plugin plugin, pi_kind kind, size_t size, pi_context context);
pi_result check_kind(const void *first, const void *handle, pi_kind kind);
pi_result info_name(const pi_host *host, uint32_t name, uint32_t last);
const pi_host *host_of(const void *handle);

pi_result old_plugin_get_info(pi_plugin, pi_plugin_info, uint64_t, void *, uint64_t *);
pi_result old_platforms_get(pi_plugin, uint32_t, pi_platform *, uint32_t *);
pi_result old_platform_get_info(pi_platform, pi_platform_info, uint64_t, void *, uint64_t *);
pi_result old_devices_get(pi_platform, pi_device_type, uint32_t, pi_device *, uint32_t *);
pi_result old_device_get_info(pi_device, pi_device_info, uint64_t, void *, uint64_t *);
pi_result old_device_retain(pi_device);
pi_result old_device_release(pi_device);
pi_result old_device_get_memory_scopes(pi_device, uint32_t, pi_memory_scope *, uint32_t *);
pi_result old_context_create(pi_platform, const pi_context_desc *, pi_context *);
pi_result old_context_retain(pi_context);
pi_result old_context_release(pi_context);
pi_result old_context_get_info(pi_context, pi_context_info, uint64_t, void *, uint64_t *);
pi_result old_get_memory_connection(pi_device, pi_context, pi_device, pi_context,
                                    pi_memory_connection *);
pi_result old_queue_create(pi_context, pi_device, const pi_queue_desc *, pi_queue *);
pi_result old_queue_retain(pi_queue);
pi_result old_queue_release(pi_queue);
pi_result old_queue_get_info(pi_queue, pi_queue_info, uint64_t, void *, uint64_t *);
pi_result old_mem_buffer_create(pi_context, pi_device, const pi_mem_buffer_desc *, pi_mem *);
pi_result old_mem_get_info(pi_mem, pi_mem_info, uint64_t, void *, uint64_t *);
pi_result old_mem_retain(pi_mem);
pi_result old_mem_release(pi_mem);

/* commands.c */
pi_result old_enqueue_copy(pi_queue, const pi_buffer_copy_desc *, uint32_t, const pi_event *,
                           pi_event *);
pi_result old_enqueue_map(pi_queue, const pi_buffer_map_desc *, uint32_t, const pi_event *,
                          pi_event *);
pi_result old_enqueue_unmap(pi_queue, const pi_unmap_desc *, uint32_t, const pi_event *,
                            pi_event *);
pi_result old_enqueue_events_wait(pi_queue, const pi_events_wait_desc *, uint32_t, const pi_event *,
                                  pi_event *);
pi_result old_enqueue_barrier(pi_queue, const pi_barrier_desc *, uint32_t, const pi_event *,
                              pi_event *);

/* events.c */
typedef struct command {
    pi_struct_type type; /* of the descriptor; 0 for a host event */
    pi_mem src;          /* kept alive until the event is final */
    pi_mem dst;
    uint32_t region_count;
    pi_region *regions; /* the event's to free; their zeros are replaced by what they mean */
    void **out_pointer;
    void *pointer;
} command;

struct waiter;
struct callback;
struct pi_event_s {
    object base;
    uint32_t holds; /* by the plugin; `references` are the application's */
    pi_queue queue;
    command work;
    uint32_t pending; /* events that this one waits for, and 1 while it is being enqueued */
    int final;
    pi_result result;
    char text[256];
    struct waiter *waiters; /* of other events */
    struct waiter *links;   /* its own: one for each event that it waits for */
    struct callback *callbacks;
    pi_event next_ready;
};

/* Takes the command over, also when it fails. */
pi_result submit(pi_queue queue, command *work, uint64_t flags, uint32_t wait_count,
                 const pi_event *wait_list, pi_event *out_event);
void execute(command *work);

pi_result old_queue_flush(pi_queue);
pi_result old_queue_finish(pi_queue);
pi_result old_event_wait(pi_event, uint64_t);
pi_result old_event_get_info(pi_event, pi_event_info, uint64_t, void *, uint64_t *);
pi_result old_event_set_callback(pi_event, pi_event_callback, void *);
pi_result old_event_create_host(pi_context, const pi_host_event_desc *, pi_event *);
pi_result old_event_signal_host(pi_event, pi_result);
pi_result old_event_retain(pi_event);
pi_result old_event_release(pi_event);

#endif
