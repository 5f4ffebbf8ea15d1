// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exit_program PLUGIN WAY
//
// Exits with commands in every state: running, waiting for a gate, between two contexts, mapped,
// and 500 kernels if the plugin runs native ones. The test is that the process exits with 0.
//
//     return    main returns; nothing is released
//     handler   as return, and an exit handler from before the first call of PI sleeps meanwhile
//     late      such an exit handler calls PI: its loader and a new one
//     handler_sleeps  as handler, for 2.5 s
//     statics   a static object from before the first call of PI releases everything
//     thread    another thread calls exit while this one enqueues
//     fork      a child that was forked meanwhile exits first; a static object releases what it
//               inherited
//
// and in a child that was forked meanwhile
//
//     fork_calls        every call on inherited objects is refused at once
//     fork_works        a new loader works
//     fork_unavailable  a new loader has no platform, because the driver was in use in the parent,
//                       and says so
#include "test_program.hpp"

#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace pi_test;

void ok(pi_result result) {
    if (result == PI_SUCCESS)
        return;
    const char *words = "";
    piGetLastError(nullptr, &words);
    std::fprintf(stderr, "error %d: %s\n", result, words);
    std::_Exit(1);
}

void refused(const char *call, pi_result result, pi_result expected = PI_ERROR_INVALID_OPERATION) {
    const char *words = "";
    piGetLastError(nullptr, &words);
    if (result == expected && std::strstr(words, "forked"))
        return;
    std::fprintf(stderr, "%s: %d: %s\n", call, result, words);
    std::_Exit(1);
}

constexpr uint64_t size = 32 << 20;

struct Held {
    void release() {
        for (pi_event event : events)
            piEventRelease(event);
        for (pi_kernel kernel : kernels)
            piKernelRelease(kernel);
        for (pi_program program : programs)
            piProgramRelease(program);
        for (pi_mem mem : mems)
            piMemRelease(mem);
        for (pi_queue queue : queues)
            piQueueRelease(queue);
        for (pi_context context : contexts)
            piContextRelease(context);
        for (pi_loader loader : loaders)
            piLoaderRelease(loader);
    }

    std::vector<pi_event> events;
    std::vector<pi_kernel> kernels;
    std::vector<pi_program> programs;
    std::vector<pi_mem> mems;
    std::vector<pi_queue> queues;
    std::vector<pi_context> contexts;
    std::vector<pi_loader> loaders;
    const char *plugin = "";
    // Belongs to the loader: not released.
    pi_plugin instance = nullptr;
    std::vector<pi_platform> platforms;
    std::vector<pi_device> devices;
};
Held &held = *new Held; // for threads that run to the end

/// Created when the program starts, so that it is destroyed after everything that is created later.
struct ReleasedAtExit {
    ~ReleasedAtExit() {
        if (enabled)
            held.release();
    }
    bool enabled = false;
};
ReleasedAtExit released_at_exit;

struct Place {
    explicit Place(pi_platform platform, pi_device on) : device(on) {
        auto desc = pi::desc<pi_context_desc>();
        desc.device_count = 1;
        desc.devices = &device;
        ok(piContextCreate(platform, &desc, &context));
        held.contexts.push_back(context);
        held.devices.push_back(device);
        ok(piQueueCreate(context, device, nullptr, &queue));
        held.queues.push_back(queue);
        auto buffer = pi::desc<pi_mem_buffer_desc>();
        buffer.size = size;
        ok(piMemBufferCreate(context, device, &buffer, &mem));
        held.mems.push_back(mem);
    }
    pi_device device = nullptr;
    pi_context context = nullptr;
    pi_queue queue = nullptr;
    pi_mem mem = nullptr;
};

void PI_CALL spin(const pi_native_group *group, void *const *) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < end && group)
        continue;
}

