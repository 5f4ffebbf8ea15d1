// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "scenario.hpp"

#include "test_program.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace shortage {
namespace {

using namespace pi_test;

constexpr uint64_t patience = UINT64_C(30'000'000'000);

std::atomic<uint32_t> failure_count{0};
const char *this_run = "";
bool only_threads_lack = false;

void failed(const char *what, pi_result result) {
    const char *words = "";
    piGetLastError(nullptr, &words);
    if (++failure_count <= 20)
        std::fprintf(stderr, "%s: %d: %s\n  in %s", what, result, words, this_run);
}

/// With memory available.
void ok(const char *what, pi_result result) {
    if (result != PI_SUCCESS)
        failed(what, result);
}
#define OK(...) ok(#__VA_ARGS__, __VA_ARGS__)

bool is_shortage(pi_result result) {
    return (result == PI_ERROR_OUT_OF_HOST_MEMORY && !only_threads_lack) ||
           result == PI_ERROR_OUT_OF_RESOURCES ||
           result == PI_ERROR_DEPENDENCY_FAILED; // of a command with parts
}

/// May fail for lack of what is short, and with `also` if that is memory. Returns whether it
/// succeeded.
bool succeeds(const char *what, pi_result result, pi_result also = PI_ERROR_OUT_OF_HOST_MEMORY) {
    pi_result code = PI_SUCCESS;
    const char *words = nullptr;
    if (result == PI_SUCCESS)
        return true;
    piGetLastError(&code, &words);
    if ((!is_shortage(result) && (result != also || only_threads_lack)) || code != result ||
        words == nullptr || !*words)
        failed(what, result);
    return false;
}
/// For a device whose memory is the host's.
bool allocates(const char *what, pi_result result) {
    return succeeds(what, result, PI_ERROR_OUT_OF_DEVICE_MEMORY);
}
#define TRY(...) succeeds(#__VA_ARGS__, __VA_ARGS__)
#define ALLOCATE(...) allocates(#__VA_ARGS__, __VA_ARGS__)

/// Counts the loader's reports of leaked objects. Layers also log what they could not record, and
/// the scenario's deliberate errors.
void PI_CALL log(pi_log_level, const char *message, void *) {
    for (const char *const meant : {"out of memory", "past the end of desc->mem"})
        if (std::strstr(message, meant) != nullptr)
            return;
    if (++failure_count <= 20)
        std::fprintf(stderr, "log: %s\n  in %s", message, this_run);
}
void PI_CALL no_log(pi_log_level, const char *, void *) {}

pi_result open(const char *plugin, pi_log_callback callback, pi_loader *out_loader) {
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = &plugin;
    desc.plugin_count = 1;
    desc.log = callback;
    desc.log_level = PI_LOG_WARNING;
    desc.teardown_timeout = 20'000;
    return piLoaderCreate(&desc, out_loader);
}

pi_result first_device(pi_loader loader, pi_device *out_device) {
    return piLoaderSelectDevices(loader, nullptr, 1, out_device, nullptr);
}

pi_result make_context(pi_device device, pi_context *out_context) {
    pi_platform platform = nullptr;
    if (const pi_result result =
            piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr))
        return result;
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &device;
    return piContextCreate(platform, &desc, out_context);
}

} // namespace

void describe_run(const char *run) {
    this_run = run;
}
void expect_lack_of_threads() {
    only_threads_lack = true;
}
uint32_t failures() {
    return failure_count;
}

// ----- opening -----

bool open_and_close(const char *plugin, const End &end) {
    pi_loader loader = nullptr;
    if (TRY(open(plugin, no_log, &loader))) {
        pi_device device = nullptr;
        pi_context context = nullptr;
        // Without memory the plugin may be unavailable, with a reason: then there is no device.
        if (first_device(loader, &device) == PI_SUCCESS && device != nullptr &&
            TRY(make_context(device, &context)))
            OK(piContextRelease(context));
    }
    if (loader != nullptr)
        OK(piLoaderRelease(loader)); // needs no memory
    return end();
}

