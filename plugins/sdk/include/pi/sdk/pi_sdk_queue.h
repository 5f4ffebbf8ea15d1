/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Queues for plugins in C: the object, enqueueing, and the entries of queues and events, which are
 * the same in all backends.
 */
#ifndef PI_SDK_PI_SDK_QUEUE_H
#define PI_SDK_PI_SDK_QUEUE_H

#include <pi/sdk/pi_sdk_event.h>
#include <pi/sdk/pi_sdk_place.h>

/* ----- Queues --------------------------------------------------------------------------------- */

static inline void pi_sdk_queue_destroy(void *object) {
    pi_sdk_queue *queue = (pi_sdk_queue *)object;
    pthread_mutex_destroy(&queue->mutex);
    pi_sdk_release(queue->device);
    pi_sdk_release(queue->context);
}

/* piQueueCreate for a struct of `size` bytes that begins with a pi_sdk_queue. In order, without
 * profiling. */
static inline pi_result pi_sdk_queue_new(pi_context context, pi_device device,
                                         const pi_queue_desc *given, size_t size,
                                         pi_queue *out_queue) {
    const pi_host *host = pi_sdk_host(context);
    pi_queue_desc desc = {0};
    pi_sdk_queue *queue;
    pi_result result = pi_sdk_check_place(host, context, device);
    if (!result && given)
        result = pi_sdk_read_desc(host, given, PI_TYPE_QUEUE_DESC, 0, &desc, sizeof desc);
    if (!result)
        result =
            pi_sdk_check_flags(host, desc.flags, PI_QUEUE_PRIORITY_LOW | PI_QUEUE_PRIORITY_HIGH);
    if (!result)
        result = pi_sdk_check_pointer(host, out_queue, "out_queue");
    if (result)
        return result;
    queue = (pi_sdk_queue *)pi_sdk_new(host, PI_KIND_QUEUE, size, pi_sdk_queue_destroy);
    if (!queue)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    queue->context = pi_sdk_retain(context);
    queue->device = pi_sdk_retain(device);
    queue->flags = desc.flags;
    pthread_mutex_init(&queue->mutex, NULL);
    *out_queue = (pi_queue)queue;
    return PI_SUCCESS;
}

static inline pi_result PI_CALL pi_sdk_queue_create(pi_context context, pi_device device,
                                                    const pi_queue_desc *desc,
                                                    pi_queue *out_queue) {
    return pi_sdk_queue_new(context, device, desc, sizeof(pi_sdk_queue), out_queue);
}

static inline pi_result pi_sdk_check_queue(pi_queue queue) {
    return pi_sdk_check(pi_sdk_host(queue), queue, PI_KIND_QUEUE, "queue");
}

static inline pi_result PI_CALL pi_sdk_queue_get_info(pi_queue handle, pi_queue_info name,
                                                      uint64_t size, void *value,
                                                      uint64_t *out_size) {
    pi_sdk_queue *queue = (pi_sdk_queue *)handle;
    const pi_result result = pi_sdk_check_queue(handle);
    if (result)
        return result;
    const pi_sdk_info rows[] = {
        pi_sdk_handle(PI_QUEUE_INFO_CONTEXT, queue->context),
        pi_sdk_handle(PI_QUEUE_INFO_DEVICE, queue->device),
        pi_sdk_u64(PI_QUEUE_INFO_FLAGS, queue->flags),
        pi_sdk_u32(PI_QUEUE_INFO_REFERENCE_COUNT, atomic_load(&queue->object.references)),
        {0}};
    return pi_sdk_answer(queue, rows, name, size, value, out_size);
}

/* The graph starts commands as soon as they are ready: there is nothing to flush. */
static inline pi_result PI_CALL pi_sdk_queue_flush(pi_queue queue) {
    return pi_sdk_check_queue(queue);
}

