// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work.hpp"

#include "test_program.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace bounded {
namespace {

using namespace pi_test;

constexpr uint64_t patience = UINT64_C(60'000'000'000);
constexpr uint64_t largest = 4096;

[[noreturn]] void give_up(const char *what, pi_result result) {
    const char *words = "";
    piGetLastError(nullptr, &words);
    std::fprintf(stderr, "%s: %d: %s\n", what, result, words);
    std::_Exit(2);
}

/// The work has deliberate errors (fills past the end, buffers of 0 bytes), which the layer
/// validate reports each time.
void PI_CALL count_warning(pi_log_level, const char *message, void *user_data) {
    for (const char *meant : {"past the end of desc->mem", "desc->size is 0 bytes"}) {
        if (std::strstr(message, meant) != nullptr) {
            return;
        }
    }
    if ((*static_cast<std::atomic<uint64_t> *>(user_data))++ == 0) {
        std::fprintf(stderr, "log: %s\n", message);
    }
}

pi_program make_program(pi_context context, uint64_t &calls) {
    pi_program program = nullptr;
    pi_result result = make_add_one(context, &program);
    if (result == PI_SUCCESS) {
        result = piProgramBuild(program, nullptr);
    }
    if (result != PI_SUCCESS) {
        give_up("a program", result);
    }
    calls += 2;
    return program;
}

} // namespace

Place open_plugin(const char *plugin, std::atomic<uint64_t> &warnings) {
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = &plugin;
    desc.plugin_count = 1;
    desc.log = count_warning;
    desc.log_user_data = &warnings;
    desc.log_level = PI_LOG_WARNING;
    desc.teardown_timeout = 20'000;
    Place place;
    if (const pi_result result = piLoaderCreate(&desc, &place.loader)) {
        give_up("piLoaderCreate", result);
    }
    if (const pi_result result =
            piLoaderSelectDevices(place.loader, nullptr, 1, &place.device, nullptr)) {
        give_up("piLoaderSelectDevices", result);
    }
    piDeviceGetInfo(place.device, PI_DEVICE_INFO_PLATFORM, sizeof place.platform, &place.platform,
                    nullptr);
    piDeviceGetInfo(place.device, PI_DEVICE_INFO_CAPABILITIES, sizeof place.capabilities,
                    &place.capabilities, nullptr);
    return place;
}

Worker::Worker(const Place &place, uint32_t seed)
    : place_(place), state_(seed), bytes_(largest), seen_(largest) {
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &place.device;
    ok(piContextCreate(place.platform, &desc, &context_));
    ok(piQueueCreate(context_, place.device, nullptr, &in_order_));
    auto queue = pi::desc<pi_queue_desc>();
    queue.flags = PI_QUEUE_OUT_OF_ORDER;
    ok(piQueueCreate(context_, place.device, &queue, &out_of_order_));
    program_ = make_program(context_, calls_);
}

Worker::~Worker() {
    settle();
    ok(piProgramRelease(program_));
    ok(piQueueRelease(out_of_order_));
    ok(piQueueRelease(in_order_));
    ok(piContextRelease(context_));
}

void Worker::ok(pi_result result) {
    ++calls_;
    if (result != PI_SUCCESS) {
        give_up("a call that should succeed", result);
    }
}

void Worker::fails(pi_result result, pi_result with) {
    pi_result code = PI_SUCCESS;
    const char *words = nullptr;
    piGetLastError(&code, &words);
    calls_ += 2;
    if (result != with || code != with || words == nullptr || *words == 0) {
        give_up("a call that should fail in another way", result);
    }
}

void PI_CALL Worker::on_final(pi_event, pi_result, void *user_data) {
    ++static_cast<Worker *>(user_data)->came_;
}
void PI_CALL Worker::on_host(void *user_data) {
    ++static_cast<Worker *>(user_data)->came_;
}

pi_event Worker::with_callback(pi_event event) {
    ++asked_;
    ok(piEventSetCallback(event, on_final, this));
    return event;
}

void Worker::wait_and_release(pi_event event) {
    ok(piEventWait(event, patience));
    ok(piEventRelease(event));
}

void Worker::settle() {
    ok(piQueueFinish(in_order_));
    ok(piQueueFinish(out_of_order_));
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience);
    while (came_ != asked_) {
        if (std::chrono::steady_clock::now() > end) {
            give_up("callbacks that did not come", PI_ERROR_TIMEOUT);
        }
        std::this_thread::yield();
    }
}