Machine::Machine(const char *plugin) {
    OK(open(plugin, log, &loader));
    OK(first_device(loader, &device));
    if (device == nullptr)
        std::_Exit(1);
    OK(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr));
    OK(piDeviceGetInfo(device, PI_DEVICE_INFO_CAPABILITIES, sizeof capabilities, &capabilities,
                       nullptr));
    OK(make_context(device, &context));
    OK(piQueueCreate(context, device, nullptr, &in_order));
    auto queue = pi::desc<pi_queue_desc>();
    queue.flags = PI_QUEUE_OUT_OF_ORDER;
    if (piQueueCreate(context, device, &queue, &out_of_order) != PI_SUCCESS)
        // the device does not support it
        OK(piQueueCreate(context, device, nullptr, &out_of_order));
    for (pi_mem &mem : buffers) {
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = size;
        OK(piMemBufferCreate(context, device, &desc, &mem));
        auto fill = pi::desc<pi_buffer_fill_desc>();
        fill.flags = PI_COMMAND_BLOCKING;
        fill.mem = mem;
        fill.pattern = &content;
        fill.pattern_size = sizeof content;
        fill.size = size;
        OK(piEnqueueMemBufferFill(in_order, &fill, 0, nullptr, nullptr));
    }
    if (make_add_one(context, &program) == PI_SUCCESS)
        OK(piProgramBuild(program, nullptr));
}

Machine::~Machine() {
    if (program != nullptr)
        OK(piProgramRelease(program));
    for (pi_mem mem : buffers)
        OK(piMemRelease(mem));
    OK(piQueueRelease(out_of_order));
    OK(piQueueRelease(in_order));
    OK(piContextRelease(context));
    OK(piLoaderRelease(loader));
}

// ----- working -----

void PI_CALL Scenario::on_final(pi_event, pi_result, void *count) {
    ++*static_cast<std::atomic<int> *>(count);
}
void PI_CALL Scenario::on_host(void *count) {
    ++*static_cast<std::atomic<int> *>(count);
}

bool Scenario::add(pi_result result, pi_event event, std::function<void(pi_result)> effect) {
    if (!succeeds("a command", result))
        return false;
    commands_.push_back({event, std::move(effect)});
    return true;
}

void Scenario::write_effect(size_t buffer, pi_result result, Bytes bytes) {
    // Where the loader makes a command of several, its event waits for the last, and the first may
    // have written.
    const bool of_parts = (machine_.capabilities & PI_CAPABILITY_BUFFER_COMMANDS) == 0;
    if (result == PI_SUCCESS)
        bytes_[buffer] = bytes;
    else if (result != PI_ERROR_DEPENDENCY_FAILED || of_parts) // else nothing was done
        bytes_[buffer].reset();
}

bool Scenario::run(const End &end) {
    make_objects();
    begin_chain();
    use_buffer();
    map_buffer();
    use_usm();
    call_host();
    launch_kernel();
    ask();
    if (gate_ != nullptr)
        OK(piEventSignalHost(gate_, PI_SUCCESS)); // ending others needs no memory
    for (const Command &command : commands_)
        if (command.event != nullptr)
            static_cast<void>(piEventWait(command.event, patience));
    const bool had_none = end();
    settle();
    return had_none;
}

void Scenario::make_objects() {
    pi_context context = nullptr;
    if (!TRY(make_context(machine_.device, &context)))
        return;
    pi_queue queue = nullptr;
    if (TRY(piQueueCreate(context, machine_.device, nullptr, &queue)))
        OK(piQueueRelease(queue));
    pi_mem mem = nullptr;
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = 256;
    if (ALLOCATE(piMemBufferCreate(context, machine_.device, &desc, &mem))) {
        auto part = pi::desc<pi_mem_partition_desc>();
        part.size = 128;
        pi_mem view = nullptr;
        if ((machine_.capabilities & PI_CAPABILITY_VIEW) != 0 &&
            TRY(piMemBufferPartition(mem, &part, &view)))
            OK(piMemRelease(view));
        OK(piMemRelease(mem));
    }
    OK(piContextRelease(context));
}