static inline pi_result PI_CALL pi_sdk_queue_finish(pi_queue handle) {
    pi_sdk_queue *queue = (pi_sdk_queue *)handle;
    pi_sdk_event *last;
    pi_result result = pi_sdk_check_queue(handle);
    if (result)
        return result;
    pthread_mutex_lock(&queue->mutex);
    last = (pi_sdk_event *)pi_sdk_retain(queue->last);
    pthread_mutex_unlock(&queue->mutex);
    if (last && !pi_sdk_event_is_complete(last)) {
        if (pi_sdk_in_callback(pi_sdk_host(handle)))
            result = pi_sdk_fail(pi_sdk_host(handle), PI_ERROR_WOULD_BLOCK,
                                 "finishing a queue in a callback");
        else
            pi_sdk_event_wait_complete(last, PI_TIMEOUT_NEVER);
    }
    pi_sdk_release(last);
    return result;
}

/* ----- Enqueueing ----------------------------------------------------------------------------- */

/* The first part of every piEnqueueX: checks the queue's kind, the descriptor and its flags.
 * `known` are the flags that the command accepts, PI_COMMAND_BLOCKING included. *out_desc begins
 * with a pi_struct_header and `flags`. */
static inline pi_result pi_sdk_read_command(pi_queue queue, const void *desc, pi_struct_type type,
                                            uint64_t known, void *out_desc, size_t size) {
    const pi_host *host = pi_sdk_host(queue);
    uint64_t flags;
    pi_result result = pi_sdk_check_queue(queue);
    if (!result)
        result = pi_sdk_read_desc(host, desc, type, 0, out_desc, size);
    if (result)
        return result;
    memcpy(&flags, (char *)out_desc + sizeof(pi_struct_header), sizeof flags);
    return pi_sdk_check_flags(host, flags, known);
}

static inline pi_result pi_sdk_check_wait_list(const pi_host *host, uint32_t count,
                                               const pi_event *events) {
    uint32_t i;
    if (count && !events)
        return pi_sdk_fail(host, PI_ERROR_INVALID_WAIT_LIST,
                           "wait_list is NULL, but wait_count is %u", (unsigned)count);
    for (i = 0; i < count; ++i) {
        char name[32];
        pi_result result;
        snprintf(name, sizeof name, "wait_list[%u]", (unsigned)i);
        result = pi_sdk_check(host, events[i], PI_KIND_EVENT, name);
        if (result)
            return result;
    }
    return PI_SUCCESS;
}

/* The last part of every piEnqueueX, once the descriptor and its handles are checked: checks the
 * wait list, puts the command into the queue, and waits if it is blocking. If it is not blocking,
 * the only `start` calls made within this call are those of ready commands. */
static inline pi_result pi_sdk_enqueue(pi_queue handle, const pi_sdk_command *command,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    pi_sdk_queue *queue = (pi_sdk_queue *)handle;
    const pi_host *host = queue->object.host;
    const int blocking = (command->flags & PI_COMMAND_BLOCKING) != 0;
    pi_sdk_event *event, *previous;
    pi_sdk_edge *edges;
    uint32_t i;
    pi_result result = pi_sdk_check_wait_list(host, wait_count, wait_list);
    if (!result && blocking && pi_sdk_in_callback(host))
        result = pi_sdk_fail(host, PI_ERROR_WOULD_BLOCK, "a blocking command in a callback");
    event = result ? NULL
                   : pi_sdk_event_new(host, queue->context, queue, command, (size_t)wait_count + 1);
    if (!event) {
        if (command->drop)
            command->drop(command);
        return result ? result : PI_ERROR_OUT_OF_HOST_MEMORY;
    }
    edges = (pi_sdk_edge *)(event + 1);
    pi_sdk_retain(event); /* this call's; the first is the graph's */
    pthread_mutex_lock(&queue->mutex);
    previous = (pi_sdk_event *)pi_sdk_retain(queue->last);
    queue->last = event;
    pthread_mutex_unlock(&queue->mutex);

    for (i = 0; i < wait_count; ++i)
        pi_sdk_event_follow(event, (pi_sdk_event *)wait_list[i], &edges[i], 1);
    if (previous)
        pi_sdk_event_follow(event, previous, &edges[wait_count], 0);
    pi_sdk_release(previous);
    pi_sdk_event_step(event);

    /* A command that found no memory to start with is refused: the caller may have no event to see
     * it by. */
    if (blocking ||
        (pi_sdk_event_is_complete(event) && event->result == PI_ERROR_OUT_OF_HOST_MEMORY))
        result = pi_sdk_event_wait_for(event, PI_TIMEOUT_NEVER);
    if (!result && out_event)
        *out_event = (pi_event)event;
    else
        pi_sdk_release(event);
    return result;
}

