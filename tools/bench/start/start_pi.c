/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From nothing to a context on an OpenCL device through PI.
 *     pi_bench_start_pi SELECTOR          with all plugins that a loader finds
 *     pi_bench_start_pi SELECTOR PLUGIN   with this one alone */
#define _POSIX_C_SOURCE 200809L
#include "stamp.h"

#include <pi/pi_loader.h>

static int failed(const char *call, pi_result result) {
    const char *message = "";
    piGetLastError(NULL, &message);
    return start_failed(call, result, message);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return start_failed("usage", 0, "pi_bench_start_pi SELECTOR [PLUGIN]");
    const char *plugins[1] = {argc > 2 ? argv[2] : NULL};
    const pi_loader_desc alone = {.struct_size = sizeof alone,
                                  .type = PI_TYPE_LOADER_DESC,
                                  .flags = PI_LOADER_NO_DEFAULT_SEARCH,
                                  .plugins = plugins,
                                  .plugin_count = 1};
    pi_loader loader;
    pi_result result = piLoaderCreate(argc > 2 ? &alone : NULL, &loader);
    if (result)
        return failed("piLoaderCreate", result);
    pi_device device = NULL;
    result = piLoaderSelectDevices(loader, argv[1], 1, &device, NULL);
    if (result)
        return failed("piLoaderSelectDevices", result);
    pi_platform platform;
    result = piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, NULL);
    if (result)
        return failed("piDeviceGetInfo", result);
    const pi_context_desc desc = {.struct_size = sizeof desc,
                                  .type = PI_TYPE_CONTEXT_DESC,
                                  .device_count = 1,
                                  .devices = &device};
    pi_context context;
    result = piContextCreate(platform, &desc, &context);
    if (result)
        return failed("piContextCreate", result);
    stamp_and_exit();
}