/// Many short kernels, each with several groups, on a plugin that runs native ones.
void leave_kernels(const Place &place) {
    uint32_t formats = 0;
    if (piDeviceGetInfo(place.device, PI_DEVICE_INFO_PROGRAM_FORMATS, sizeof formats, &formats,
                        nullptr) != PI_SUCCESS ||
        !(formats & 1u << PI_PROGRAM_FORMAT_NATIVE_TABLE))
        return;
    static const pi_native_kernel table = {"spin", &spin, 0, 0, {}};
    static const pi_native_program native = {sizeof native, 1, &table};
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &native;
    desc.size = sizeof native;
    pi_program program = nullptr;
    ok(piProgramCreate(place.context, &desc, &program));
    held.programs.push_back(program);
    ok(piProgramBuild(program, nullptr));
    pi_kernel kernel = nullptr;
    ok(piKernelCreate(program, "spin", nullptr, &kernel));
    held.kernels.push_back(kernel);
    pi_queue queue = nullptr;
    ok(piQueueCreate(place.context, place.device, nullptr, &queue));
    held.queues.push_back(queue);
    auto launch = pi::desc<pi_kernel_launch_desc>();
    launch.kernel = kernel;
    launch.dimensions = 1;
    launch.global_size[0] = 16;
    launch.local_size[0] = 1;
    for (int i = 0; i < 500; ++i)
        ok(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
}

pi_buffer_fill_desc fill_of(pi_mem mem) {
    static const uint32_t pattern = 7;
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = mem;
    fill.pattern = &pattern;
    fill.pattern_size = sizeof pattern;
    fill.size = size;
    return fill;
}

void leave_work(pi_platform platform, pi_device device) {
    const Place here(platform, device), there(platform, device);
    leave_kernels(here);
    auto fill = fill_of(here.mem);
    static void *pointer = nullptr;
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_READ;
    map.mem = here.mem;
    map.size = size;
    map.out_pointer = &pointer;
    const pi_region region = linear(size);
    auto copy = pi::desc<pi_buffer_copy_desc>();
    copy.src = here.mem;
    copy.dst = there.mem;
    copy.regions = &region;
    copy.region_count = 1;
    pi_event filled = nullptr, copied = nullptr;
    for (int round = 0; round < 5; ++round) {
        ok(piEnqueueMemBufferFill(here.queue, &fill, copied ? 1 : 0, copied ? &copied : nullptr,
                                  &filled));
        held.events.push_back(filled);
        ok(piEnqueueMemBufferCopy(there.queue, &copy, 1, &filled, &copied));
        held.events.push_back(copied);
    }
    ok(piEnqueueMemBufferMap(here.queue, &map, 1, &copied, nullptr));
    pi_event gate = nullptr;
    ok(piEventCreateHost(there.context, nullptr, &gate));
    held.events.push_back(gate);
    fill.mem = there.mem;
    ok(piEnqueueMemBufferFill(there.queue, &fill, 1, &gate, nullptr));
}

/// `expected`: the result of the query for platforms; without success there are none.
std::vector<pi_platform> make_loader(pi_result expected = PI_SUCCESS) {
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = &held.plugin;
    desc.plugin_count = 1;
    pi_loader loader = nullptr;
    ok(piLoaderCreate(&desc, &loader));
    held.loaders.push_back(loader);
    pi_plugin plugin = nullptr;
    uint32_t count = 0;
    ok(piPluginsGet(loader, 1, &plugin, &count));
    std::vector<pi_platform> platforms(8);
    const pi_result result = piPlatformsGet(plugin, 8, platforms.data(), &count);
    if (expected != PI_SUCCESS) {
        refused("piPlatformsGet", result, expected);
        return {};
    }
    ok(result);
    platforms.resize(count);
    held.instance = plugin;
    held.platforms = platforms;
    return platforms;
}

pi_device first_device(pi_platform platform) {
    pi_device device = nullptr;
    uint32_t count = 0;
    ok(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 1, &device, &count));
    return device;
}

void fail(const char *what) {
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
}

void release_at_exit() {
    released_at_exit.enabled = true;
}

#define REFUSED(...) refused(#__VA_ARGS__, __VA_ARGS__)