/* The two commands that do nothing. With or without a wait list they follow the command before
 * them, since the queue is in order. */
static inline pi_result pi_sdk_enqueue_nothing(pi_queue queue, const void *given,
                                               pi_struct_type type, uint32_t wait_count,
                                               const pi_event *wait_list, pi_event *out_event) {
    pi_barrier_desc desc = {0};
    pi_sdk_command command = {.type = type};
    const pi_result result =
        given ? pi_sdk_read_command(queue, given, type, PI_COMMAND_BLOCKING, &desc, sizeof desc)
              : pi_sdk_check_queue(queue);
    command.flags = desc.flags;
    return result ? result : pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}
static inline pi_result PI_CALL pi_sdk_enqueue_events_wait(pi_queue queue,
                                                           const pi_events_wait_desc *desc,
                                                           uint32_t wait_count,
                                                           const pi_event *wait_list,
                                                           pi_event *out_event) {
    return pi_sdk_enqueue_nothing(queue, desc, PI_TYPE_EVENTS_WAIT_DESC, wait_count, wait_list,
                                  out_event);
}
static inline pi_result PI_CALL pi_sdk_enqueue_barrier(pi_queue queue, const pi_barrier_desc *desc,
                                                       uint32_t wait_count,
                                                       const pi_event *wait_list,
                                                       pi_event *out_event) {
    return pi_sdk_enqueue_nothing(queue, desc, PI_TYPE_BARRIER_DESC, wait_count, wait_list,
                                  out_event);
}

/* ----- Entries of events ---------------------------------------------------------------------- */

static inline pi_result pi_sdk_check_event(pi_event event) {
    return pi_sdk_check(pi_sdk_host(event), event, PI_KIND_EVENT, "event");
}

static inline pi_result PI_CALL pi_sdk_event_wait(pi_event event, uint64_t timeout) {
    const pi_result result = pi_sdk_check_event(event);
    return result ? result : pi_sdk_event_wait_for((pi_sdk_event *)event, timeout);
}

static inline pi_result PI_CALL pi_sdk_event_get_info(pi_event handle, pi_event_info name,
                                                      uint64_t size, void *value,
                                                      uint64_t *out_size) {
    pi_sdk_event *event = (pi_sdk_event *)handle;
    const pi_result result = pi_sdk_check_event(handle);
    if (result)
        return result;
    /* Read the outcome only once the event is complete. */
    const int is_complete = pi_sdk_event_is_complete(event);
    const pi_sdk_info rows[] = {
        pi_sdk_u32(PI_EVENT_INFO_STATUS, atomic_load(&event->status)),
        pi_sdk_u32(PI_EVENT_INFO_RESULT, is_complete ? (uint32_t)event->result : PI_SUCCESS),
        pi_sdk_text(PI_EVENT_INFO_ERROR_TEXT, is_complete ? pi_sdk_event_text(event) : ""),
        pi_sdk_handle(PI_EVENT_INFO_CONTEXT, event->context),
        pi_sdk_handle(PI_EVENT_INFO_QUEUE, event->queue),
        pi_sdk_u32(PI_EVENT_INFO_COMMAND, event->command.type),
        pi_sdk_u32(PI_EVENT_INFO_REFERENCE_COUNT, atomic_load(&event->object.references)),
        {0}};
    return pi_sdk_answer(event, rows, name, size, value, out_size);
}

static inline void pi_sdk_run_callback(pi_sdk_task *task) {
    pi_sdk_event *event = (pi_sdk_event *)task->of;
    pi_sdk_call_back(event, (pi_sdk_callback *)task);
    pi_sdk_release(event);
}

