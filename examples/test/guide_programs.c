/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C about programs in docs/runtime-authors.md, run on every device with these features. Its
 * argument is a native library with the variable `table`. */
#include "guide.h"

#include <string.h>

static pi_program create(pi_context context, pi_program_format format, const char *data) {
    pi_program_desc desc = {sizeof desc, PI_TYPE_PROGRAM_DESC};
    pi_program program;
    desc.format = format;
    desc.data = data;
    desc.size = strlen(data);
    check(piProgramCreate(context, &desc, &program), "piProgramCreate");
    return program;
}

static pi_program compile(pi_context context, const char *text, const char *options) {
    const pi_program part = create(context, PI_PROGRAM_FORMAT_OPENCL_C, text);
    pi_program_build_desc desc = {sizeof desc, PI_TYPE_PROGRAM_BUILD_DESC};
    desc.options = options;
    check(piProgramCompile(part, &desc), "piProgramCompile"); /* a part: no kernels yet */
    return part;
}

static pi_program link_two(pi_context context, pi_program first, pi_program second) {
    const pi_program parts[] = {first, second};
    pi_program_link_desc desc = {sizeof desc, PI_TYPE_PROGRAM_LINK_DESC};
    pi_program program;
    desc.program_count = 2;
    desc.programs = parts;
    check(piProgramLink(context, &desc, &program), "piProgramLink"); /* built: has kernels */
    return program;
}

static void write_variable(pi_queue queue, pi_program program, const char *name, uint64_t offset,
                           const void *bytes, uint64_t size) {
    pi_device_global_write_desc desc = {sizeof desc, PI_TYPE_DEVICE_GLOBAL_WRITE_DESC};
    desc.flags = PI_COMMAND_BLOCKING; /* without it: in order with launches */
    desc.program = program;           /* built */
    desc.name = name;
    desc.host_ptr = bytes;
    desc.offset = offset;
    desc.size = size;
    check(piEnqueueDeviceGlobalWrite(queue, &desc, 0, NULL, NULL), "piEnqueueDeviceGlobalWrite");
}

static uint32_t read_word(pi_queue queue, pi_program program, const char *name, uint64_t offset) {
    pi_device_global_read_desc desc = {sizeof desc, PI_TYPE_DEVICE_GLOBAL_READ_DESC};
    uint32_t word;
    desc.flags = PI_COMMAND_BLOCKING;
    desc.program = program;
    desc.name = name;
    desc.host_ptr = &word;
    desc.offset = offset;
    desc.size = sizeof word;
    check(piEnqueueDeviceGlobalRead(queue, &desc, 0, NULL, NULL), "piEnqueueDeviceGlobalRead");
    return word;
}

static int try_link(pi_context context) {
    const pi_program caller =
        compile(context, "int twice(int i); kernel void k(global int *p) { *p = twice(*p); }", "");
    const pi_program callee =
        compile(context, "int twice(int i) { return FACTOR * i; }", "-DFACTOR=2");
    const pi_program program = link_two(context, caller, callee);
    pi_kernel kernel;
    check(piKernelCreate(program, "k", NULL, &kernel), "piKernelCreate");
    check(piKernelRelease(kernel), "piKernelRelease");
    check(piProgramRelease(program), "piProgramRelease");
    check(piProgramRelease(caller), "piProgramRelease");
    check(piProgramRelease(callee), "piProgramRelease");
    return 1;
}

static int try_variables(pi_context context, pi_device device, const char *library) {
    const pi_program program = create(context, PI_PROGRAM_FORMAT_NATIVE_LIBRARY, library);
    const uint32_t word = 42;
    pi_queue queue;
    check(piProgramBuild(program, NULL), "piProgramBuild");
    check(piQueueCreate(context, device, NULL, &queue), "piQueueCreate");
    write_variable(queue, program, "table", 8, &word, sizeof word);
    if (read_word(queue, program, "table", 8) != word) {
        fprintf(stderr, "the variable does not have the written value\n");
        exit(1);
    }
    check(piQueueRelease(queue), "piQueueRelease");
    check(piProgramRelease(program), "piProgramRelease");
    return 1;
}

/* The number of the two features that the device has. */
static int try_device(pi_device device, const char *library) {
    const pi_context context = make_context(device);
    uint64_t all = 0;
    uint32_t formats = 0;
    int tried = 0;
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_CAPABILITIES, sizeof all, &all, NULL),
          "piDeviceGetInfo");
    piDeviceGetInfo(device, PI_DEVICE_INFO_PROGRAM_FORMATS, sizeof formats, &formats, NULL);
    if (all & PI_CAPABILITY_PROGRAM_LINK && formats & 1u << PI_PROGRAM_FORMAT_OPENCL_C)
        tried += try_link(context);
    if (all & PI_CAPABILITY_DEVICE_GLOBALS && formats & 1u << PI_PROGRAM_FORMAT_NATIVE_LIBRARY)
        tried += try_variables(context, device, library);
    check(piContextRelease(context), "piContextRelease");
    return tried;
}

int main(int argc, char **argv) {
    pi_loader loader;
    pi_device devices[16];
    uint32_t count, i;
    int tried = 0;
    if (argc != 2)
        return 2;
    count = find_devices(&loader, devices);
    for (i = 0; i < count; ++i)
        tried += try_device(devices[i], argv[1]);
    check(piLoaderRelease(loader), "piLoaderRelease");
    printf(tried ? "passed\n" : "no device has the features\n");
    return !tried;
}