/// Waits for a host event: a fill of the first buffer, and its copy to the second.
void Scenario::begin_chain() {
    static_cast<void>(TRY(piEventCreateHost(machine_.context, nullptr, &gate_)));
    const unsigned char pattern[4] = {1, 1, 1, 1};
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = machine_.buffers[0];
    fill.pattern = pattern;
    fill.pattern_size = sizeof pattern;
    fill.size = Machine::size;
    pi_event filled = nullptr;
    const pi_result begun = piEnqueueMemBufferFill(machine_.out_of_order, &fill, gate_ ? 1 : 0,
                                                   gate_ ? &gate_ : nullptr, &filled);
    if (!add(begun, filled, [this](pi_result end) { write_effect(0, end, 1); }))
        return;
    const pi_region all = linear(Machine::size);
    auto copy = pi::desc<pi_buffer_copy_desc>();
    copy.src = machine_.buffers[0];
    copy.dst = machine_.buffers[1];
    copy.region_count = 1;
    copy.regions = &all;
    pi_event copied = nullptr;
    const pi_result result =
        piEnqueueMemBufferCopy(machine_.out_of_order, &copy, 1, &filled, &copied);
    if (add(result, copied, [this](pi_result end) { write_effect(1, end, bytes_[0]); }) &&
        TRY(piEventSetCallback(copied, on_final, &callbacks_)))
        ++callbacks_set_;
    pi_event behind = nullptr;
    const pi_result barrier = piEnqueueBarrier(machine_.out_of_order, nullptr, 0, nullptr, &behind);
    add(barrier, behind, [](pi_result) {});
}

/// In order: a write and reads.
void Scenario::use_buffer() {
    const pi_region all = linear(Machine::size);
    auto write = pi::desc<pi_buffer_write_desc>();
    write.mem = machine_.buffers[2];
    write.host_ptr = written_.data();
    write.region_count = 1;
    write.regions = &all;
    pi_event written = nullptr;
    const pi_result begun =
        piEnqueueMemBufferWrite(machine_.in_order, &write, 0, nullptr, &written);
    add(begun, written, [this](pi_result end) { write_effect(2, end, 3); });
    auto read = pi::desc<pi_buffer_read_desc>();
    read.mem = machine_.buffers[2];
    read.host_ptr = seen_.data();
    read.region_count = 1;
    read.regions = &all;
    pi_event event = nullptr;
    const pi_result result = piEnqueueMemBufferRead(machine_.in_order, &read, 0, nullptr, &event);
    add(result, event, [this](pi_result end) {
        if (end == PI_SUCCESS && bytes_[2] && seen_[Machine::size - 1] != *bytes_[2])
            failed("a read gives other bytes", seen_[Machine::size - 1]);
    });
    unsigned char few[16] = {};
    const pi_region some = linear(sizeof few);
    read.flags = PI_COMMAND_BLOCKING;
    read.host_ptr = few;
    read.regions = &some;
    const bool read_now =
        TRY(piEnqueueMemBufferRead(machine_.in_order, &read, 0, nullptr, nullptr));
    if (read_now && written != nullptr && piEventWait(written, 0) == PI_SUCCESS && few[15] != 3)
        failed("a blocking read gives other bytes", few[15]);
}

void Scenario::map_buffer() {
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_READ | PI_MAP_WRITE | PI_COMMAND_BLOCKING;
    map.mem = machine_.buffers[2];
    map.size = Machine::size;
    map.out_pointer = &mapped_;
    if (!TRY(piEnqueueMemBufferMap(machine_.in_order, &map, 0, nullptr, nullptr))) {
        mapped_ = nullptr;
        return;
    }
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.mem = machine_.buffers[2];
    unmap.pointer = mapped_;
    std::memset(mapped_, 5, Machine::size);
    pi_event event = nullptr;
    const pi_result result = piEnqueueMemUnmap(machine_.in_order, &unmap, 0, nullptr, &event);
    add(result, event, [this](pi_result end) {
        write_effect(2, end, 5);
        if (end == PI_SUCCESS)
            mapped_ = nullptr;
    });
}

void Scenario::use_usm() {
    if ((machine_.capabilities & PI_CAPABILITY_USM) == 0)
        return;
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = PI_USM_HOST;
    desc.size = Machine::size;
    if (!ALLOCATE(piUsmAlloc(machine_.context, nullptr, &desc, &allocated_)))
        return;
    std::memset(allocated_, 7, Machine::size);
    const pi_region all = linear(Machine::size);
    auto copy = pi::desc<pi_usm_copy_desc>();
    copy.src = allocated_;
    copy.dst = usm_.data();
    copy.region_count = 1;
    copy.regions = &all;
    pi_event event = nullptr;
    const pi_result result = piEnqueueUsmCopy(machine_.in_order, &copy, 0, nullptr, &event);
    add(result, event, [this](pi_result end) {
        if (end == PI_SUCCESS && usm_[Machine::size - 1] != 7)
            failed("a copy of USM gives other bytes", usm_[Machine::size - 1]);
    });
}

