// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer validate: mapped bytes must not be used, and unmapped ones not be unmapped.

#include "misuse.hpp"

using namespace layer_test;

namespace {

pi_result map(const Machine &machine, pi_mem mem, uint64_t flags, uint64_t offset, uint64_t size,
              void **out_pointer, std::vector<pi_event> waits = {}, pi_event *out_event = nullptr) {
    auto desc = pi::desc<pi_buffer_map_desc>();
    desc.flags = flags;
    desc.mem = mem;
    desc.offset = offset;
    desc.size = size;
    desc.out_pointer = out_pointer;
    return piEnqueueMemBufferMap(machine.queue, &desc, static_cast<uint32_t>(waits.size()),
                                 waits.data(), out_event);
}

pi_result unmap(const Machine &machine, pi_mem mem, void *pointer, std::vector<pi_event> waits = {},
                pi_event *out_event = nullptr) {
    auto desc = pi::desc<pi_unmap_desc>();
    desc.mem = mem;
    desc.pointer = pointer;
    return piEnqueueMemUnmap(machine.queue, &desc, static_cast<uint32_t>(waits.size()),
                             waits.data(), out_event);
}

pi_result launch(const Machine &machine, const Kernel &made, pi_mem mem) {
    pi_kernel_argument arguments[2] = {};
    arguments[0].kind = arguments[1].kind = PI_ARGUMENT_BUFFER;
    arguments[0].mem = mem;
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.kernel = made.kernel;
    desc.dimensions = 1;
    desc.global_size[0] = 1;
    desc.argument_count = 2;
    desc.arguments = arguments;
    return piEnqueueKernelLaunch(machine.queue, &desc, 0, nullptr, nullptr);
}

constexpr uint64_t blocking = PI_COMMAND_BLOCKING;

} // namespace

TEST_CASE("validate: no command uses bytes that are mapped for writing") {
    const Machine machine(counted());
    const Kernel made = make_kernel(machine);
    const pi_mem mem = machine.make_buffer(64);
    const pi_mem other = machine.make_buffer(64);
    auto part = pi::desc<pi_mem_partition_desc>();
    part.offset = 16;
    part.size = 48;
    pi_mem view = nullptr;
    OK(piMemBufferPartition(mem, &part, &view));
    void *pointer = nullptr;
    OK(map(machine, mem, blocking | PI_MAP_WRITE, 16, 16, &pointer));
    const auto refused = [&](const char *function, const char *words, auto &&call) {
        check_refused(machine, function, PI_ERROR_INVALID_OPERATION, words, call);
    };
    const char *const fill = "piEnqueueMemBufferFill";
    refused(fill, "desc->mem is mapped for writing from byte 16 to 31; the command writes",
            [&] { return machine.fill(mem, 1, 0, 17); });
    refused(fill, "desc->mem is mapped", [&] { return machine.fill(view, 1, 0, 1); });
    refused("piEnqueueMemBufferCopy",
            "desc->src is mapped for writing from byte 16 to 31; the command reads",
            [&] { return machine.copy(mem, other, {linear(0, 0, 32)}); });
    refused("piEnqueueMemBufferCopy", "desc->dst is mapped",
            [&] { return machine.copy(other, mem, {linear(0, 31, 1)}); });
    refused("piEnqueueMemBufferMap", "desc->mem is mapped", [&] {
        void *second = nullptr;
        return map(machine, mem, blocking | PI_MAP_READ, 31, 1, &second);
    });
    refused("piEnqueueKernelLaunch", "desc->arguments[0].mem is mapped for writing",
            [&] { return launch(machine, made, mem); });
    // Next to it, and in columns that skip it, commands are fine.
    OK(machine.fill(mem, 1, 0, 16));
    OK(machine.fill(view, 1, 16, 32));
    OK(machine.copy(mem, other, {linear(32, 0, 32)}));
    pi_region columns = linear(0, 0, 8);
    columns.extent[1] = 2;
    columns.src_pitch[0] = 48;
    OK(machine.copy(mem, other, {columns}));
    OK(unmap(machine, mem, pointer));
    OK(machine.fill(mem, 1, 0, 64));
    OK(launch(machine, made, mem));
    OK(piQueueFinish(machine.queue));
    for (const pi_mem one : {mem, other, view})
        OK(piMemRelease(one));
    OK(piKernelRelease(made.kernel));
    OK(piProgramRelease(made.program));
}

