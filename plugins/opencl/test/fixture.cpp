// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <cstdio>
#include <memory>

namespace opencl_test {

std::string last_error() {
    const char *words = "";
    piGetLastError(nullptr, &words);
    return words;
}

void ok(pi_result result) {
    INFO("error " << result << ": " << (result ? last_error() : ""));
    REQUIRE(result == PI_SUCCESS);
}

void refused(pi_result result, pi_result code, const std::vector<std::string> &parts) {
    const std::string words = result ? last_error() : "success";
    INFO("result " << result << ": " << words);
    REQUIRE(result == code);
    CHECK(!words.empty());
    for (const std::string &part : parts)
        CHECK_THAT(words, Catch::Contains(part));
}

// ----- loader ------------------------------------------------------------------------------------

Loader::Loader(const Options &options) {
    std::vector<pi_loader_option> rows;
    for (const auto &[name, value] : options)
        rows.push_back({name.c_str(), value.c_str()});
    const char *plugins[] = {PI_TEST_OPENCL_PLUGIN};
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = plugins;
    desc.plugin_count = 1;
    desc.options = rows.data();
    desc.option_count = static_cast<uint32_t>(rows.size());
    desc.teardown_timeout = 30'000;
    desc.log_level = PI_LOG_WARNING;
    desc.log = [](uint32_t, const char *message, void *user_data) {
        static_cast<std::string *>(user_data)->append(message).append("\n");
    };
    desc.log_user_data = &log_;
    ok(piLoaderCreate(&desc, &loader_));
}

Loader::~Loader() {
    log_.clear();
    CHECK(piLoaderRelease(loader_) == PI_SUCCESS);
    // A leftover instance is a warning: something was leaked.
    CHECK(log_ == "");
}

pi_plugin Loader::plugin() const {
    pi_plugin plugin = nullptr;
    uint32_t count = 0;
    ok(piPluginsGet(loader_, 1, &plugin, &count));
    REQUIRE(count == 1);
    return plugin;
}

std::vector<pi_platform> Loader::platforms() const {
    uint32_t count = 0;
    ok(piPlatformsGet(plugin(), 0, nullptr, &count));
    std::vector<pi_platform> platforms(count);
    ok(piPlatformsGet(plugin(), count, platforms.data(), &count));
    return platforms;
}

std::vector<pi_device> Loader::devices() const {
    std::vector<pi_device> devices;
    for (pi_platform platform : platforms()) {
        uint32_t count = 0;
        ok(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 0, nullptr, &count));
        std::vector<pi_device> some(count);
        ok(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, count, some.data(), &count));
        devices.insert(devices.end(), some.begin(), some.end());
    }
    REQUIRE(!devices.empty());
    return devices;
}

// ----- info --------------------------------------------------------------------------------------

std::string name_of(pi_device device) {
    return platform_name_of(device) + "/" + text_of(piDeviceGetInfo, device, PI_DEVICE_INFO_NAME);
}
pi_platform platform_of(pi_device device) {
    return info_of<pi_platform>(piDeviceGetInfo, device, PI_DEVICE_INFO_PLATFORM);
}
std::string platform_name_of(pi_device device) {
    return text_of(piPlatformGetInfo, platform_of(device), PI_PLATFORM_INFO_NAME);
}
bool has_usm(pi_device device) {
    return info_of<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_CAPABILITIES) &
           PI_CAPABILITY_USM;
}

pi_memory_scope scope_of(pi_device device, uint32_t scope) {
    pi_memory_scope scopes[scope_count]{};
    uint32_t count = 0;
    ok(piDeviceGetMemoryScopes(device, scope_count, scopes, &count));
    REQUIRE(count == scope_count);
    return scopes[scope];
}

// ----- creation ----------------------------------------------------------------------------------

namespace {} // namespace

Context make_context(const std::vector<pi_device> &devices) {
    auto desc = pi::desc<pi_context_desc>();
    desc.devices = devices.data();
    desc.device_count = static_cast<uint32_t>(devices.size());
    Context context;
    ok(piContextCreate(platform_of(devices.at(0)), &desc, context.out()));
    return context;
}

