/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The command graph for plugins in C: events, the commands behind them, in-order queues. It holds commands
 * back until what they wait for is final, carries errors, calls callbacks, and knows nothing of a
 * backend. A plugin checks a command's descriptor, describes the command and calls pi_sdk_enqueue; when
 * its turn has come the graph calls `start`, and the plugin calls pi_sdk_event_finish when it is done.
 *
 * A command starts when every event of its wait list and the command before it in its queue are final. So a
 * backend whose own queues order commands is given them one at a time; event.hpp, for C++, can hand
 * them over earlier.
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

/* What an enqueue call asks for. Everything is copied; what `keeps` names is retained until the event is
 * final. */
typedef struct pi_sdk_command {
    pi_struct_type type; /* of the call's descriptor */
    uint64_t flags;      /* the descriptor's: only PI_COMMAND_BLOCKING is looked at */
    /* Called once, on any thread, with no lock held, when all that the command waits for is final and
     * nothing in its wait list has failed. Must not block; leads to exactly one pi_sdk_event_finish, in it
     * or later, on any thread. NULL: there is nothing to do. */
    void (*start)(pi_sdk_event *event);
    /* Called exactly once: just before the event is final, started or not, or when the command could not be
     * enqueued. May be NULL. */
    void (*drop)(const struct pi_sdk_command *command);
    const void *data; /* data_size bytes, copied; the event's command points to the copy */
    size_t data_size;
    void *keeps[PI_SDK_KEPT]; /* handles; NULL for none */
    void *host_ptr; /* the application's memory, which it keeps itself; for `start` to read */
} pi_sdk_command;

/* Something for pi_sdk_post to do. */
typedef struct pi_sdk_task {
    struct pi_sdk_task *next;
    void (*run)(struct pi_sdk_task *task);
    void *of;
} pi_sdk_task;

/* That `waiter` waits for the event in whose list this is. */
typedef struct pi_sdk_edge {
    struct pi_sdk_edge *next;
    pi_sdk_event *waiter;
    int carries_error; /* of the wait list; else it is only the queue's order */
} pi_sdk_edge;

typedef struct pi_sdk_callback {
    pi_sdk_task task; /* first, of a callback that is set on a final event */
    struct pi_sdk_callback *next;
    pi_event_callback call;
    void *user_data;
} pi_sdk_callback;

/* The object behind pi_event: of a command, or of the host when it has no queue. A plugin reads
 * `command`; the rest is the graph's. */
struct pi_sdk_event {
    pi_sdk_object object;
    pi_sdk_command command; /* its data is aligned for any type */
    void *context;
    pi_sdk_queue *queue;
    pi_sdk_task task;
    _Atomic uint32_t status;  /* pi_event_status */
    _Atomic uint32_t missing; /* what it waits for, plus one while it is put into the graph */
    _Atomic uint32_t held;    /* by the application; what a host event's abandonment goes by */
    _Atomic uint32_t signalled;

    pthread_mutex_t mutex; /* guards what follows; no other lock is taken under it */
    pthread_cond_t condition;
    int complete;
    pi_result result;
    char *text;          /* of an own failure */
    int lacks_text;      /* there was no memory for it */
    pi_sdk_event *cause; /* of a dependency's: the root, whose text it is */
    pi_sdk_edge *waiters, **waiters_end;
    pi_sdk_callback *callbacks, **callbacks_end;
};

/* An in-order queue, the object behind pi_queue. A plugin with more to keep begins its own struct with it; its
 * `destroy` calls pi_sdk_queue_destroy. */
struct pi_sdk_queue {
    pi_sdk_object object;
    void *context, *device;
    uint64_t flags;
    pthread_mutex_t mutex; /* guards last; taken before any event's, never after */
    pi_sdk_event *last;    /* the newest event; NULL when it is final */
};

/* ----- This thread ---------------------------------------------------------------------------- */

/* Tasks that wait for the one that runs, and how many callbacks of the application run, where the loader does not
 * count them. Weak and hidden: one for the whole plugin, however many files it has. */
typedef struct pi_sdk_thread {
    pi_sdk_task *first, *last;
    int running;
    int32_t callbacks;
} pi_sdk_thread;
__attribute__((weak, visibility("hidden"))) _Thread_local pi_sdk_thread pi_sdk_this_thread;

/* Runs the task now, or, inside another one, after it: a chain of a million events must not need a million
 * stack frames. */
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

/* pi_host::callback_depth; with an older loader that of this plugin alone. */
static inline int32_t pi_sdk_callback_depth(const pi_host *host, int32_t change) {
    if (host->struct_size >= offsetof(pi_host, callback_depth) + sizeof host->callback_depth)
        return host->callback_depth(host, change);
    return pi_sdk_this_thread.callbacks += change;
}

/* True in a callback, of this plugin or of any other, where blocking calls answer PI_ERROR_WOULD_BLOCK. */
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

/* Calls the function of piEnqueueHostFunction under the rules of callbacks. On a thread of the plugin, so not in
 * `start`, which also runs on threads of the application. */
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

/* Of a final one: its own words, or those of the failure that it comes from. */
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

/* A new event with one reference, which is the graph's until the event is final. `edges` are wanted for what it
 * waits for; they lie behind the event, and the command's data behind them. */
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

/* Every task of an event holds a reference to it. */
static inline void pi_sdk_event_post(pi_sdk_event *event, void (*run)(pi_sdk_task *task)) {
    event->task.run = run;
    event->task.of = pi_sdk_retain(event);
    pi_sdk_post(&event->task);
}

static inline void pi_sdk_event_begin(pi_sdk_task *task);

/* One thing less to wait for. */
static inline void pi_sdk_event_step(pi_sdk_event *event) {
    if (atomic_fetch_sub_explicit(&event->missing, 1, memory_order_acq_rel) == 1)
        pi_sdk_event_post(event, pi_sdk_event_begin);
}

/* A final event of the wait list: if it failed, so does the waiter. The first failure counts. */
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

/* Puts `event` behind `dependency`. */
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

/* The last task of an event: everybody is told. */
static inline void pi_sdk_event_complete(pi_sdk_task *task) {
    pi_sdk_event *event = (pi_sdk_event *)task->of;
    pi_sdk_edge *edge;
    pi_sdk_callback *callback;
    int i;
    /* What the command kept alive goes before anybody can see that it is final. */
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
        const pi_sdk_edge this_edge = *edge; /* a part of the waiter, which may go */
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

/* The command is done, with PI_SUCCESS or an error and its text (copied; NULL for none). Once for each `start`,
 * on any thread, with no lock held. The event may be gone after it. */
static inline void pi_sdk_event_finish(pi_sdk_event *event, pi_result result, const char *text) {
    pthread_mutex_lock(&event->mutex);
    event->result = result;
    if (result && text) {
        event->text = (char *)malloc(strlen(text) + 1);
        event->lacks_text = !event->text;
        if (event->text)
            strcpy(event->text, text);
    }
    pthread_mutex_unlock(&event->mutex);
    pi_sdk_event_post(event, pi_sdk_event_complete);
}

/* The first task of a command's event: all that it waits for is final. */
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

/* Blocks until the event is final or `timeout` nanoseconds are over; 0 on timeout. */
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

/* piEventWait of an event that was checked. */
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
