// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that is killed in the middle of its work, while a layer writes:
// trace_program host-plugin file [layer variable]

#include <pi/pi_loader.h>

#include <csignal>
#include <cstdio>
#include <thread>

int main(int argc, char **argv) {
    if (argc != 3 && argc != 5)
        return 2;
    const char *layer = argc == 5 ? argv[3] : "trace";
    const pi_loader_option option{argc == 5 ? argv[4] : "PI_TRACE_FILE", argv[2]};
    pi_loader_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_LOADER_DESC;
    desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = &argv[1];
    desc.plugin_count = 1;
    desc.layers = &layer;
    desc.layer_count = 1;
    desc.options = &option;
    desc.option_count = 1;
    pi_loader loader = nullptr;
    pi_device device = nullptr;
    if (piLoaderCreate(&desc, &loader) != PI_SUCCESS ||
        piLoaderSelectDevices(loader, nullptr, 1, &device, nullptr) != PI_SUCCESS)
        return 1;
    std::thread other([device] {
        for (;;) {
            uint32_t value = 0;
            piDeviceGetInfo(device, PI_DEVICE_INFO_TYPE, sizeof value, &value, nullptr);
        }
    });
    for (int i = 0; i < 200; ++i) {
        uint32_t value = 0;
        piDeviceGetInfo(device, PI_DEVICE_INFO_TYPE, sizeof value, &value, nullptr);
    }
    std::raise(SIGKILL);
    return 1;
}
