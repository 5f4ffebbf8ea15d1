/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The command graph for plugins in C: events, the commands behind them, in-order queues. The graph
 * delays commands until their dependencies are complete, propagates errors and calls callbacks. It
 * is independent of any backend. A plugin checks a command's descriptor, fills a pi_sdk_command and
 * calls pi_sdk_enqueue. When the command is ready, the graph calls `start`; when the command is
 * done, the plugin calls pi_sdk_event_finish.
 *
 * A command starts when every event of its wait list, and the command before it in its queue, are
 * complete. A backend whose own queues order commands therefore gets one at a time; event.hpp, for
 * C++, can submit them earlier.
 */
#ifndef PI_SDK_PI_SDK_EVENT_H
#define PI_SDK_PI_SDK_EVENT_H

#include <pi/sdk/pi_sdk_posix.h> /* first */

#include <pi/sdk/pi_sdk_object.h>

#include <pthread.h>
#include <time.h>

typedef struct pi_sdk_event pi_sdk_event;
typedef struct pi_sdk_queue pi_sdk_queue;

enum { PI_SDK_KEPT = 4 };

/* The command of an enqueue call. Everything is copied; the handles in `keeps` are retained until
 * the event is complete. */
typedef struct pi_sdk_command {
    pi_struct_type type; /* of the call's descriptor */
    uint64_t flags;      /* the descriptor's; only PI_COMMAND_BLOCKING is read */
    /* Called once, on any thread, with no lock held, when all dependencies are complete and nothing
     * in the wait list has failed. Must not block. Each call needs exactly one pi_sdk_event_finish,
     * within it or later, on any thread. NULL: there is nothing to do. */
    void (*start)(pi_sdk_event *event);
    /* Called exactly once, whether the command started or not: just before the event is complete,
     * or when the command cannot be enqueued. May be NULL. */
    void (*drop)(const struct pi_sdk_command *command);
    const void *data; /* data_size bytes, copied; the event's command points to the copy */
    size_t data_size;
    void *keeps[PI_SDK_KEPT]; /* handles; NULL for none */
    /* the application's memory, for `start` to read; the application keeps it valid */
    void *host_ptr;
} pi_sdk_command;

/* A task for pi_sdk_post. */
typedef struct pi_sdk_task {
    struct pi_sdk_task *next;
    void (*run)(struct pi_sdk_task *task);
    void *of;
} pi_sdk_task;

/* An entry in a dependency's list: `waiter` waits for it. */
typedef struct pi_sdk_edge {
    struct pi_sdk_edge *next;
    pi_sdk_event *waiter;
    int carries_error; /* from the wait list; 0: only the queue's order */
} pi_sdk_edge;

typedef struct pi_sdk_callback {
    pi_sdk_task task; /* first; used by a callback that is set on a complete event */
    struct pi_sdk_callback *next;
    pi_event_callback call;
    void *user_data;
} pi_sdk_callback;

/* The object behind pi_event: a command's event, or a host event, which has no queue. A plugin
 * reads `command`; the rest is the graph's. */
struct pi_sdk_event {
    pi_sdk_object object;
    pi_sdk_command command; /* its data is aligned for any type */
    void *context;
    pi_sdk_queue *queue;
    pi_sdk_task task;
    _Atomic uint32_t status; /* pi_event_status */
    /* dependencies that are not complete, plus one while it enters the graph */
    _Atomic uint32_t missing;
    /* references of the application; a host event without any is abandoned */
    _Atomic uint32_t held;
    _Atomic uint32_t signalled;

    pthread_mutex_t mutex; /* guards the members below; no other lock is taken under it */
    pthread_cond_t condition;
    int complete;
    pi_result result;
    char *text;          /* of the command's own failure */
    int lacks_text;      /* there was no memory for the text */
    pi_sdk_event *cause; /* of PI_ERROR_DEPENDENCY_FAILED: the event that failed first */
    pi_sdk_edge *waiters, **waiters_end;
    pi_sdk_callback *callbacks, **callbacks_end;
};

/* An in-order queue, the object behind pi_queue. A plugin's own struct may begin with it; its
 * `destroy` calls pi_sdk_queue_destroy. */
