/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Stands for a vendor's driver: a device with its own memory and one thread, which runs what it is
 * given in order and later. Only functions that the device runs get the address of its memory; the
 * host has addresses within it, which are offsets. Delete this file once you use the real driver.
 */
#ifndef SIMULATED_DEVICE_H
#define SIMULATED_DEVICE_H

#include <pi/sdk/pi_sdk_plugin.h> /* before the C library */
#include <pi/sdk/pi_sdk_signals.h>

#define DEVICE_MEMORY (UINT64_C(64) << 20)
#define NO_ADDRESS UINT64_MAX

/* Called on the device's thread: accesses memory[address], then notifies waiting threads. */
typedef void (*device_work)(unsigned char *memory, void *user);

typedef struct device_job {
    struct device_job *next;
    device_work work;
    void *user;
} device_job;

typedef struct device_range {
    struct device_range *next; /* by address */
    uint64_t begin, end;
} device_range;

typedef struct simulated_device {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t condition;
    device_job *first, **end;
    device_range *ranges;
    int closing;
    unsigned char *memory; /* only accessed by the thread */
} simulated_device;

static inline void *device_run(void *argument) {
    simulated_device *device = argument;
    pthread_mutex_lock(&device->mutex);
    while (device->first || !device->closing) {
        device_job *job = device->first;
        if (!job) {
            pthread_cond_wait(&device->condition, &device->mutex);
            continue;
        }
        device->first = job->next;
        if (!device->first)
            device->end = &device->first;
        pthread_mutex_unlock(&device->mutex);
        job->work(device->memory, job->user);
        free(job);
        pthread_mutex_lock(&device->mutex);
    }
    pthread_mutex_unlock(&device->mutex);
    return NULL;
}

/* Threads of plugins block the application's signals, but not those of their own faults. */
static inline int device_start_thread(simulated_device *device) {
    sigset_t before;
    int failed;
    pi_sdk_block_signals(&before);
    failed = pthread_create(&device->thread, NULL, device_run, device);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

/* NULL if there is no device. */
static inline simulated_device *device_open(void) {
    simulated_device *device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    device->end = &device->first;
    device->memory = malloc(DEVICE_MEMORY);
    pthread_mutex_init(&device->mutex, NULL);
    pthread_cond_init(&device->condition, NULL);
    if (device->memory && device_start_thread(device))
        return device;
    free(device->memory);
    free(device);
    return NULL;
}

/* Finishes the remaining work before it returns. */
static inline void device_close(simulated_device *device) {
    pthread_mutex_lock(&device->mutex);
    device->closing = 1;
    pthread_cond_signal(&device->condition);
    pthread_mutex_unlock(&device->mutex);
    pthread_join(device->thread, NULL);
    pthread_cond_destroy(&device->condition);
    pthread_mutex_destroy(&device->mutex);
    free(device->memory);
    free(device);
}

/* Never blocks. Returns 0 if the work cannot be queued: then `work` is not called. */
static inline int device_submit(simulated_device *device, device_work work, void *user) {
    device_job *job = malloc(sizeof *job);
    if (!job)
        return 0;
    *job = (device_job){NULL, work, user};
    pthread_mutex_lock(&device->mutex);
    *device->end = job;
    device->end = &job->next;
    pthread_cond_signal(&device->condition);
    pthread_mutex_unlock(&device->mutex);
    return 1;
}

/* The address of `size` free bytes, or NO_ADDRESS. */
static inline uint64_t device_alloc(simulated_device *device, uint64_t size, uint64_t alignment) {
    device_range *range = malloc(sizeof *range), **at;
    uint64_t begin = 0;
    if (!range)
        return NO_ADDRESS;
    pthread_mutex_lock(&device->mutex);
    for (at = &device->ranges; *at; at = &(*at)->next) {
        if (begin <= (*at)->begin && size <= (*at)->begin - begin)
            break;
        begin = ((*at)->end + alignment - 1) & ~(alignment - 1);
    }
    if (begin <= DEVICE_MEMORY && size <= DEVICE_MEMORY - begin) {
        *range = (device_range){*at, begin, begin + size};
        *at = range;
    } else {
        free(range);
        begin = NO_ADDRESS;
    }
    pthread_mutex_unlock(&device->mutex);
    return begin;
}

static inline void device_free(simulated_device *device, uint64_t address) {
    device_range **at, *range;
    pthread_mutex_lock(&device->mutex);
    for (at = &device->ranges; (*at)->begin != address; at = &(*at)->next) {
    }
    range = *at;
    *at = range->next;
    pthread_mutex_unlock(&device->mutex);
    free(range);
}

#endif
