/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * smoke PLUGIN: loads only this plugin, and moves bytes through its first device.
 */
#include <pi/pi_loader.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1000, MOVED = 100 };
#define PATIENCE UINT64_C(30000000000) /* nanoseconds */

/* Ends the program if a call fails; wraps every call of PI. */
static void check(pi_result result, const char *call) {
    const char *text = "";
    if (result == PI_SUCCESS)
        return;
    piGetLastError(NULL, &text);
    fprintf(stderr, "%s: %d: %s\n", call, (int)result, text);
    exit(1);
}
#define CHECK(call) check(call, #call)

static pi_loader load(const char *path) {
    const pi_loader_desc desc = {.struct_size = sizeof desc,
                                 .type = PI_TYPE_LOADER_DESC,
                                 .flags =
                                     PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH,
                                 .plugins = &path,
                                 .plugin_count = 1};
    pi_plugin_report report;
    pi_loader loader;
    CHECK(piLoaderCreate(&desc, &loader));
    CHECK(piLoaderGetReports(loader, 1, &report, NULL));
    if (report.status != PI_PLUGIN_LOADED) {
        fprintf(stderr, "%s: %s\n", report.path, report.reason);
        exit(report.status == PI_PLUGIN_UNAVAILABLE ? 77 : 1);
    }
    return loader;
}

static pi_mem make_buffer(pi_context context, pi_device device) {
    const pi_mem_buffer_desc desc = {
        .struct_size = sizeof desc, .type = PI_TYPE_MEM_BUFFER_DESC, .size = SIZE};
    pi_mem mem;
    CHECK(piMemBufferCreate(context, device, &desc, &mem));
    return mem;
}

/* Writes `from` to a, copies a part of a to b, reads b into `to`: all after a host event. */
static void move_bytes(pi_context context, pi_device device, const unsigned char *from,
                       unsigned char *to) {
    const pi_region all = {.extent = {SIZE}};
    const pi_region part = {.src_offset = 300, .dst_offset = 7, .extent = {MOVED}};
    pi_mem a = make_buffer(context, device), b = make_buffer(context, device);
    pi_event gate, done;
    pi_queue queue;
    const pi_buffer_write_desc write = {.struct_size = sizeof write,
                                        .type = PI_TYPE_BUFFER_WRITE_DESC,
                                        .mem = a,
                                        .host_ptr = from,
                                        .region_count = 1,
                                        .regions = &all};
    const pi_buffer_fill_desc fill = {.struct_size = sizeof fill,
                                      .type = PI_TYPE_BUFFER_FILL_DESC,
                                      .mem = b,
                                      .pattern = "\x5a",
                                      .pattern_size = 1,
                                      .size = SIZE};
    const pi_buffer_copy_desc copy = {.struct_size = sizeof copy,
                                      .type = PI_TYPE_BUFFER_COPY_DESC,
                                      .src = a,
                                      .dst = b,
                                      .region_count = 1,
                                      .regions = &part};
    const pi_buffer_read_desc read = {.struct_size = sizeof read,
                                      .type = PI_TYPE_BUFFER_READ_DESC,
                                      .mem = b,
                                      .host_ptr = to,
                                      .region_count = 1,
                                      .regions = &all};
    CHECK(piQueueCreate(context, device, NULL, &queue));
    CHECK(piEventCreateHost(context, NULL, &gate));
    CHECK(piEnqueueMemBufferWrite(queue, &write, 1, &gate, NULL));
    CHECK(piEnqueueMemBufferFill(queue, &fill, 0, NULL, NULL));
    CHECK(piEnqueueMemBufferCopy(queue, &copy, 0, NULL, NULL));
    CHECK(piEnqueueMemBufferRead(queue, &read, 0, NULL, &done));
    /* Commands keep the objects that they name. */
    CHECK(piMemRelease(a));
    CHECK(piMemRelease(b));
    if (piEventWait(done, 0) != PI_ERROR_TIMEOUT) {
        fprintf(stderr, "a command ran before the host event that it waits for\n");
        exit(1);
    }
    CHECK(piEventSignalHost(gate, PI_SUCCESS));
    CHECK(piEventWait(done, PATIENCE));
    CHECK(piEventRelease(done));
    CHECK(piEventRelease(gate));
    CHECK(piQueueRelease(queue));
}

int main(int argc, char **argv) {
    unsigned char from[SIZE], to[SIZE], expected[SIZE];
    pi_context_desc desc = {
        .struct_size = sizeof desc, .type = PI_TYPE_CONTEXT_DESC, .device_count = 1};
    pi_loader loader;
    pi_device device;
    pi_platform platform;
    pi_context context;
    char name[256];
    int i;
    if (argc != 2) {
        fprintf(stderr, "usage: smoke libpi_plugin_NAME.so\n");
        return 2;
    }
    loader = load(argv[1]);
    CHECK(piLoaderSelectDevices(loader, "*", 1, &device, NULL));
    CHECK(piDeviceGetInfo(device, PI_DEVICE_INFO_NAME, sizeof name, name, NULL));
    CHECK(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, NULL));
    printf("device: %s\n", name);
    desc.devices = &device;
    CHECK(piContextCreate(platform, &desc, &context));

    for (i = 0; i < SIZE; ++i)
        from[i] = (unsigned char)(i * 31);
    memset(to, 0, SIZE);
    memset(expected, 0x5a, SIZE);
    memcpy(expected + 7, from + 300, MOVED);
    move_bytes(context, device, from, to);
    if (memcmp(to, expected, SIZE)) {
        fprintf(stderr, "the bytes that were read differ from those that were written\n");
        return 1;
    }
    CHECK(piContextRelease(context));
    CHECK(piLoaderRelease(loader));
    printf("passed\n");
    return 0;
}
