/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From nothing to a context on the first OpenCL device without PI.
 *     pi_bench_start_opencl LIBRARY */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 300
#include "stamp.h"

#include <CL/cl.h>

#include <dlfcn.h>

enum { MAX_HANDLES = 64 };

static cl_uint at_most(cl_uint count) {
    return count < MAX_HANDLES ? count : MAX_HANDLES;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return start_failed("usage", 0, "pi_bench_start_opencl LIBRARY");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return start_failed("dlopen", 0, dlerror());
    /* POSIX's way around ISO C, which converts no object pointer to a function's. */
    cl_int (*get_platforms)(cl_uint, cl_platform_id *, cl_uint *);
    cl_int (*get_devices)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *);
    cl_context (*create_context)(const cl_context_properties *, cl_uint, const cl_device_id *,
                                 void (*)(const char *, const void *, size_t, void *), void *,
                                 cl_int *);
    *(void **)&get_platforms = dlsym(library, "clGetPlatformIDs");
    *(void **)&get_devices = dlsym(library, "clGetDeviceIDs");
    *(void **)&create_context = dlsym(library, "clCreateContext");
    if (!get_platforms || !get_devices || !create_context)
        return start_failed("dlsym", 0, "a function is missing");

    cl_platform_id platforms[MAX_HANDLES];
    cl_uint platform_count = 0;
    cl_int code = get_platforms(MAX_HANDLES, platforms, &platform_count);
    if (code)
        return start_failed("clGetPlatformIDs", code, "");
    /* All devices are looked at: which one to take is known only then. */
    cl_platform_id first_platform = NULL;
    cl_device_id first = NULL;
    for (cl_uint i = 0; i < at_most(platform_count); ++i) {
        cl_device_id devices[MAX_HANDLES];
        cl_uint count = 0;
        code = get_devices(platforms[i], CL_DEVICE_TYPE_ALL, MAX_HANDLES, devices, &count);
        if (!code && count && !first) {
            first = devices[0];
            first_platform = platforms[i];
        }
    }
    if (!first)
        return start_failed("clGetDeviceIDs", code, "no device");
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)first_platform, 0};
    create_context(properties, 1, &first, NULL, NULL, &code);
    if (code)
        return start_failed("clCreateContext", code, "");
    stamp_and_exit();
}