void Worker::work_until(uint64_t calls) {
    while (calls_ < calls) {
        ++rounds_;
        state_ = state_ * 1664525U + 1013904223U;
        size_ = 256 + 64 * (state_ >> 24) % (largest - 256);
        use_buffers();
        if (rounds_ % 16 == 0) {
            make_objects();
        }
    }
}

/// Bytes go from the host into one buffer, into another, and back.
void Worker::use_buffers() {
    std::memset(bytes_.data(), static_cast<int>(rounds_ % 251), size_);
    auto buffer = pi::desc<pi_mem_buffer_desc>();
    buffer.size = size_;
    pi_mem from = nullptr;
    pi_mem to = nullptr;
    ok(piMemBufferCreate(context_, place_.device, &buffer, &from));
    ok(piMemBufferCreate(context_, place_.device, &buffer, &to));
    const pi_region all = linear(size_);
    auto write = pi::desc<pi_buffer_write_desc>();
    write.mem = from;
    write.host_ptr = bytes_.data();
    write.region_count = 1;
    write.regions = &all;
    pi_event written = nullptr;
    ok(piEnqueueMemBufferWrite(in_order_, &write, 0, nullptr, &written));
    auto copy = pi::desc<pi_buffer_copy_desc>();
    copy.src = from;
    copy.dst = to;
    copy.region_count = 1;
    copy.regions = &all;
    pi_event copied = nullptr;
    ok(piEnqueueMemBufferCopy(out_of_order_, &copy, 1, &written, &copied));
    ok(piEventRelease(with_callback(written)));
    ok(piQueueFlush(out_of_order_));
    auto read = pi::desc<pi_buffer_read_desc>();
    read.flags = PI_COMMAND_BLOCKING;
    read.mem = to;
    read.host_ptr = seen_.data();
    read.region_count = 1;
    read.regions = &all;
    ok(piEnqueueMemBufferRead(in_order_, &read, 1, &copied, nullptr));
    if (std::memcmp(bytes_.data(), seen_.data(), size_) != 0) {
        give_up("other bytes than were written", PI_ERROR_INTERNAL);
    }
    ok(piEventRelease(copied));
    use_views_and_maps(from);
    use_gates(to);
    ask(to);
    fail(to);
    if ((place_.capabilities & PI_CAPABILITY_USM) != 0) {
        use_usm();
    }
    use_kernels(from);
    ok(piMemRetain(to));
    ok(piMemRelease(to));
    ok(piMemRelease(from));
    ok(piMemRelease(to));
}

void Worker::use_views_and_maps(pi_mem mem) {
    auto part = pi::desc<pi_mem_partition_desc>();
    part.size = 128;
    pi_mem view = nullptr;
    ok(piMemBufferPartition(mem, &part, &view));
    void *pointer = nullptr;
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_WRITE | PI_COMMAND_BLOCKING;
    map.mem = view;
    map.size = 128;
    map.out_pointer = &pointer;
    ok(piEnqueueMemBufferMap(in_order_, &map, 0, nullptr, nullptr));
    std::memset(pointer, 1, 128);
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.mem = view;
    unmap.pointer = pointer;
    pi_event unmapped = nullptr;
    ok(piEnqueueMemUnmap(in_order_, &unmap, 0, nullptr, &unmapped));
    ok(piMemRelease(view)); // the command keeps it alive
    wait_and_release(unmapped);
}

/// Commands that wait for host events: a signalled one, and an abandoned one.
void Worker::use_gates(pi_mem mem) {
    pi_event gate = nullptr;
    ok(piEventCreateHost(context_, nullptr, &gate));
    const uint32_t pattern = 7;
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = mem;
    fill.pattern = &pattern;
    fill.pattern_size = sizeof pattern;
    fill.size = 256;
    pi_event filled = nullptr;
    ok(piEnqueueMemBufferFill(out_of_order_, &fill, 1, &gate, &filled));
    pi_event after = nullptr;
    ok(piEnqueueBarrier(out_of_order_, nullptr, 0, nullptr, &after));
    ok(piEventSignalHost(gate, PI_SUCCESS));
    ok(piEventRelease(gate));
    ok(piEventRetain(filled));
    ok(piEventRelease(filled));
    wait_and_release(with_callback(filled));
    wait_and_release(after);

    ok(piEventCreateHost(context_, nullptr, &gate));
    pi_event failed = nullptr;
    ok(piEnqueueEventsWait(in_order_, nullptr, 1, &gate, &failed));
    ok(piEventRelease(gate));
    fails(piEventWait(with_callback(failed), patience), PI_ERROR_DEPENDENCY_FAILED);
    char text[256];
    ok(piEventGetInfo(failed, PI_EVENT_INFO_ERROR_TEXT, sizeof text, text, nullptr));
    ok(piEventRelease(failed));
}

