// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exit_program PLUGIN [fork]
//
// Ends with work in flight, in every way that a command can be: running, held by a gate, between two contexts,
// mapped. Nothing is released. The test is that the process ends, and with 0. With "fork" a child that was made meanwhile
// ends first, by exit: it has none of the threads that its objects know.
#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

void ok(pi_result result) {
    if (result == PI_SUCCESS)
        return;
    const char *words = "";
    piGetLastError(nullptr, &words);
    std::fprintf(stderr, "error %d: %s\n", result, words);
    std::_Exit(1);
}

template <class Desc>
Desc make(pi_struct_type type) {
    Desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = type;
    return desc;
}

constexpr uint64_t size = 32 << 20;

struct Place {
    explicit Place(pi_platform platform, pi_device device) {
        auto desc = make<pi_context_desc>(PI_TYPE_CONTEXT_DESC);
        desc.device_count = 1;
        desc.devices = &device;
        ok(piContextCreate(platform, &desc, &context));
        ok(piQueueCreate(context, device, nullptr, &queue));
        auto buffer = make<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
        buffer.size = size;
        ok(piMemBufferCreate(context, device, &buffer, &mem));
    }
    pi_context context = nullptr;
    pi_queue queue = nullptr;
    pi_mem mem = nullptr;
};

void leave_work(pi_platform platform, pi_device device) {
    const Place here(platform, device), there(platform, device);
    const uint32_t pattern = 7;
    auto fill = make<pi_buffer_fill_desc>(PI_TYPE_BUFFER_FILL_DESC);
    fill.mem = here.mem;
    fill.pattern = &pattern;
    fill.pattern_size = sizeof pattern;
    fill.size = size;
    static void *pointer = nullptr;
    auto map = make<pi_buffer_map_desc>(PI_TYPE_BUFFER_MAP_DESC);
    map.flags = PI_MAP_READ;
    map.mem = here.mem;
    map.size = size;
    map.out_pointer = &pointer;
    pi_region region{};
    region.extent[0] = size;
    auto copy = make<pi_buffer_copy_desc>(PI_TYPE_BUFFER_COPY_DESC);
    copy.src = here.mem;
    copy.dst = there.mem;
    copy.regions = &region;
    copy.region_count = 1;
    pi_event filled = nullptr, copied = nullptr;
    for (int round = 0; round < 5; ++round) {
        ok(piEnqueueMemBufferFill(here.queue, &fill, copied ? 1 : 0, copied ? &copied : nullptr,
                                  &filled));
        ok(piEnqueueMemBufferCopy(there.queue, &copy, 1, &filled, &copied));
    }
    ok(piEnqueueMemBufferMap(here.queue, &map, 1, &copied, nullptr));
    pi_event gate = nullptr;
    ok(piEventCreateHost(there.context, nullptr, &gate));
    fill.mem = there.mem;
    ok(piEnqueueMemBufferFill(there.queue, &fill, 1, &gate, nullptr));
}

/// A child that ends, as one does that could not start another program.
void leave_child() {
    const pid_t child = fork();
    if (child == 0) {
        alarm(30); // so that one that hangs is seen
        std::exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0) {
        std::fprintf(stderr, "the child ended with status %#x\n", static_cast<unsigned>(status));
        std::_Exit(1);
    }
}

} // namespace

int main(int argc, char **argv) {
    const char *plugins[] = {argc > 1 ? argv[1] : ""};
    auto desc = make<pi_loader_desc>(PI_TYPE_LOADER_DESC);
    desc.flags = PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = plugins;
    desc.plugin_count = 1;
    pi_loader loader = nullptr;
    ok(piLoaderCreate(&desc, &loader));
    pi_plugin plugin = nullptr;
    uint32_t count = 0;
    ok(piPluginsGet(loader, 1, &plugin, &count));
    std::vector<pi_platform> platforms(8);
    ok(piPlatformsGet(plugin, 8, platforms.data(), &count));
    platforms.resize(count);
    int busy = 0;
    for (pi_platform platform : platforms) {
        pi_device device = nullptr;
        ok(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 1, &device, &count));
        if (count) {
            leave_work(platform, device);
            ++busy;
        }
    }
    if (argc > 2 && std::strcmp(argv[2], "fork") == 0)
        leave_child();
    return busy ? 0 : 1; // without a device nothing was tried
}