TEST_CASE("validate: bytes mapped for reading may be read, and mapped for reading again") {
    const Machine machine(counted());
    const Kernel made = make_kernel(machine);
    const pi_mem mem = machine.make_buffer(64);
    const pi_mem other = machine.make_buffer(64);
    void *first = nullptr;
    void *second = nullptr;
    OK(map(machine, mem, blocking | PI_MAP_READ, 0, 32, &first));
    OK(map(machine, mem, blocking | PI_MAP_READ, 0, 64, &second));
    OK(machine.copy(mem, other, {linear(0, 0, 64)}));
    OK(launch(machine, made, mem)); // it may only read
    check_refused(machine, "piEnqueueMemBufferFill", PI_ERROR_INVALID_OPERATION,
                  "is mapped for reading", [&] { return machine.fill(mem, 1, 0, 8); });
    OK(unmap(machine, mem, first));
    OK(unmap(machine, mem, second));
    OK(machine.fill(mem, 1, 0, 8));
    for (const pi_mem one : {mem, other})
        OK(piMemRelease(one));
    OK(piKernelRelease(made.kernel));
    OK(piProgramRelease(made.program));
}

TEST_CASE("validate: a non-blocking map counts once it is complete") {
    const Machine machine(counted(), PI_QUEUE_OUT_OF_ORDER);
    const pi_mem mem = machine.make_buffer(64);
    const pi_event gate = machine.make_host_event();
    void *pointer = nullptr;
    pi_event done = nullptr;
    OK(map(machine, mem, PI_MAP_WRITE, 0, 64, &pointer, {gate}, &done));
    // Nothing orders this after the map.
    OK(machine.fill(mem, 1, 0, 8, blocking));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(done, patience));
    OK(piQueueFinish(machine.queue));
    check_refused(machine, "piEnqueueMemBufferFill", PI_ERROR_INVALID_OPERATION,
                  "is mapped for writing", [&] { return machine.fill(mem, 1, 0, 8); });
    OK(unmap(machine, mem, pointer));
    OK(piQueueFinish(machine.queue));
    OK(piEventRelease(done));
    OK(piEventRelease(gate));
    OK(piMemRelease(mem));
}

TEST_CASE("validate: a command that may be held back until the unmap is not refused") {
    const Machine machine(counted(), PI_QUEUE_OUT_OF_ORDER);
    const pi_mem mem = machine.make_buffer(64);
    const pi_event gate = machine.make_host_event();
    void *pointer = nullptr;
    OK(map(machine, mem, blocking | PI_MAP_WRITE, 0, 64, &pointer));
    const Bytes bytes(8, 1);
    OK(machine.write(mem, bytes, 0, nullptr, {gate}));
    // The same behind a barrier that waits.
    OK(piEnqueueBarrier(machine.queue, nullptr, 1, &gate, nullptr));
    OK(machine.fill(mem, 1, 8, 8));
    const pi_queue other = machine.make_queue();
    auto desc = pi::desc<pi_unmap_desc>();
    desc.flags = blocking;
    desc.mem = mem;
    desc.pointer = pointer;
    OK(piEnqueueMemUnmap(other, &desc, 0, nullptr, nullptr));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piQueueFinish(machine.queue));
    OK(piQueueRelease(other));
    OK(piEventRelease(gate));
    OK(piMemRelease(mem));
}

TEST_CASE(
    "validate: a map for writing over an existing map is refused, also after complete commands") {
    const Machine machine(counted());
    const pi_mem mem = machine.make_buffer(64);
    const pi_event over = machine.make_host_event();
    OK(piEventSignalHost(over, PI_SUCCESS));
    const uint64_t flags = GENERATE(uint64_t{PI_MAP_WRITE}, uint64_t{PI_MAP_WRITE_DISCARD});
    void *first = nullptr;
    void *second = nullptr;
    OK(map(machine, mem, blocking | PI_MAP_READ, 0, 32, &first));
    OK(map(machine, mem, blocking | PI_MAP_READ, 0, 64, &second, {over}));
    OK(unmap(machine, mem, second, {over}));
    OK(piQueueFinish(machine.queue));
    check_refused(machine, "piEnqueueMemBufferMap", PI_ERROR_INVALID_OPERATION,
                  "is mapped for reading",
                  [&] { return map(machine, mem, flags, 31, 8, &second, {over}); });
    OK(map(machine, mem, flags, 32, 8, &second, {over}));
    OK(unmap(machine, mem, second));
    OK(unmap(machine, mem, first));
    OK(map(machine, mem, blocking | flags, 0, 64, &second, {over}));
    OK(unmap(machine, mem, second));
    OK(piQueueFinish(machine.queue));
    OK(piEventRelease(over));
    OK(piMemRelease(mem));
}