void Worker::ask(pi_mem mem) {
    uint64_t size = 0;
    ok(piMemGetInfo(mem, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr));
    char name[256];
    ok(piDeviceGetInfo(place_.device, PI_DEVICE_INFO_NAME, sizeof name, name, nullptr));
    pi_context context = nullptr;
    ok(piQueueGetInfo(in_order_, PI_QUEUE_INFO_CONTEXT, sizeof context, &context, nullptr));
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    ok(piGetMemoryConnection(place_.device, context, place_.device, context, &connection));
}

/// Errors with texts of several lengths.
void Worker::fail(pi_mem mem) {
    auto fill = pi::desc<pi_buffer_fill_desc>();
    const uint32_t pattern = 7;
    fill.mem = mem;
    fill.pattern = &pattern;
    fill.pattern_size = sizeof pattern;
    fill.offset = size_ << (rounds_ % 40 / 4 * 4);
    fill.size = size_ + 4;
    fails(piEnqueueMemBufferFill(in_order_, &fill, 0, nullptr, nullptr), PI_ERROR_INVALID_SIZE);
    fails(piQueueFinish(nullptr), PI_ERROR_INVALID_QUEUE);
    pi_mem none = nullptr;
    auto buffer = pi::desc<pi_mem_buffer_desc>();
    fails(piMemBufferCreate(context_, place_.device, &buffer, &none), PI_ERROR_INVALID_SIZE);
}

void Worker::use_usm() {
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = PI_USM_HOST;
    desc.size = size_;
    void *pointer = nullptr;
    ok(piUsmAlloc(context_, nullptr, &desc, &pointer));
    const pi_region all = linear(size_);
    auto copy = pi::desc<pi_usm_copy_desc>();
    copy.src = bytes_.data();
    copy.dst = pointer;
    copy.region_count = 1;
    copy.regions = &all;
    pi_event copied = nullptr;
    ok(piEnqueueUsmCopy(in_order_, &copy, 0, nullptr, &copied));
    wait_and_release(copied);
    uint64_t size = 0;
    ok(piUsmGetInfo(context_, pointer, PI_USM_INFO_SIZE, sizeof size, &size, nullptr));
    ok(piUsmFree(context_, pointer));
}

void Worker::use_kernels(pi_mem mem) {
    pi_kernel kernel = nullptr;
    ok(piKernelCreate(program_, "add_one", nullptr, &kernel));
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem;
    const auto launch = launch_of(kernel, argument, 64);
    pi_event launched = nullptr;
    ok(piEnqueueKernelLaunch(in_order_, &launch, 0, nullptr, &launched));
    ok(piKernelRelease(kernel));
    if ((place_.capabilities & PI_CAPABILITY_HOST_FUNCTION) != 0) {
        auto function = pi::desc<pi_host_function_desc>();
        function.function = on_host;
        function.user_data = this;
        ++asked_;
        ok(piEnqueueHostFunction(in_order_, &function, 1, &launched, nullptr));
    }
    wait_and_release(launched);
}

/// Objects that a program creates less often.
void Worker::make_objects() {
    auto desc = pi::desc<pi_queue_desc>();
    desc.flags = PI_QUEUE_PROFILING;
    pi_queue queue = nullptr;
    ok(piQueueCreate(context_, place_.device, &desc, &queue));
    pi_event event = nullptr;
    ok(piEnqueueEventsWait(queue, nullptr, 0, nullptr, &event));
    ok(piQueueRelease(queue));
    wait_and_release(event);
    ok(piProgramRelease(make_program(context_, calls_)));
    if (rounds_ % 64 == 0) {
        auto context_desc = pi::desc<pi_context_desc>();
        context_desc.device_count = 1;
        context_desc.devices = &place_.device;
        pi_context context = nullptr;
        ok(piContextCreate(place_.platform, &context_desc, &context));
        ok(piContextRelease(context));
    }
}

} // namespace bounded
