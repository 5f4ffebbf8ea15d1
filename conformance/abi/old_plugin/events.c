/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "old_plugin.h"

#include <stdlib.h>
#include <time.h>

struct waiter {
    pi_event event;
    int order_only; /* a queue's order carries no errors */
    struct waiter *next;
};

struct callback {
    pi_event_callback function;
    void *user_data;
    struct callback *next;
};

static _Thread_local int in_callback;

static pthread_mutex_t *lock_of(pi_event event) {
    return &event->base.plugin->lock;
}

static pi_event new_event(pi_plugin plugin, pi_context context, pi_queue queue, uint32_t waits) {
    pi_event event = new_object(plugin, PI_KIND_EVENT, sizeof *event, context);
    struct waiter *links = calloc(waits + 1, sizeof *links);
    if (!event || !links) {
        free(links);
        if (event)
            release_object(event);
        pi_sdk_fail(plugin->host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for an event");
        return NULL;
    }
    event->holds = 1; /* until it is final */
    event->pending = 1;
    event->links = links;
    event->queue = queue;
    if (queue)
        retain_object(queue);
    return event;
}

/* Drops references of the application and holds of the plugin. */
static void drop(pi_event event, uint32_t references, uint32_t holds) {
    pthread_mutex_lock(lock_of(event));
    event->base.references -= references;
    event->holds -= holds;
    int gone = !event->base.references && !event->holds;
    if (gone)
        event->base.references = 1; /* for release_object */
    pthread_mutex_unlock(lock_of(event));
    if (!gone)
        return;
    if (event->queue)
        release_object(event->queue);
    free(event->links);
    free(event->work.regions);
    release_object(event);
}

static void call_back(pi_event event, struct callback *callback) {
    ++in_callback;
    callback->function(event, event->result, callback->user_data);
    --in_callback;
}

/* Under the lock. */
static void inherit_failure(pi_event event, pi_event from) {
    if (!from->result || event->result)
        return;
    event->result = PI_ERROR_DEPENDENCY_FAILED;
    memcpy(event->text, from->text, sizeof event->text);
}

/* Makes an event final; events that thereby become ready are put before *ready. */
static void finish(pi_event event, pi_result result, const char *text, pi_event *ready) {
    uint32_t holds = 1;
    pthread_mutex_lock(lock_of(event));
    event->final = 1;
    event->pending = 0;
    event->result = result;
    if (text)
        snprintf(event->text, sizeof event->text, "%s", text);
    struct callback *callbacks = event->callbacks;
    event->callbacks = NULL;
    if (event->queue && event->queue->last == event) {
        event->queue->last = NULL;
        ++holds;
    }
    for (struct waiter *w = event->waiters; w; w = w->next) {
        if (!w->order_only)
            inherit_failure(w->event, event);
        if (--w->event->pending == 0) {
            w->event->next_ready = *ready;
            *ready = w->event;
        }
    }
    pthread_cond_broadcast(&event->base.plugin->changed);
    pthread_mutex_unlock(lock_of(event));

    while (callbacks) {
        struct callback *next = callbacks->next;
        call_back(event, callbacks);
        free(callbacks);
        callbacks = next;
    }
    if (event->work.src)
        release_object(event->work.src);
    if (event->work.dst)
        release_object(event->work.dst);
    drop(event, 0, holds);
}

/* A loop, so that long chains need no stack. */
static void run(pi_event ready) {
    while (ready) {
        pi_event event = ready;
        ready = event->next_ready;
        if (!event->result)
            execute(&event->work);
        finish(event, event->result, NULL, &ready);
    }
}

static void complete(pi_event event, pi_result result, const char *text) {
    pi_event ready = NULL;
    finish(event, result, text, &ready);
    run(ready);
}

/* Under the lock: lets the event come after another one. */
static void come_after(pi_event event, pi_event before, int order_only, struct waiter *link) {
    if (before->final) {
        if (!order_only)
            inherit_failure(event, before);
        return;
    }
    *link = (struct waiter){event, order_only, before->waiters};
    before->waiters = link;
    ++event->pending;
}

static pi_result check_submit(pi_queue queue, uint64_t flags, uint32_t wait_count,
                              const pi_event *wait_list) {
    const pi_host *host = host_of(queue);
    if (flags & ~(uint64_t)PI_COMMAND_BLOCKING)
        return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE, "unknown flags %#llx",
                           (unsigned long long)flags);
    if (flags && in_callback)
        return pi_sdk_fail(host, PI_ERROR_WOULD_BLOCK, "PI_COMMAND_BLOCKING inside a callback");
    if (!wait_count != !wait_list)
        return pi_sdk_fail(host, PI_ERROR_INVALID_WAIT_LIST, "wait_count is %u, wait_list is %p",
                           (unsigned)wait_count, (const void *)wait_list);
    pi_result result = PI_SUCCESS;
    for (uint32_t i = 0; i < wait_count && !result; ++i)
        result = check_kind(queue, wait_list[i], PI_KIND_EVENT);
    return result;
}