struct pi_sdk_queue {
    pi_sdk_object object;
    void *context, *device;
    uint64_t flags;
    pthread_mutex_t mutex; /* guards last; taken before any event's, never after */
    pi_sdk_event *last;    /* the newest event; NULL once it is complete */
};

/* ----- This thread ---------------------------------------------------------------------------- */

/* This thread's pending tasks, and its depth of application callbacks for loaders that do not count
 * it. Weak and hidden: a plugin has one of it, however many files it has. */
typedef struct pi_sdk_thread {
    pi_sdk_task *first, *last;
    int running;
    int32_t callbacks;
} pi_sdk_thread;
__attribute__((weak, visibility("hidden"))) _Thread_local pi_sdk_thread pi_sdk_this_thread;

/* Runs the task now, or, within another task, after that one: a chain of a million events must not
 * need a million stack frames. */
static inline void pi_sdk_post(pi_sdk_task *task) {
    pi_sdk_thread *thread = &pi_sdk_this_thread;
    task->next = NULL;
    if (thread->last)
        thread->last->next = task;
    else
        thread->first = task;
    thread->last = task;
    if (thread->running)
        return;
    thread->running = 1;
    while ((task = thread->first)) {
        thread->first = task->next;
        if (!thread->first)
            thread->last = NULL;
        task->run(task);
    }
    thread->running = 0;
}

/* pi_host::callback_depth; with an older loader, which lacks it, only this plugin's callbacks
 * count. */
static inline int32_t pi_sdk_callback_depth(const pi_host *host, int32_t change) {
    if (host->struct_size >= offsetof(pi_host, callback_depth) + sizeof host->callback_depth)
        return host->callback_depth(host, change);
    return pi_sdk_this_thread.callbacks += change;
}

/* True within a callback of any plugin, where blocking calls return PI_ERROR_WOULD_BLOCK. */
static inline int pi_sdk_in_callback(const pi_host *host) {
    return pi_sdk_callback_depth(host, 0) > 0;
}

static inline void pi_sdk_call_back(pi_sdk_event *event, pi_sdk_callback *callback) {
    const pi_host *host = event->object.host;
    pi_sdk_callback_depth(host, 1);
    callback->call((pi_event)event, event->result, callback->user_data);
    pi_sdk_callback_depth(host, -1);
    free(callback);
}

/* Calls a piEnqueueHostFunction function under the rules of callbacks. Call it on a thread of the
 * plugin, not in `start`, which may run on a thread of the application. */
static inline void pi_sdk_call_host_function(const pi_host *host, pi_host_function function,
                                             void *user_data) {
    pi_sdk_callback_depth(host, 1);
    function(user_data);
    pi_sdk_callback_depth(host, -1);
}

/* ----- The life of an event ------------------------------------------------------------------- */

static inline int pi_sdk_event_is_complete(const pi_sdk_event *event) {
    return atomic_load_explicit(&event->status, memory_order_acquire) == PI_EVENT_COMPLETE;
}

/* A complete event's error text: its own, or that of the failure that caused it. */
static inline const char *pi_sdk_event_text(const pi_sdk_event *event) {
    const pi_sdk_event *root = event->cause ? event->cause : event;
    return root->text ? root->text : root->lacks_text ? "no memory for the error's text" : "";
}

static inline void pi_sdk_event_destroy(void *object) {
    pi_sdk_event *event = (pi_sdk_event *)object;
    pthread_cond_destroy(&event->condition);
    pthread_mutex_destroy(&event->mutex);
    free(event->text);
    pi_sdk_release(event->cause);
    pi_sdk_release(event->queue);
    pi_sdk_release(event->context);
}

/* Makes an event with one reference, the graph's, which the graph releases when the event is
 * complete. It has room for `edges` dependencies behind it, and for the command's data behind
 * those. */