void Scenario::call_host() {
    if ((machine_.capabilities & PI_CAPABILITY_HOST_FUNCTION) == 0)
        return;
    auto desc = pi::desc<pi_host_function_desc>();
    desc.function = on_host;
    desc.user_data = &host_calls_;
    pi_event event = nullptr;
    const pi_result result = piEnqueueHostFunction(machine_.in_order, &desc, 0, nullptr, &event);
    add(result, event, [this](pi_result end) { host_calls_due_ += end == PI_SUCCESS; });
}

void Scenario::launch_kernel() {
    pi_kernel kernel = nullptr;
    if (machine_.program == nullptr ||
        !TRY(piKernelCreate(machine_.program, "add_one", nullptr, &kernel)))
        return;
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = machine_.buffers[2];
    const auto launch = launch_of(kernel, argument, Machine::size);
    pi_event event = nullptr;
    const pi_result result = piEnqueueKernelLaunch(machine_.in_order, &launch, 0, nullptr, &event);
    add(result, event, [this](pi_result end) {
        const Bytes before = bytes_[2];
        write_effect(2, end, before ? Bytes(static_cast<unsigned char>(*before + 1)) : Bytes());
    });
    OK(piKernelRelease(kernel));
}

void Scenario::ask() {
    char name[256];
    static_cast<void>(
        TRY(piDeviceGetInfo(machine_.device, PI_DEVICE_INFO_NAME, sizeof name, name, nullptr)));
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    static_cast<void>(TRY(piGetMemoryConnection(machine_.device, machine_.context, machine_.device,
                                                machine_.context, &connection)));
    const uint32_t pattern = 7;
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = machine_.buffers[2];
    fill.pattern = &pattern;
    fill.pattern_size = sizeof pattern;
    fill.size = Machine::size + 4;
    const pi_result result = piEnqueueMemBufferFill(machine_.in_order, &fill, 0, nullptr, nullptr);
    if (result != PI_ERROR_INVALID_SIZE && succeeds("a fill behind the end", result))
        failed("a fill behind the end succeeds", result);
}

// ----- afterwards -----

/// With memory available again.
void Scenario::settle() {
    OK(piQueueFinish(machine_.out_of_order));
    OK(piQueueFinish(machine_.in_order));
    for (const Command &command : commands_) {
        pi_result result = PI_SUCCESS;
        if (command.event != nullptr) {
            result = piEventWait(command.event, patience);
            if (result != PI_SUCCESS && !is_shortage(result))
                failed("a command's end", result);
        }
        command.effect(result);
    }
    for (const Command &command : commands_)
        if (command.event != nullptr)
            OK(piEventRelease(command.event));
    if (gate_ != nullptr)
        OK(piEventRelease(gate_));
    if (allocated_ != nullptr)
        OK(piUsmFree(machine_.context, allocated_));
    if (mapped_ != nullptr) {
        auto unmap = pi::desc<pi_unmap_desc>();
        unmap.flags = PI_COMMAND_BLOCKING;
        unmap.mem = machine_.buffers[2];
        unmap.pointer = mapped_;
        OK(piEnqueueMemUnmap(machine_.in_order, &unmap, 0, nullptr, nullptr));
        bytes_[2].reset();
    }
    const auto last = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience);
    while (callbacks_ < callbacks_set_ && std::chrono::steady_clock::now() < last)
        std::this_thread::yield();
    if (callbacks_ != callbacks_set_)
        failed("callbacks", callbacks_);
    if (host_calls_ != host_calls_due_)
        failed("host functions", host_calls_);
    for (size_t buffer = 0; buffer < bytes_.size(); ++buffer)
        check_bytes(buffer);
}

void Scenario::check_bytes(size_t buffer) {
    const pi_region all = linear(Machine::size);
    auto read = pi::desc<pi_buffer_read_desc>();
    read.flags = PI_COMMAND_BLOCKING;
    read.mem = machine_.buffers[buffer];
    read.host_ptr = seen_.data();
    read.region_count = 1;
    read.regions = &all;
    OK(piEnqueueMemBufferRead(machine_.in_order, &read, 0, nullptr, nullptr));
    for (const unsigned char byte : seen_)
        if (bytes_[buffer] && byte != *bytes_[buffer])
            return failed("a buffer has other bytes", static_cast<pi_result>(buffer));
}

} // namespace shortage