pi_result submit(pi_queue queue, command *work, uint64_t flags, uint32_t wait_count,
                 const pi_event *wait_list, pi_event *out_event) {
    pi_plugin plugin = queue->base.plugin;
    pi_result result = check_submit(queue, flags, wait_count, wait_list);
    pi_event event = result ? NULL : new_event(plugin, queue->base.context, queue, wait_count);
    if (!event) {
        free(work->regions);
        return result ? result : PI_ERROR_OUT_OF_HOST_MEMORY;
    }
    event->work = *work;
    if (work->src)
        retain_object(work->src);
    if (work->dst)
        retain_object(work->dst);

    pthread_mutex_lock(&plugin->lock);
    for (uint32_t i = 0; i < wait_count; ++i)
        come_after(event, wait_list[i], 0, &event->links[i]);
    pi_event before = queue->last;
    if (before)
        come_after(event, before, 1, &event->links[wait_count]);
    queue->last = event;
    ++event->holds;
    event->next_ready = NULL;
    int ready = --event->pending == 0;
    pthread_mutex_unlock(&plugin->lock);
    if (before)
        drop(before, 0, 1);
    if (ready)
        run(event);

    if (flags & PI_COMMAND_BLOCKING)
        result = old_event_wait(event, PI_TIMEOUT_NEVER);
    if (out_event)
        *out_event = event;
    else
        drop(event, 1, 0);
    return result;
}

pi_result old_queue_flush(pi_queue queue) {
    (void)queue;
    return PI_SUCCESS;
}

pi_result old_queue_finish(pi_queue queue) {
    if (in_callback)
        return pi_sdk_fail(host_of(queue), PI_ERROR_WOULD_BLOCK, "inside a callback");
    pthread_mutex_lock(&queue->base.plugin->lock);
    pi_event last = queue->last;
    if (last)
        ++last->holds;
    while (last && !last->final)
        pthread_cond_wait(&queue->base.plugin->changed, &queue->base.plugin->lock);
    pthread_mutex_unlock(&queue->base.plugin->lock);
    if (last)
        drop(last, 0, 1);
    return PI_SUCCESS;
}

pi_result old_event_wait(pi_event event, uint64_t timeout) {
    const pi_host *host = host_of(event);
    const int never = timeout > UINT64_MAX / 4;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t nanoseconds = (uint64_t)until.tv_nsec + (never ? 0 : timeout);
    until.tv_sec += (time_t)(nanoseconds / 1000000000);
    until.tv_nsec = (long)(nanoseconds % 1000000000);

    int over = timeout == 0 || in_callback;
    pthread_mutex_lock(lock_of(event));
    while (!event->final && !over) {
        pthread_cond_t *changed = &event->base.plugin->changed;
        if (never)
            pthread_cond_wait(changed, lock_of(event));
        else
            over = pthread_cond_timedwait(changed, lock_of(event), &until) != 0;
    }
    int final = event->final;
    pthread_mutex_unlock(lock_of(event));
    if (final)
        return event->result ? pi_sdk_fail(host, event->result, "%s", event->text) : PI_SUCCESS;
    if (in_callback && timeout)
        return pi_sdk_fail(host, PI_ERROR_WOULD_BLOCK, "a wait inside a callback");
    return pi_sdk_fail(host, PI_ERROR_TIMEOUT, "not final after %llu ns",
                       (unsigned long long)timeout);
}

