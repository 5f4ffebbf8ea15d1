// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that is killed while a layer writes its file:
// trace_program host-plugin file [layer variable [callback]]; `callback`: in a callback of an event
// that it signals

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>

#include <csignal>
#include <cstdio>
#include <thread>

namespace {

void ask(pi_device device) {
    uint32_t value = 0;
    piDeviceGetInfo(device, PI_DEVICE_INFO_TYPE, sizeof value, &value, nullptr);
}

void work_and_be_killed(pi_device device) {
    for (int i = 0; i < 200; ++i)
        ask(device);
    std::raise(SIGKILL);
}

void PI_CALL work_in_callback(pi_event, pi_result, void *device) {
    work_and_be_killed(static_cast<pi_device>(device));
}

void signal(pi_device device) {
    pi_platform platform = nullptr;
    piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr);
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &device;
    pi_context context = nullptr;
    pi_event event = nullptr;
    if (piContextCreate(platform, &desc, &context) == PI_SUCCESS &&
        piEventCreateHost(context, nullptr, &event) == PI_SUCCESS &&
        piEventSetCallback(event, work_in_callback, device) == PI_SUCCESS)
        piEventSignalHost(event, PI_SUCCESS);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3 && argc != 5 && argc != 6)
        return 2;
    const char *layer = argc > 3 ? argv[3] : "trace";
    const pi_loader_option option{argc > 3 ? argv[4] : "PI_TRACE_FILE", argv[2]};
    auto desc = pi::desc<pi_loader_desc>();
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
        for (;;)
            ask(device);
    });
    if (argc == 6)
        signal(device);
    work_and_be_killed(device);
    return 1;
}
