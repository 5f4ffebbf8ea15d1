// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <cstdio>
#include <memory>

namespace opencl_test {

void refused(pi_result result, pi_result code, const std::vector<std::string> &parts) {
    const std::string words = result ? last_error() : "success";
    INFO("result " << result << ": " << words);
    REQUIRE(result == code);
    CHECK(!words.empty());
    for (const std::string &part : parts)
        CHECK_THAT(words, Catch::Contains(part));
}

// ----- loader ------------------------------------------------------------------------------------

pi_plugin Loader::plugin() const {
    pi_plugin plugin = nullptr;
    uint32_t count = 0;
    OK(piPluginsGet(*this, 1, &plugin, &count));
    REQUIRE(count == 1);
    return plugin;
}

std::vector<pi_platform> Loader::platforms() const {
    uint32_t count = 0;
    OK(piPlatformsGet(plugin(), 0, nullptr, &count));
    std::vector<pi_platform> platforms(count);
    OK(piPlatformsGet(plugin(), count, platforms.data(), &count));
    return platforms;
}

std::vector<pi_device> Loader::devices() const {
    std::vector<pi_device> devices;
    for (pi_platform platform : platforms()) {
        uint32_t count = 0;
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 0, nullptr, &count));
        std::vector<pi_device> some(count);
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, count, some.data(), &count));
        devices.insert(devices.end(), some.begin(), some.end());
    }
    REQUIRE(!devices.empty());
    return devices;
}

// ----- info --------------------------------------------------------------------------------------

std::string name_of(pi_device device) {
    return platform_name_of(device) + "/" + info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_NAME);
}
pi_platform platform_of(pi_device device) {
    return info<pi_platform>(piDeviceGetInfo, device, PI_DEVICE_INFO_PLATFORM);
}
std::string platform_name_of(pi_device device) {
    return info_text(piPlatformGetInfo, platform_of(device), PI_PLATFORM_INFO_NAME);
}
bool has_usm(pi_device device) {
    return info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_CAPABILITIES) & PI_CAPABILITY_USM;
}

pi_memory_scope scope_of(pi_device device, uint32_t scope) {
    pi_memory_scope scopes[scope_count]{};
    uint32_t count = 0;
    OK(piDeviceGetMemoryScopes(device, scope_count, scopes, &count));
    REQUIRE(count == scope_count);
    return scopes[scope];
}

// ----- commands ----------------------------------------------------------------------------------

namespace {
template <class Desc, class Function>
Event enqueue(Function function, pi_queue queue, Desc &desc, const How &how) {
    desc.flags |= how.blocking ? PI_COMMAND_BLOCKING : 0;
    Event event;
    OK(function(queue, &desc, static_cast<uint32_t>(how.waits.size()),
                how.waits.empty() ? nullptr : how.waits.data(), event.out()));
    return event;
}
template <class Desc>
void set_regions(Desc &desc, const std::vector<pi_region> &regions) {
    desc.regions = regions.data();
    desc.region_count = static_cast<uint32_t>(regions.size());
}
} // namespace

Event write(pi_queue queue, pi_mem mem, const void *host, const std::vector<pi_region> &regions,
            const How &how) {
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.mem = mem;
    desc.host_ptr = host;
    set_regions(desc, regions);
    return enqueue(piEnqueueMemBufferWrite, queue, desc, how);
}

Event read(pi_queue queue, pi_mem mem, void *host, const std::vector<pi_region> &regions,
           const How &how) {
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.mem = mem;
    desc.host_ptr = host;
    set_regions(desc, regions);
    return enqueue(piEnqueueMemBufferRead, queue, desc, how);
}

Event copy(pi_queue queue, pi_mem src, pi_mem dst, const std::vector<pi_region> &regions,
           const How &how) {
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = src;
    desc.dst = dst;
    set_regions(desc, regions);
    return enqueue(piEnqueueMemBufferCopy, queue, desc, how);
}

Event fill(pi_queue queue, pi_mem mem, const void *pattern, uint64_t pattern_size, uint64_t offset,
           uint64_t size, const How &how) {
    auto desc = fill_desc(mem, pattern, pattern_size, offset, size);
    return enqueue(piEnqueueMemBufferFill, queue, desc, how);
}

Event map(pi_queue queue, pi_mem mem, uint64_t flags, uint64_t offset, uint64_t size,
          void **out_pointer, const How &how) {
    auto desc = map_desc(mem, offset, size, out_pointer, flags);
    return enqueue(piEnqueueMemBufferMap, queue, desc, how);
}

Event unmap(pi_queue queue, pi_mem mem, void *pointer, const How &how) {
    auto desc = unmap_desc(mem, pointer);
    return enqueue(piEnqueueMemUnmap, queue, desc, how);
}

Event barrier(pi_queue queue, const How &how) {
    auto desc = pi::desc<pi_barrier_desc>();
    return enqueue(piEnqueueBarrier, queue, desc, how);
}

Event events_wait(pi_queue queue, const How &how) {
    auto desc = pi::desc<pi_events_wait_desc>();
    return enqueue(piEnqueueEventsWait, queue, desc, how);
}

Event host_function(pi_queue queue, std::function<void()> function, const How &how) {
    auto owned = std::make_unique<std::function<void()>>(std::move(function));
    auto desc = pi::desc<pi_host_function_desc>();
    desc.function = [](void *user_data) {
        const std::unique_ptr<std::function<void()>> body(
            static_cast<std::function<void()> *>(user_data));
        (*body)();
    };
    desc.user_data = owned.get();
    Event event = enqueue(piEnqueueHostFunction, queue, desc, how);
    (void)owned.release();
    return event;
}

void wait(pi_event event) {
    OK(piEventWait(event, patience));
}

void wait_failure(pi_event event, pi_result code, const std::vector<std::string> &parts) {
    refused(piEventWait(event, patience), code, parts);
}

std::vector<uint8_t> contents(pi_queue queue, pi_mem mem) {
    std::vector<uint8_t> bytes(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE));
    wait(read(queue, mem, bytes.data(), {range(0, 0, bytes.size())}));
    return bytes;
}

void set_contents(pi_queue queue, pi_mem mem, const std::vector<uint8_t> &bytes) {
    wait(write(queue, mem, bytes.data(), {range(0, 0, bytes.size())}));
}

// ----- programs ----------------------------------------------------------------------------------

Program build(pi_context context, const std::string &source, const char *options) {
    Program program = make_unbuilt(context, PI_PROGRAM_FORMAT_OPENCL_C, source);
    auto how = pi::desc<pi_program_build_desc>();
    how.options = options;
    OK(piProgramBuild(program, &how));
    return program;
}

Event launch(pi_queue queue, pi_kernel kernel, uint64_t global,
             const std::vector<pi_kernel_argument> &arguments, const How &how) {
    auto desc = launch_desc(kernel, arguments, global);
    return enqueue(piEnqueueKernelLaunch, queue, desc, how);
}

// ----- Random ------------------------------------------------------------------------------------

std::vector<uint8_t> Random::bytes(size_t count) {
    std::vector<uint8_t> all(count);
    for (uint8_t &byte : all)
        byte = static_cast<uint8_t>(engine_());
    return all;
}

} // namespace opencl_test