TEST_CASE("validate: bytes whose unmap failed are mapped as before") {
    const Machine machine(counted("piEnqueueMemUnmap:1=fail_event(BACKEND)"));
    const pi_mem mem = machine.make_buffer(64);
    void *pointer = nullptr;
    OK(map(machine, mem, blocking | PI_MAP_READ, 0, 32, &pointer));
    pi_event event = nullptr;
    OK(unmap(machine, mem, pointer, {}, &event));
    CHECK(piEventWait(event, patience) == PI_ERROR_BACKEND);
    check_refused(machine, "piEnqueueMemBufferFill", PI_ERROR_INVALID_OPERATION,
                  "is mapped for reading", [&] { return machine.fill(mem, 1, 0, 8); });
    OK(machine.fill(mem, 1, 32, 8));
    OK(unmap(machine, mem, pointer));
    OK(machine.fill(mem, 1, 0, 8, blocking));
    OK(piEventRelease(event));
    OK(piMemRelease(mem));
}

TEST_CASE("validate: a failed map does not count") {
    const Machine machine(counted());
    const pi_mem mem = machine.make_buffer(64);
    const pi_event gate = machine.make_host_event();
    void *pointer = nullptr;
    pi_event event = nullptr;
    OK(map(machine, mem, PI_MAP_WRITE, 0, 64, &pointer, {gate}, &event));
    OK(piEventSignalHost(gate, PI_ERROR_BACKEND));
    OK(piQueueFinish(machine.queue));
    OK(machine.fill(mem, 1, 0, 8));
    OK(piQueueFinish(machine.queue));
    OK(piEventRelease(event));
    OK(piEventRelease(gate));
    OK(piMemRelease(mem));
}

TEST_CASE("validate: an unmap needs a pointer from a map, once") {
    CapturedLog log;
    {
        const Machine machine(counted("", &log));
        const pi_mem mem = machine.make_buffer(64);
        const pi_mem other = machine.make_buffer(64);
        const auto refused = [&](pi_mem of, void *pointer) {
            check_refused(machine, "piEnqueueMemUnmap", PI_ERROR_INVALID_VALUE,
                          "is not unmapped yet", [&] { return unmap(machine, of, pointer); });
        };
        int nothing = 0;
        refused(mem, &nothing);
        void *pointer = nullptr;
        OK(map(machine, mem, blocking | PI_MAP_READ, 0, 64, &pointer));
        refused(other, pointer);
        refused(mem, &nothing);
        OK(unmap(machine, mem, pointer));
        refused(mem, pointer);
        // The first one fails with its wait list, which does not count against the application.
        const pi_event gate = machine.make_host_event();
        OK(map(machine, mem, blocking | PI_MAP_READ, 0, 64, &pointer));
        OK(unmap(machine, mem, pointer, {gate}));
        OK(piEventSignalHost(gate, PI_ERROR_BACKEND));
        OK(piQueueFinish(machine.queue));
        OK(unmap(machine, mem, pointer));
        refused(mem, pointer);
        OK(piEventRelease(gate));
        for (const pi_mem one : {mem, other})
            OK(piMemRelease(one));
    }
    CHECK(log.count("never released") == 0);
    CHECK(log.count("parked") == 0);
}

TEST_CASE("validate: remaining maps do not delay the loader's release") {
    CapturedLog log;
    {
        const Machine machine(counted("", &log));
        const pi_mem mem = machine.make_buffer(64);
        void *pointer = nullptr;
        pi_event event = nullptr;
        OK(map(machine, mem, PI_MAP_READ, 0, 64, &pointer, {}, &event));
        OK(piEventWait(event, patience));
        uint32_t references = 0;
        OK(piEventGetInfo(event, PI_EVENT_INFO_REFERENCE_COUNT, sizeof references, &references,
                          nullptr));
        CHECK(references >= 1);
        CHECK(references <= 2);
        OK(piEventRelease(event));
        OK(piMemRelease(mem));
    }
    CHECK(log.count("never released") == 0);
    CHECK(log.count("parked") == 0);
}