pi_result old_event_get_info(pi_event event, pi_event_info name, uint64_t size, void *value,
                             uint64_t *out_size) {
    const pi_host *host = host_of(event);
    pthread_mutex_lock(lock_of(event));
    const int final = event->final;
    const pi_result outcome = final ? event->result : PI_SUCCESS;
    const uint32_t references = event->base.references;
    pthread_mutex_unlock(lock_of(event));
    const pi_event_status status = final ? PI_EVENT_COMPLETE : PI_EVENT_QUEUED;
    const char *text = outcome ? event->text : "";
    const uint32_t type = event->work.type;
    switch (name) {
    case PI_EVENT_INFO_STATUS:
        return pi_sdk_write_info(host, &status, sizeof status, size, value, out_size);
    case PI_EVENT_INFO_RESULT:
        return pi_sdk_write_info(host, &outcome, sizeof outcome, size, value, out_size);
    case PI_EVENT_INFO_ERROR_TEXT:
        return pi_sdk_write_info(host, text, strlen(text) + 1, size, value, out_size);
    case PI_EVENT_INFO_CONTEXT:
        return pi_sdk_write_info(host, &event->base.context, sizeof event->base.context, size,
                                 value, out_size);
    case PI_EVENT_INFO_QUEUE:
        return pi_sdk_write_info(host, &event->queue, sizeof event->queue, size, value, out_size);
    case PI_EVENT_INFO_COMMAND:
        return pi_sdk_write_info(host, &type, sizeof type, size, value, out_size);
    case PI_EVENT_INFO_REFERENCE_COUNT:
        return pi_sdk_write_info(host, &references, sizeof references, size, value, out_size);
    default:
        return info_name(host, name, PI_EVENT_INFO_REFERENCE_COUNT);
    }
}

pi_result old_event_set_callback(pi_event event, pi_event_callback function, void *user_data) {
    const pi_host *host = host_of(event);
    if (!function)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "callback is NULL");
    struct callback *made = malloc(sizeof *made);
    if (!made)
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for a callback");
    pthread_mutex_lock(lock_of(event));
    *made = (struct callback){function, user_data, event->callbacks};
    const int final = event->final;
    if (!final)
        event->callbacks = made;
    pthread_mutex_unlock(lock_of(event));
    if (final) {
        call_back(event, made);
        free(made);
    }
    return PI_SUCCESS;
}

pi_result old_event_create_host(pi_context context, const pi_host_event_desc *desc,
                                pi_event *out_event) {
    pi_host_event_desc known;
    if (desc) {
        const pi_result result = pi_sdk_read_desc(host_of(context), desc, PI_TYPE_HOST_EVENT_DESC,
                                                  PI_TYPE_NONE, &known, sizeof known);
        if (result)
            return result;
        if (known.flags)
            return pi_sdk_fail(host_of(context), PI_ERROR_UNSUPPORTED_FEATURE, "flags are not 0");
    }
    pi_event event = new_event(context->base.plugin, context, NULL, 0);
    if (!event)
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    *out_event = event;
    return PI_SUCCESS;
}

/* A host event waits for one thing: to be signalled. Whoever takes that makes it final. */
static int take_signal(pi_event event) {
    int mine = !event->queue && event->pending == 1;
    if (mine)
        event->pending = 0;
    return mine;
}

pi_result old_event_signal_host(pi_event event, pi_result result) {
    const pi_host *host = host_of(event);
    if (result > 0 || result == PI_ERROR_TIMEOUT || result == PI_ERROR_WOULD_BLOCK)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE,
                           "result is %d, should be 0 or a command's error", (int)result);
    pthread_mutex_lock(lock_of(event));
    int mine = take_signal(event);
    pthread_mutex_unlock(lock_of(event));
    if (!mine)
        return pi_sdk_fail(host, PI_ERROR_INVALID_OPERATION,
                           "the event was signalled before, or is a command's");
    complete(event, result, result ? "a host event was signalled with an error" : NULL);
    return PI_SUCCESS;
}

pi_result old_event_retain(pi_event event) {
    retain_object(event);
    return PI_SUCCESS;
}

pi_result old_event_release(pi_event event) {
    pthread_mutex_lock(lock_of(event));
    int abandoned = event->base.references == 1 && take_signal(event);
    pthread_mutex_unlock(lock_of(event));
    if (abandoned)
        complete(event, PI_ERROR_ABANDONED, "a host event was released before it was signalled");
    drop(event, 1, 0);
    return PI_SUCCESS;
}
