/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two OpenCL devices use one buffer in turn, through StarPU: each fills 64 bytes of it.
 *
 *     pi_bench_starpu SIZE ROUNDS
 *
 * Prints, for a round with one use at each device, the nanoseconds and the bytes that StarPU moved.
 * The environment selects the devices; STARPU_OPENCL_ON_CPUS=1 includes those of CPUs.
 */
#define _GNU_SOURCE /* StarPU's headers need more than C */
#include <CL/cl.h>  /* with the build's version, before StarPU sets 1.0 */
#include <starpu.h>
#include <starpu_opencl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void touch(void *buffers[], void *unused) {
    const cl_mem mem = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
    const uint32_t zero = 0;
    cl_command_queue queue;
    cl_event done;
    (void)unused;
    starpu_opencl_get_current_queue(&queue);
    if (clEnqueueFillBuffer(queue, mem, &zero, sizeof zero, 0, 64, 0, NULL, &done) != CL_SUCCESS ||
        clWaitForEvents(1, &done) != CL_SUCCESS) {
        fprintf(stderr, "pi_bench_starpu: a fill failed\n");
        exit(1);
    }
    clReleaseEvent(done);
}

static struct starpu_codelet touch_codelet = {
    .opencl_funcs = {touch},
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

static void use_at(starpu_data_handle_t handle, int worker) {
    struct starpu_task *task = starpu_task_create();
    task->cl = &touch_codelet;
    task->handles[0] = handle;
    task->execute_on_a_specific_worker = 1;
    task->workerid = (unsigned)worker;
    task->synchronous = 1;
    if (starpu_task_submit(task) != 0) {
        fprintf(stderr, "pi_bench_starpu: a task was refused\n");
        exit(1);
    }
}

/* Since the last call. */
static uint64_t moved_bytes(void) {
    uint64_t sum = 0;
    for (int bus = 0; bus < starpu_bus_get_count(); ++bus) {
        struct starpu_profiling_bus_info info;
        starpu_bus_get_profiling_info(bus, &info);
        sum += (uint64_t)info.transferred_bytes;
    }
    return sum;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int main(int argc, char **argv) {
    const uint64_t size = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    const uint64_t rounds = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    starpu_data_handle_t handle;
    uint64_t begin, end;
    int workers[2];
    char *bytes;
    if (size < 64 || rounds == 0) {
        fprintf(stderr, "usage: pi_bench_starpu SIZE ROUNDS\n");
        return 2;
    }
    if (starpu_init(NULL) != 0) {
        fprintf(stderr, "pi_bench_starpu: StarPU finds no device\n");
        return 1;
    }
    if (starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, workers, 2) < 2 &&
        starpu_opencl_worker_get_count() < 2) {
        fprintf(stderr, "pi_bench_starpu: StarPU finds %u OpenCL devices; two are needed\n",
                starpu_opencl_worker_get_count());
        starpu_shutdown();
        return 1;
    }
    bytes = calloc(size, 1);
    if (!bytes)
        return 1;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, size, 1);
    use_at(handle, workers[0]); /* allocates memory and starts the drivers */
    use_at(handle, workers[1]);
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    moved_bytes();
    begin = now();
    for (uint64_t round = 0; round < rounds; ++round) {
        use_at(handle, workers[0]);
        use_at(handle, workers[1]);
    }
    end = now();
    printf("%llu %llu\n", (unsigned long long)((end - begin) / rounds),
           (unsigned long long)(moved_bytes() / rounds));
    starpu_data_unregister(handle);
    free(bytes);
    starpu_shutdown();
    return 0;
}