TEST_CASE("validate: a log callback of a refusal may map and unmap") {
    CapturedLog log;
    const Machine machine(counted("", &log));
    const pi_mem mem = machine.make_buffer(64);
    void *pointer = nullptr;
    OK(map(machine, mem, blocking | PI_MAP_WRITE, 0, 64, &pointer));
    std::vector<pi_result> results;
    const auto once = [&](auto &&call) {
        log.on_message = [&, call] {
            if (results.empty())
                results.push_back(call());
        };
    };
    once([&] { return unmap(machine, mem, pointer); });
    CHECK(machine.fill(mem, 1, 0, 8) == PI_ERROR_INVALID_OPERATION);
    log.on_message = nullptr;
    CHECK(results == std::vector<pi_result>{PI_SUCCESS});
    OK(piQueueFinish(machine.queue));

    results.clear();
    void *other = nullptr;
    once([&] { return map(machine, mem, blocking | PI_MAP_READ, 0, 8, &other); });
    CHECK(unmap(machine, mem, pointer) == PI_ERROR_INVALID_VALUE);
    log.on_message = nullptr;
    CHECK(results == std::vector<pi_result>{PI_SUCCESS});
    OK(unmap(machine, mem, other));
    OK(piQueueFinish(machine.queue));
    OK(piMemRelease(mem));
}

TEST_CASE("validate: an unmap that failed is tried again, and one that succeeded is not") {
    CapturedLog log;
    {
        const Machine machine(counted("piEnqueueMemUnmap:1..2=fail_event(BACKEND)", &log));
        const pi_mem mem = machine.make_buffer(64);
        void *pointer = nullptr;
        OK(map(machine, mem, blocking | PI_MAP_WRITE, 0, 64, &pointer));
        pi_event event = nullptr;
        OK(unmap(machine, mem, pointer, {}, &event));
        CHECK(piEventWait(event, patience) == PI_ERROR_BACKEND);
        OK(piEventRelease(event));
        // The same without an event.
        OK(unmap(machine, mem, pointer));
        OK(piQueueFinish(machine.queue));
        OK(unmap(machine, mem, pointer));
        OK(piQueueFinish(machine.queue));
        check_refused(machine, "piEnqueueMemUnmap", PI_ERROR_INVALID_VALUE, "not unmapped yet",
                      [&] { return unmap(machine, mem, pointer); });
        OK(piMemRelease(mem));
    }
    CHECK(log.count("never released") == 0);
    CHECK(log.count("parked") == 0);
}

TEST_CASE("validate: however many unmaps have failed, each is tried again") {
    constexpr std::size_t count = 40;
    const Machine machine(counted());
    const pi_mem mem = machine.make_buffer(count * 64);
    const pi_event gate = machine.make_host_event();
    std::vector<void *> pointers(count);
    for (std::size_t i = 0; i < count; ++i)
        OK(map(machine, mem, blocking | PI_MAP_WRITE, i * 64, 64, &pointers[i]));
    for (void *const pointer : pointers)
        OK(unmap(machine, mem, pointer, {gate}));
    OK(piEventSignalHost(gate, PI_ERROR_BACKEND));
    OK(piQueueFinish(machine.queue));
    for (void *const pointer : pointers)
        OK(unmap(machine, mem, pointer));
    OK(machine.fill(mem, 1, 0, count * 64, blocking));
    OK(piEventRelease(gate));
    OK(piMemRelease(mem));
}

TEST_CASE("validate: a failed map without an event does not count") {
    CapturedLog log;
    {
        const Machine machine(counted("piEnqueueMemBufferMap:1=fail_event(BACKEND)", &log));
        const pi_mem mem = machine.make_buffer(64);
        void *pointer = nullptr;
        OK(map(machine, mem, PI_MAP_WRITE, 0, 64, &pointer));
        OK(piQueueFinish(machine.queue));
        OK(machine.fill(mem, 1, 0, 8));
        OK(map(machine, mem, PI_MAP_WRITE, 0, 64, &pointer));
        OK(piQueueFinish(machine.queue));
        check_refused(machine, "piEnqueueMemBufferFill", PI_ERROR_INVALID_OPERATION,
                      "is mapped for writing", [&] { return machine.fill(mem, 1, 0, 8); });
        OK(unmap(machine, mem, pointer));
        OK(piQueueFinish(machine.queue));
        OK(piMemRelease(mem));
    }
    CHECK(log.count("never released") == 0);
    CHECK(log.count("parked") == 0);
}