static inline pi_sdk_event *pi_sdk_event_new(const pi_host *host, void *context,
                                             pi_sdk_queue *queue, const pi_sdk_command *command,
                                             size_t edges) {
    const size_t unit = _Alignof(max_align_t);
    const size_t data_at =
        (sizeof(pi_sdk_event) + edges * sizeof(pi_sdk_edge) + unit - 1) / unit * unit;
    pthread_condattr_t monotonic;
    int i;
    pi_sdk_event *event = (pi_sdk_event *)pi_sdk_new(
        host, PI_KIND_EVENT, data_at + command->data_size, pi_sdk_event_destroy);
    if (!event)
        return NULL;
    event->command = *command;
    event->command.data = (char *)event + data_at;
    if (command->data_size)
        memcpy((char *)event + data_at, command->data, command->data_size);
    for (i = 0; i < PI_SDK_KEPT; ++i)
        pi_sdk_retain(command->keeps[i]);
    event->context = pi_sdk_retain(context);
    event->queue = (pi_sdk_queue *)pi_sdk_retain(queue);
    atomic_init(&event->status, PI_EVENT_QUEUED);
    atomic_init(&event->missing, 1);
    atomic_init(&event->held, 1);
    event->waiters_end = &event->waiters;
    event->callbacks_end = &event->callbacks;
    pthread_mutex_init(&event->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&event->condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return event;
}

/* Each task of an event holds a reference to it. */
static inline void pi_sdk_event_post(pi_sdk_event *event, void (*run)(pi_sdk_task *task)) {
    event->task.run = run;
    event->task.of = pi_sdk_retain(event);
    pi_sdk_post(&event->task);
}

static inline void pi_sdk_event_begin(pi_sdk_task *task);

/* One dependency less. The last one starts the command. */
static inline void pi_sdk_event_step(pi_sdk_event *event) {
    if (atomic_fetch_sub_explicit(&event->missing, 1, memory_order_acq_rel) == 1)
        pi_sdk_event_post(event, pi_sdk_event_begin);
}

/* Fails the event if a complete event of its wait list failed. The first failure counts. */
static inline void pi_sdk_event_depends(pi_sdk_event *event, pi_sdk_event *dependency) {
    if (dependency->result == PI_SUCCESS)
        return;
    pthread_mutex_lock(&event->mutex);
    if (event->result == PI_SUCCESS) {
        event->result = PI_ERROR_DEPENDENCY_FAILED;
        event->cause =
            (pi_sdk_event *)pi_sdk_retain(dependency->cause ? dependency->cause : dependency);
    }
    pthread_mutex_unlock(&event->mutex);
}

/* Makes `event` wait for `dependency`. */
static inline void pi_sdk_event_follow(pi_sdk_event *event, pi_sdk_event *dependency,
                                       pi_sdk_edge *edge, int carries_error) {
    int is_complete;
    *edge = (pi_sdk_edge){NULL, event, carries_error};
    pthread_mutex_lock(&dependency->mutex);
    is_complete = dependency->complete;
    if (!is_complete) {
        atomic_fetch_add_explicit(&event->missing, 1, memory_order_relaxed);
        *dependency->waiters_end = edge;
        dependency->waiters_end = &edge->next;
    }
    pthread_mutex_unlock(&dependency->mutex);
    if (is_complete && carries_error)
        pi_sdk_event_depends(event, dependency);
}

static inline void pi_sdk_queue_forget(pi_sdk_queue *queue, const pi_sdk_event *event) {
    pthread_mutex_lock(&queue->mutex);
    if (queue->last == event)
        queue->last = NULL;
    pthread_mutex_unlock(&queue->mutex);
}

/* The last task of an event: notifies dependents, waiting threads and callbacks. */
static inline void pi_sdk_event_complete(pi_sdk_task *task) {
    pi_sdk_event *event = (pi_sdk_event *)task->of;
    pi_sdk_edge *edge;
    pi_sdk_callback *callback;
    int i;
    /* Release the command's references before anyone can see that it is complete. */
    if (event->command.drop)
        event->command.drop(&event->command);
    for (i = 0; i < PI_SDK_KEPT; ++i)
        pi_sdk_release(event->command.keeps[i]);
    pthread_mutex_lock(&event->mutex);
    event->complete = 1;
    edge = event->waiters;
    callback = event->callbacks;
    atomic_store_explicit(&event->status, PI_EVENT_COMPLETE, memory_order_release);
    pthread_cond_broadcast(&event->condition);
    pthread_mutex_unlock(&event->mutex);

    if (event->queue)
        pi_sdk_queue_forget(event->queue, event);
    while (edge) {
        const pi_sdk_edge this_edge = *edge; /* a part of the waiter, which may be destroyed */
        if (this_edge.carries_error)
            pi_sdk_event_depends(this_edge.waiter, event);
        pi_sdk_event_step(this_edge.waiter);
        edge = this_edge.next;
    }
    while (callback) {
        pi_sdk_callback *next = callback->next;
        pi_sdk_call_back(event, callback);
        callback = next;
    }
    pi_sdk_release(event); /* the task's */
    pi_sdk_release(event); /* the graph's */
}

/* Finishes the command with PI_SUCCESS, or with an error and its text (copied; NULL for none).
 * Called once for each `start`, on any thread, with no lock held. The event may be destroyed when
 * it returns. */
static inline void pi_sdk_event_finish(pi_sdk_event *event, pi_result result, const char *text) {
    pthread_mutex_lock(&event->mutex);
    event->result = result;
    if (result && text) {
        const size_t size = strlen(text) + 1;
        event->text = (char *)malloc(size);
        event->lacks_text = !event->text;
        if (event->text)
            memcpy(event->text, text, size);
    }
    pthread_mutex_unlock(&event->mutex);
    pi_sdk_event_post(event, pi_sdk_event_complete);
}

/* The first task of a command's event: all its dependencies are complete. */
static inline void pi_sdk_event_begin(pi_sdk_task *task) {
    pi_sdk_event *event = (pi_sdk_event *)task->of;
    int failed;
    pthread_mutex_lock(&event->mutex);
    failed = event->result != PI_SUCCESS;
    pthread_mutex_unlock(&event->mutex);
    if (failed) {
        pi_sdk_event_post(event, pi_sdk_event_complete);
    } else if (event->command.start) {
        atomic_store_explicit(&event->status, PI_EVENT_RUNNING, memory_order_relaxed);
        event->command.start(event);
    } else {
        pi_sdk_event_finish(event, PI_SUCCESS, NULL);
    }
    pi_sdk_release(event);
}

/* Blocks until the event is complete; returns 0 after `timeout` nanoseconds without that. */
static inline int pi_sdk_event_wait_complete(pi_sdk_event *event, uint64_t timeout) {
    const uint64_t second = 1000000000;
    const int forever = timeout / second > 3000000000u; /* about 100 years */
    struct timespec end = {0};
    int over = 0, is_complete;
    if (!forever) {
        clock_gettime(CLOCK_MONOTONIC, &end);
        timeout += (uint64_t)end.tv_nsec;
        end.tv_sec += (time_t)(timeout / second);
        end.tv_nsec = (long)(timeout % second);
    }
    pthread_mutex_lock(&event->mutex);
    while (!event->complete && !over) {
        if (forever)
            pthread_cond_wait(&event->condition, &event->mutex);
        else
            over = pthread_cond_timedwait(&event->condition, &event->mutex, &end) != 0;
    }
    is_complete = event->complete;
    pthread_mutex_unlock(&event->mutex);
    return is_complete;
}

/* piEventWait of a checked event. */
static inline pi_result pi_sdk_event_wait_for(pi_sdk_event *event, uint64_t timeout) {
    const pi_host *host = event->object.host;
    if (!pi_sdk_event_is_complete(event)) {
        if (timeout && pi_sdk_in_callback(host))
            return pi_sdk_fail(host, PI_ERROR_WOULD_BLOCK, "waiting for an event in a callback");
        if (!timeout || !pi_sdk_event_wait_complete(event, timeout))
            return pi_sdk_fail(host, PI_ERROR_TIMEOUT, "the event was not complete after %llu ns",
                               (unsigned long long)timeout);
    }
    if (event->result == PI_SUCCESS)
        return PI_SUCCESS;
    return pi_sdk_fail(host, event->result, "%s", pi_sdk_event_text(event));
}

#endif
