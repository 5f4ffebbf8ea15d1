/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C with which all examples of docs/runtime-authors.md begin. */
#pragma once

#include <pi/pi_loader.h>

#include <stdio.h>
#include <stdlib.h>

static inline void check(pi_result result, const char *call) {
    const char *text;
    if (result == PI_SUCCESS)
        return;
    piGetLastError(NULL, &text); /* of this thread's newest failed call */
    fprintf(stderr, "%s: %d: %s\n", call, (int)result, text);
    exit(1);
}

static inline uint32_t find_devices(pi_loader *out_loader, pi_device devices[16]) {
    uint32_t count;
    check(piLoaderCreate(NULL, out_loader), "piLoaderCreate"); /* NULL: all defaults */
    /* NULL: the devices of PI_DEVICE_SELECTOR, or all; count is the number of devices. */
    check(piLoaderSelectDevices(*out_loader, NULL, 16, devices, &count), "piLoaderSelectDevices");
    return count < 16 ? count : 16;
}

static inline pi_context make_context(pi_device device) {
    pi_context_desc desc = {sizeof desc, PI_TYPE_CONTEXT_DESC};
    pi_platform platform;
    pi_context context;
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, NULL),
          "piDeviceGetInfo");
    desc.device_count = 1;
    desc.devices = &device;
    check(piContextCreate(platform, &desc, &context), "piContextCreate");
    return context;
}

static inline pi_mem make_buffer(pi_context context, pi_device device, uint64_t size) {
    pi_mem_buffer_desc desc = {sizeof desc, PI_TYPE_MEM_BUFFER_DESC};
    pi_mem mem;
    desc.size = size;
    check(piMemBufferCreate(context, device, &desc, &mem), "piMemBufferCreate");
    return mem;
}