Queue make_queue(pi_context context, pi_device device, uint64_t flags) {
    auto desc = pi::desc<pi_queue_desc>();
    desc.flags = flags;
    Queue queue;
    ok(piQueueCreate(context, device, &desc, queue.out()));
    return queue;
}

Mem make_buffer(pi_context context, pi_device device, uint64_t size, uint64_t flags, void *host_ptr,
                uint64_t alignment, uint32_t scope) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    desc.flags = flags;
    desc.host_ptr = host_ptr;
    desc.alignment = alignment;
    desc.scope = scope;
    Mem mem;
    ok(piMemBufferCreate(context, device, &desc, mem.out()));
    return mem;
}

Mem make_view(pi_mem mem, uint64_t offset, uint64_t size, uint64_t flags) {
    auto desc = pi::desc<pi_mem_partition_desc>();
    desc.offset = offset;
    desc.size = size;
    desc.flags = flags;
    Mem view;
    ok(piMemBufferPartition(mem, &desc, view.out()));
    return view;
}

Event make_host_event(pi_context context) {
    Event event;
    ok(piEventCreateHost(context, nullptr, event.out()));
    return event;
}

// ----- commands ----------------------------------------------------------------------------------

namespace {
template <class Desc, class Function>
Event enqueue(Function function, pi_queue queue, Desc &desc, const How &how) {
    desc.flags |= how.blocking ? PI_COMMAND_BLOCKING : 0;
    Event event;
    ok(function(queue, &desc, static_cast<uint32_t>(how.waits.size()),
                how.waits.empty() ? nullptr : how.waits.data(), event.out()));
    return event;
}
template <class Desc>
void set_regions(Desc &desc, const std::vector<pi_region> &regions) {
    desc.regions = regions.data();
    desc.region_count = static_cast<uint32_t>(regions.size());
}
} // namespace

pi_region range(uint64_t src, uint64_t dst, uint64_t size) {
    pi_region region{};
    region.src_offset = src;
    region.dst_offset = dst;
    region.extent[0] = size;
    return region;
}

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
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = mem;
    desc.pattern = pattern;
    desc.pattern_size = pattern_size;
    desc.offset = offset;
    desc.size = size;
    return enqueue(piEnqueueMemBufferFill, queue, desc, how);
}

Event map(pi_queue queue, pi_mem mem, uint64_t flags, uint64_t offset, uint64_t size,
          void **out_pointer, const How &how) {
    auto desc = pi::desc<pi_buffer_map_desc>();
    desc.mem = mem;
    desc.flags = flags;
    desc.offset = offset;
    desc.size = size;
    desc.out_pointer = out_pointer;
    return enqueue(piEnqueueMemBufferMap, queue, desc, how);
}

Event unmap(pi_queue queue, pi_mem mem, void *pointer, const How &how) {
    auto desc = pi::desc<pi_unmap_desc>();
    desc.mem = mem;
    desc.pointer = pointer;
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
    ok(piEventWait(event, patience));
}

void wait_failure(pi_event event, pi_result code, const std::vector<std::string> &parts) {
    refused(piEventWait(event, patience), code, parts);
}

std::vector<uint8_t> contents(pi_queue queue, pi_mem mem) {
    std::vector<uint8_t> bytes(info_of<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE));
    wait(read(queue, mem, bytes.data(), {range(0, 0, bytes.size())}));
    return bytes;
}

void set_contents(pi_queue queue, pi_mem mem, const std::vector<uint8_t> &bytes) {
    wait(write(queue, mem, bytes.data(), {range(0, 0, bytes.size())}));
}

// ----- programs ----------------------------------------------------------------------------------

Program build(pi_context context, const std::string &source, const char *options) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
    desc.data = source.data();
    desc.size = source.size();
    Program program;
    ok(piProgramCreate(context, &desc, program.out()));
    auto how = pi::desc<pi_program_build_desc>();
    how.options = options;
    ok(piProgramBuild(program, &how));
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