/// Each kind of object, each way in which a call may wait, and the loader's own functions.
void call_inherited() {
    const pi_loader loader = held.loaders.front();
    const pi_mem mem = held.mems.front();
    const pi_queue queue = held.queues.front();
    const pi_context context = held.contexts.front();
    const pi_event gate = held.events.back();
    uint32_t count = 0;
    uint64_t value = 0;
    REFUSED(piPluginsGet(loader, 0, nullptr, &count));
    REFUSED(piLoaderSelectDevices(loader, nullptr, 0, nullptr, &count));
    REFUSED(piLoaderGetReports(loader, 0, nullptr, &count));
    REFUSED(piPlatformsGet(held.instance, 0, nullptr, &count));
    REFUSED(piDevicesGet(held.platforms.front(), PI_DEVICE_TYPE_ALL, 0, nullptr, &count));
    REFUSED(piDeviceGetInfo(held.devices.front(), PI_DEVICE_INFO_NAME, 0, nullptr, &value));
    REFUSED(piContextRetain(context));
    REFUSED(piQueueFinish(queue));
    REFUSED(piQueueCreate(context, held.devices.front(), nullptr, &held.queues.back()));
    REFUSED(piMemGetInfo(mem, PI_MEM_INFO_SIZE, sizeof value, &value, nullptr));
    const auto fill = fill_of(mem);
    REFUSED(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    REFUSED(piEventWait(gate, PI_TIMEOUT_NEVER));
    REFUSED(piEventSignalHost(gate, PI_SUCCESS));
    pi_memory_connection connection{};
    REFUSED(piGetMemoryConnection(held.devices.front(), context, held.devices.front(), context,
                                  &connection));
    REFUSED(piEventRelease(gate));
    REFUSED(piMemRelease(mem));
    REFUSED(piQueueRelease(queue));
    REFUSED(piContextRelease(context));
    REFUSED(piLoaderRelease(loader));
}

void sleep_a_little() {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

void sleep_long() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
}

void use_new_loader() {
    for (pi_platform platform : make_loader()) {
        pi_device device = first_device(platform);
        if (!device)
            continue;
        const Place place(platform, device);
        leave_kernels(place);
        const auto fill = fill_of(place.mem);
        ok(piEnqueueMemBufferFill(place.queue, &fill, 0, nullptr, nullptr));
        std::vector<uint32_t> bytes(size / sizeof(uint32_t));
        auto read = pi::desc<pi_buffer_read_desc>();
        const pi_region region = linear(size);
        read.flags = PI_COMMAND_BLOCKING;
        read.mem = place.mem;
        read.host_ptr = bytes.data();
        read.regions = &region;
        read.region_count = 1;
        ok(piEnqueueMemBufferRead(place.queue, &read, 0, nullptr, nullptr));
        if (bytes.front() != 7 || bytes.back() != 7)
            fail("the child's bytes are not those of its fill");
    }
}

/// An exit handler may do what a program does: use its objects, and create a loader.
void use_late() {
    sleep_a_little();
    for (size_t i = 0; i < held.mems.size(); ++i) {
        uint64_t bytes = 0;
        ok(piMemGetInfo(held.mems[i], PI_MEM_INFO_SIZE, sizeof bytes, &bytes, nullptr));
    }
    use_new_loader();
}

void find_unavailable() {
    make_loader(PI_ERROR_UNAVAILABLE);
    // Its report has the reason, too.
    uint32_t count = 0;
    pi_plugin_report report{};
    ok(piLoaderGetReports(held.loaders.back(), 1, &report, &count));
    if (report.status != PI_PLUGIN_UNAVAILABLE || !std::strstr(report.reason, "forked"))
        fail("the report does not say that the process was forked");
}

/// Another thread ends the process while this one continues.
int exit_elsewhere(int code) {
    std::thread([code] {
        sleep_a_little();
        std::exit(code);
    }).detach();
    for (;;) {
        for (size_t i = 0; i < held.contexts.size(); ++i) {
            pi_event event = nullptr;
            ok(piEventCreateHost(held.contexts[i], nullptr, &event));
            ok(piEventSignalHost(event, PI_SUCCESS));
            ok(piEventRelease(event));
        }
        for (const pi_queue queue : held.queues)
            ok(piQueueFlush(queue));
    }
}

} // namespace

int main(int argc, char **argv) {
    held.plugin = argc > 1 ? argv[1] : "";
    const std::string way = argc > 2 ? argv[2] : "return";
    released_at_exit.enabled = way == "statics";
    if (way == "handler")
        std::atexit(&sleep_a_little);
    if (way == "handler_sleeps")
        std::atexit(&sleep_long);
    if (way == "late")
        std::atexit(&use_late);
    int busy = 0;
    for (pi_platform platform : make_loader())
        if (pi_device device = first_device(platform)) {
            leave_work(platform, device);
            ++busy;
        }
    const int code = busy ? 0 : 1; // without a device nothing was tested
    if (way == "fork")
        in_child(&release_at_exit);
    if (way == "fork_calls")
        in_child(&call_inherited);
    if (way == "fork_works")
        in_child(&use_new_loader);
    if (way == "fork_unavailable")
        in_child(&find_unavailable);
    if (way == "thread")
        return exit_elsewhere(code);
    return code;
}