static inline pi_result PI_CALL pi_sdk_event_set_callback(pi_event handle, pi_event_callback call,
                                                          void *user_data) {
    pi_sdk_event *event = (pi_sdk_event *)handle;
    const pi_host *host = pi_sdk_host(handle);
    pi_sdk_callback *callback;
    int is_complete;
    pi_result result = pi_sdk_check_event(handle);
    if (!result && !call)
        result = pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "callback is NULL");
    if (result)
        return result;
    callback = (pi_sdk_callback *)calloc(1, sizeof *callback);
    if (!callback)
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for a callback");
    callback->call = call;
    callback->user_data = user_data;
    pthread_mutex_lock(&event->mutex);
    is_complete = event->complete;
    if (!is_complete) {
        *event->callbacks_end = callback;
        event->callbacks_end = &callback->next;
    }
    pthread_mutex_unlock(&event->mutex);
    if (is_complete) {
        callback->task.run = pi_sdk_run_callback;
        callback->task.of = pi_sdk_retain(event);
        pi_sdk_post(&callback->task);
    }
    return PI_SUCCESS;
}

static inline pi_result PI_CALL pi_sdk_event_create_host(pi_context context,
                                                         const pi_host_event_desc *desc,
                                                         pi_event *out_event) {
    const pi_host *host = pi_sdk_host(context);
    const pi_sdk_command none = {0};
    pi_host_event_desc known;
    pi_sdk_event *event;
    pi_result result = pi_sdk_check(host, context, PI_KIND_CONTEXT, "context");
    if (!result && desc)
        result = pi_sdk_read_desc(host, desc, PI_TYPE_HOST_EVENT_DESC, PI_TYPE_NONE, &known,
                                  sizeof known);
    if (!result && desc)
        result = pi_sdk_check_flags(host, known.flags, 0);
    if (!result && !out_event)
        result = pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "out_event is NULL");
    if (result)
        return result;
    event = pi_sdk_event_new(host, context, NULL, &none, 0);
    if (!event)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    *out_event = (pi_event)pi_sdk_retain(event);
    return PI_SUCCESS;
}

static inline pi_result PI_CALL pi_sdk_event_signal_host(pi_event handle, pi_result signal) {
    pi_sdk_event *event = (pi_sdk_event *)handle;
    const pi_host *host = pi_sdk_host(handle);
    char text[64];
    const pi_result result = pi_sdk_check_event(handle);
    if (result)
        return result;
    if (event->queue)
        return pi_sdk_fail(host, PI_ERROR_INVALID_OPERATION,
                           "event is a command's; only host events are signalled");
    if (signal > 0 || signal == PI_ERROR_TIMEOUT || signal == PI_ERROR_WOULD_BLOCK)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE,
                           "result is %d; PI_SUCCESS or a negative error code that is not a wait's "
                           "own is needed",
                           (int)signal);
    if (atomic_exchange(&event->signalled, 1))
        return pi_sdk_fail(host, PI_ERROR_INVALID_OPERATION, "event was signalled before");
    snprintf(text, sizeof text, "signalled by the application with %d", (int)signal);
    pi_sdk_event_finish(event, signal, text);
    return PI_SUCCESS;
}

static inline pi_result PI_CALL pi_sdk_event_retain(pi_event handle) {
    pi_sdk_event *event = (pi_sdk_event *)handle;
    const pi_result result = pi_sdk_check_event(handle);
    if (result)
        return result;
    atomic_fetch_add_explicit(&event->held, 1, memory_order_relaxed);
    pi_sdk_retain(event);
    return PI_SUCCESS;
}

/* Abandons a host event whose last application reference goes before it was signalled. */
static inline pi_result PI_CALL pi_sdk_event_release(pi_event handle) {
    pi_sdk_event *event = (pi_sdk_event *)handle;
    const pi_result result = pi_sdk_check_event(handle);
    if (result)
        return result;
    if (atomic_fetch_sub_explicit(&event->held, 1, memory_order_acq_rel) == 1 && !event->queue &&
        !atomic_exchange(&event->signalled, 1))
        pi_sdk_event_finish(event, PI_ERROR_ABANDONED,
                            "a host event was released before it was signalled");
    pi_sdk_release(event);
    return PI_SUCCESS;
}

#endif
