// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that finds misuse of handles.

#include "equipment.hpp"

#include <pi/pi_native_kernel.h>

#include <array>
#include <atomic>
#include <thread>

using namespace layer_test;

namespace {

constexpr const char *release_twice = ": each reference is released once";

// The layer fault below it counts what the plugin is asked.
Description counted(const std::string &faults = "", CapturedLog *log = nullptr) {
    return with_layers({"validate", "fault"}, {{"PI_FAULT", faults}}, log);
}

void PI_CALL no_work(const pi_native_group *, void *const *) {}

struct Kernel {
    pi_program program = nullptr;
    pi_kernel kernel = nullptr;
};

pi_program make_program(const Machine &machine) {
    static const pi_native_kernel kernels[] = {{"nothing", no_work, 2, 0}};
    static const pi_native_program table = {sizeof table, 1, kernels};
    auto desc = describe<pi_program_desc>(PI_TYPE_PROGRAM_DESC);
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &table;
    desc.size = sizeof table;
    pi_program program = nullptr;
    OK(piProgramCreate(machine.context, &desc, &program));
    return program;
}

Kernel make_kernel(const Machine &machine) {
    Kernel made;
    made.program = make_program(machine);
    OK(piProgramBuild(made.program, nullptr));
    OK(piKernelCreate(made.program, "nothing", &made.kernel));
    return made;
}

template <typename Get, typename Handle, typename Value>
Value told(Get get, Handle handle, uint32_t name, Value value) {
    OK(get(handle, name, sizeof value, &value, nullptr));
    return value;
}

} // namespace

TEST_CASE("a second release is refused and says what the object was") {
    CapturedLog log;
    const Machine machine(with_layers({"validate"}, {}, &log));
    const pi_mem first = machine.make_buffer(16);
    const pi_mem second = machine.make_buffer(16);
    OK(piMemRetain(second));
    OK(piMemRelease(second));
    OK(piMemRelease(second));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, release_twice, piMemRelease(second));
    CHECK_THAT(last_text(), Catch::StartsWith("piMemRelease: mem 0x") &&
                                Catch::Contains(" was released already (made by piMemBufferCreate, "
                                                "call 2)"));
    CHECK(log.count("was released already (made by piMemBufferCreate, call 2)", PI_LOG_ERROR) == 1);
    OK(piMemRelease(first));
    const pi_event event = machine.make_host_event();
    OK(piEventRelease(event));
    REFUSED(PI_ERROR_INVALID_EVENT, "piEventRelease: event 0x", piEventRelease(event));
    const pi_queue queue = machine.make_queue();
    OK(piQueueRelease(queue));
    REFUSED(PI_ERROR_INVALID_QUEUE, "made by piQueueCreate, call 2", piQueueRelease(queue));
    const pi_context context = machine.make_context();
    OK(piContextRelease(context));
    REFUSED(PI_ERROR_INVALID_CONTEXT, "made by piContextCreate, call 2", piContextRelease(context));
}

TEST_CASE("a released object is refused in every position, with its name") {
    const Machine machine(with_layers({"validate"}));
    const pi_mem dead = machine.make_buffer(64);
    const pi_mem alive = machine.make_buffer(64);
    const Bytes bytes(64, 1);
    OK(piMemRelease(dead));
    uint64_t size = 0;
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "piMemGetInfo: mem 0x",
            piMemGetInfo(dead, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "piMemRetain: mem 0x", piMemRetain(dead));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "piEnqueueMemBufferWrite: desc->mem: mem 0x",
            machine.write(dead, bytes));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "desc->src: mem 0x",
            machine.copy(dead, alive, {linear(0, 0, 8)}));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "desc->dst: mem 0x",
            machine.copy(alive, dead, {linear(0, 0, 8)}));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "desc->mem", machine.fill(dead, 1, 0, 8));

    const pi_event event = machine.make_host_event();
    const pi_event signalled = machine.make_host_event();
    OK(piEventSignalHost(signalled, PI_SUCCESS));
    OK(piEventRelease(event));
    REFUSED(PI_ERROR_INVALID_EVENT, "wait_list[1]: event 0x",
            machine.write(alive, bytes, 0, nullptr, {signalled, event}));
    REFUSED(PI_ERROR_INVALID_EVENT, "piEventSignalHost: event 0x",
            piEventSignalHost(event, PI_SUCCESS));
    REFUSED(PI_ERROR_INVALID_EVENT, "piEventWait", piEventWait(event, 0));

    const pi_queue queue = machine.make_queue();
    OK(piQueueRelease(queue));
    REFUSED(PI_ERROR_INVALID_QUEUE, "piQueueFinish: queue 0x", piQueueFinish(queue));
    REFUSED(PI_ERROR_INVALID_QUEUE, "piEnqueueBarrier: queue 0x",
            piEnqueueBarrier(queue, nullptr, 0, nullptr, nullptr));
    const pi_context context = machine.make_context();
    OK(piContextRelease(context));
    pi_queue other = nullptr;
    REFUSED(PI_ERROR_INVALID_CONTEXT, "piQueueCreate: context 0x",
            piQueueCreate(context, machine.device, nullptr, &other));
    CHECK(other == nullptr);
    for (const pi_event one : {signalled})
        OK(piEventRelease(one));
    OK(piMemRelease(alive));
}

TEST_CASE("released arguments of kernels, pools and sub-devices are found inside of descriptors") {
    const Machine machine(with_layers({"validate"}));
    const Kernel made = make_kernel(machine);
    const pi_mem alive = machine.make_buffer(64);
    const pi_mem dead = machine.make_buffer(64);
    OK(piMemRelease(dead));
    auto sampler_desc = describe<pi_sampler_desc>(PI_TYPE_SAMPLER_DESC);
    pi_sampler sampler = nullptr;
    OK(piSamplerCreate(machine.context, &sampler_desc, &sampler));
    OK(piSamplerRelease(sampler));
    pi_kernel_argument arguments[2] = {};
    arguments[0].kind = PI_ARGUMENT_BUFFER;
    arguments[0].mem = alive;
    arguments[1].kind = PI_ARGUMENT_BUFFER;
    arguments[1].mem = dead;
    auto launch = describe<pi_kernel_launch_desc>(PI_TYPE_KERNEL_LAUNCH_DESC);
    launch.kernel = made.kernel;
    launch.dimensions = 1;
    launch.global_size[0] = 1;
    launch.argument_count = 2;
    launch.arguments = arguments;
    const auto enqueue = [&] {
        return piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr);
    };
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "desc->arguments[1]: mem 0x", enqueue());
    arguments[1].kind = PI_ARGUMENT_SAMPLER;
    arguments[1].sampler = sampler;
    REFUSED(PI_ERROR_INVALID_SAMPLER, "desc->arguments[1]: sampler 0x", enqueue());
    arguments[1].mem = alive;
    arguments[1].kind = PI_ARGUMENT_BUFFER;
    OK(enqueue());
    // A value's bytes are nobody's handle.
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = dead;
    arguments[1].size = 1;
    OK(enqueue());

    auto pool_desc = describe<pi_usm_pool_desc>(PI_TYPE_USM_POOL_DESC);
    pool_desc.kind = PI_USM_DEVICE;
    pi_usm_pool pool = nullptr;
    OK(piUsmPoolCreate(machine.context, machine.device, &pool_desc, &pool));
    auto usm = describe<pi_usm_desc>(PI_TYPE_USM_DESC);
    usm.kind = PI_USM_DEVICE;
    usm.size = 64;
    usm.pool = pool;
    void *pointer = nullptr;
    OK(piUsmAlloc(machine.context, machine.device, &usm, &pointer));
    pi_usm_pool answered = nullptr;
    OK(piUsmGetInfo(machine.context, pointer, PI_USM_INFO_POOL, sizeof answered, &answered,
                    nullptr));
    CHECK(answered == pool);
    OK(piUsmPoolRelease(pool));
    // As without the layer, although the pool is still there.
    OK(piUsmGetInfo(machine.context, pointer, PI_USM_INFO_POOL, sizeof answered, &answered,
                    nullptr));
    CHECK(answered == nullptr);
    void *second = nullptr;
    REFUSED(PI_ERROR_INVALID_USM_POOL, "piUsmAlloc: desc->pool: pool 0x",
            piUsmAlloc(machine.context, machine.device, &usm, &second));
    OK(piUsmFree(machine.context, pointer));

    OK(piKernelRelease(made.kernel));
    OK(piProgramRelease(made.program));
    OK(piMemRelease(alive));
}

TEST_CASE("a handle of another kind or of another loader is refused by what it is") {
    const Machine machine(with_layers({"validate"}));
    const Machine other(with_layers({"validate"}));
    const Machine plain(with_layers({}));
    const pi_mem mem = machine.make_buffer(64);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT,
            "is a queue (made by piQueueCreate, call 1); should be a mem",
            machine.fill(reinterpret_cast<pi_mem>(machine.queue), 1, 0, 8));
    REFUSED(PI_ERROR_INVALID_EVENT,
            "is a mem (made by piMemBufferCreate, call 1); should be an event",
            piEventWait(reinterpret_cast<pi_event>(mem), 0));
    for (const Machine *foreign : {&other, &plain}) {
        const pi_mem theirs = foreign->make_buffer(64);
        REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "is no object of this instance of the plugin \"host\"",
                machine.fill(theirs, 1, 0, 8));
        OK(piMemRelease(theirs));
    }
    // Not even looked at.
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "mem 0x8 is no object",
            machine.fill(reinterpret_cast<pi_mem>(uintptr_t{8}), 1, 0, 8));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "NULL", machine.fill(nullptr, 1, 0, 8));
    OK(piMemRelease(mem));
}

TEST_CASE("what is left when the loader is released is listed") {
    CapturedLog log;
    {
        Description description = with_layers({"validate"}, {}, &log);
        description.teardown_timeout = 50;
        const Machine machine(description);
        const pi_mem mem = machine.make_buffer(64);
        OK(piMemRelease(machine.make_buffer(64)));
        OK(piMemRelease(mem));
        const pi_mem leaked = machine.make_buffer(64);
        OK(piMemRetain(leaked));
        machine.make_host_event();
        OK(piQueueRelease(machine.queue));
        OK(piContextRelease(machine.context));
        Machine *gone = const_cast<Machine *>(&machine);
        gone->queue = nullptr;
        gone->context = nullptr;
        gone->loader.reset();
    }
    CHECK(log.count(" was never released ", PI_LOG_WARNING) == 2);
    CHECK(log.count(" was never released (made by piMemBufferCreate, call 3; 2 references left)",
                    PI_LOG_WARNING) == 1);
    CHECK(log.count(" was never released (made by piEventCreateHost, call 1; 1 reference left)",
                    PI_LOG_WARNING) == 1);
}

TEST_CASE("without a leak nothing is listed, and the plugin is torn down at once") {
    CapturedLog log;
    {
        const Machine machine(with_layers({"validate"}, {}, &log));
        for (int i = 0; i < 10; ++i)
            OK(piMemRelease(machine.make_buffer(64)));
    }
    CHECK(log.count("never released") == 0);
    CHECK(log.count("parked") == 0);
    CHECK(log.count("released already") == 0);
}

TEST_CASE("the quarantine keeps at most 1024 objects, the newest") {
    const Machine machine(counted());
    pi_mem last = nullptr;
    for (int i = 0; i < 3000; ++i) {
        last = machine.make_buffer(16);
        OK(piMemRelease(last));
    }
    CHECK(machine.calls("piMemRelease") == 3000 - 1024);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "call 3000", piMemRelease(last));
}

TEST_CASE("the quarantine keeps at most 64 MiB, and large memory not at all") {
    const Machine machine(counted());
    constexpr uint64_t mebibyte = 1 << 20;
    for (int i = 0; i < 20; ++i)
        OK(piMemRelease(machine.make_buffer(16 * mebibyte)));
    CHECK(machine.calls("piMemRelease") == 16);
    OK(piMemRelease(machine.make_buffer(17 * mebibyte)));
    CHECK(machine.calls("piMemRelease") == 17);
    // A view keeps all of its root.
    auto desc = describe<pi_mem_partition_desc>(PI_TYPE_MEM_PARTITION_DESC);
    desc.size = 64;
    pi_mem view = nullptr;
    const pi_mem root = machine.make_buffer(17 * mebibyte);
    OK(piMemBufferPartition(root, &desc, &view));
    OK(piMemRelease(root));
    OK(piMemRelease(view));
    CHECK(machine.calls("piMemRelease") == 19);
}

TEST_CASE("a creation that finds no memory gets that of the quarantine") {
    const Machine machine(counted("piMemBufferCreate:3..4=fail(OUT_OF_DEVICE_MEMORY)"));
    OK(piMemRelease(machine.make_buffer(64)));
    OK(piMemRelease(machine.make_buffer(64)));
    CHECK(machine.calls("piMemRelease") == 0);
    pi_mem mem = nullptr;
    // Tried again once; then it is the application's to know.
    CHECK(machine.try_make_buffer(64, &mem) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(machine.calls("piMemRelease") == 2);
    CHECK(machine.calls("piMemBufferCreate") == 4);
    OK(machine.try_make_buffer(64, &mem));
    OK(piMemRelease(mem));
}

TEST_CASE(
    "what is made of the application's memory is given back at once, with what is made of it") {
    const Machine machine(counted());
    alignas(4096) static unsigned char bytes[4096];
    auto desc = describe<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
    desc.flags = PI_MEM_USE_HOST_PTR;
    desc.size = sizeof bytes;
    desc.host_ptr = bytes;
    pi_mem used = nullptr;
    OK(piMemBufferCreate(machine.context, machine.device, &desc, &used));
    auto part = describe<pi_mem_partition_desc>(PI_TYPE_MEM_PARTITION_DESC);
    part.size = 4096;
    pi_mem view = nullptr;
    OK(piMemBufferPartition(used, &part, &view));
    auto import = describe<pi_mem_import_desc>(PI_TYPE_MEM_IMPORT_DESC);
    import.size = sizeof bytes;
    import.handle.type = PI_EXTERNAL_HOST_POINTER;
    import.handle.pointer = bytes;
    pi_mem imported = nullptr;
    OK(piMemImport(machine.context, machine.device, &import, &imported));
    for (const pi_mem mem : {used, view, imported})
        OK(piMemRelease(mem));
    CHECK(machine.calls("piMemRelease") == 3);
    // In other positions than the first the handle is not looked at, so it is still found.
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "made by piMemImport, call 1",
            machine.fill(imported, 1, 0, 8));
    // A native table is borrowed, too.
    const Kernel made = make_kernel(machine);
    OK(piKernelRelease(made.kernel));
    OK(piProgramRelease(made.program));
    CHECK(machine.calls("piKernelRelease") == 1);
    CHECK(machine.calls("piProgramRelease") == 1);
}

TEST_CASE("a host event is abandoned by its last release, and a queue flushed by its own") {
    const Machine machine(counted());
    const pi_mem mem = machine.make_buffer(Bytes(4, 0));
    const pi_queue queue = machine.make_queue();
    const pi_event gate = machine.make_host_event();
    pi_event held = nullptr;
    OK(piEnqueueEventsWait(queue, nullptr, 1, &gate, &held));
    OK(piEventRelease(gate));
    CHECK(piEventWait(held, patience) == PI_ERROR_DEPENDENCY_FAILED);
    OK(piEventRelease(held));
    CHECK(machine.calls("piQueueFlush") == 0);
    OK(piQueueRelease(queue));
    CHECK(machine.calls("piQueueFlush") == 1);
    // One that was signalled keeps its result.
    const pi_event signalled = machine.make_host_event();
    OK(piEventSignalHost(signalled, PI_SUCCESS));
    OK(piEventRelease(signalled));
    OK(piMemRelease(mem));
}

TEST_CASE("what another object lends may be used as long as that lives") {
    const Machine machine(with_layers({"validate"}));
    const pi_context context = machine.make_context();
    auto desc = describe<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
    desc.size = 64;
    pi_mem root = nullptr;
    OK(piMemBufferCreate(context, machine.device, &desc, &root));
    auto part = describe<pi_mem_partition_desc>(PI_TYPE_MEM_PARTITION_DESC);
    part.size = 64;
    pi_mem view = nullptr;
    OK(piMemBufferPartition(root, &part, &view));
    OK(piContextRelease(context));
    OK(piMemRelease(root));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "released already", piMemRetain(root));

    CHECK(told(&piMemGetInfo, view, PI_MEM_INFO_PARENT, pi_mem{}) == root);
    CHECK(told(&piMemGetInfo, root, PI_MEM_INFO_SIZE, uint64_t{}) == 64);
    CHECK(told(&piMemGetInfo, root, PI_MEM_INFO_CONTEXT, pi_context{}) == context);
    CHECK(told(&piContextGetInfo, context, PI_CONTEXT_INFO_PLATFORM, pi_platform{}) ==
          machine.platform);
    // It is nobody's to release.
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "released already", piMemRelease(root));
    OK(piMemRetain(root));
    OK(piMemRelease(root));
    OK(piMemRelease(view));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "released already", piMemRelease(view));
}

TEST_CASE("reference counts are those of the application") {
    const Machine machine(with_layers({"validate"}));
    const Machine plain(with_layers({}));
    for (const Machine *one : {&machine, &plain}) {
        const pi_context context =
            told(&piQueueGetInfo, one->queue, PI_QUEUE_INFO_CONTEXT, pi_context{});
        CHECK(context == one->context);
    }
    CHECK(told(&piContextGetInfo, machine.context, PI_CONTEXT_INFO_REFERENCE_COUNT, uint32_t{}) ==
          told(&piContextGetInfo, plain.context, PI_CONTEXT_INFO_REFERENCE_COUNT, uint32_t{}));
}

TEST_CASE("a callback may use its event, also when nobody else has it") {
    const Machine machine(with_layers({"validate"}));
    struct Seen {
        std::atomic<int> calls{0};
        pi_result status = PI_ERROR_INTERNAL;
        pi_result retained = PI_ERROR_INTERNAL;
    } seen;
    const pi_event gate = machine.make_host_event();
    pi_event event = nullptr;
    OK(piEnqueueEventsWait(machine.queue, nullptr, 1, &gate, &event));
    OK(piEventSetCallback(
        event,
        [](pi_event done, pi_result, void *user_data) {
            auto *out = static_cast<Seen *>(user_data);
            uint32_t status = 0;
            out->status =
                piEventGetInfo(done, PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr);
            out->retained = piEventRetain(done);
            ++out->calls;
        },
        &seen));
    OK(piEventRelease(event));
    // So much comes after it that the quarantine has forgotten it.
    for (int i = 0; i < 1100; ++i)
        OK(piEventRelease(machine.make_host_event()));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piQueueFinish(machine.queue));
    while (seen.calls == 0)
        std::this_thread::yield();
    CHECK(seen.status == PI_SUCCESS);
    CHECK(seen.retained == PI_SUCCESS);
    OK(piEventWait(event, patience)); // retained
    OK(piEventRelease(event));
    REFUSED(PI_ERROR_INVALID_EVENT, "released already", piEventRelease(event));
    OK(piEventRelease(gate));
    pi_event again = machine.make_host_event();
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "", piEventSetCallback(again, nullptr, nullptr));
    OK(piEventRelease(again));
}

TEST_CASE("two builds of one program at once are refused") {
    const Machine machine(counted("piProgramBuild:1=delay(300ms)"));
    const pi_program program = make_program(machine);
    std::thread builder([&] { piProgramBuild(program, nullptr); });
    while (machine.calls("piProgramBuild") == 0)
        std::this_thread::yield();
    REFUSED(PI_ERROR_INVALID_OPERATION, "externally synchronised",
            piProgramBuild(program, nullptr));
    builder.join();
    pi_kernel kernel = nullptr;
    OK(piKernelCreate(program, "nothing", &kernel));
    OK(piKernelRelease(kernel));
    OK(piProgramRelease(program));
}

TEST_CASE("many threads make, share and release objects") {
    CapturedLog log;
    std::atomic<int> failed{0};
    {
        const Machine machine(with_layers({"validate"}, {}, &log));
        const pi_mem shared = machine.make_buffer(64);
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (int n = 0; n < 500; ++n) {
                    pi_mem mem = nullptr;
                    pi_event event = nullptr;
                    failed += machine.try_make_buffer(16, &mem) != PI_SUCCESS;
                    failed += piMemRetain(shared) != PI_SUCCESS;
                    failed += machine.fill(mem, 1, 0, 16, 0, &event) != PI_SUCCESS;
                    failed += piMemRelease(shared) != PI_SUCCESS;
                    failed += piMemRelease(mem) != PI_SUCCESS;
                    failed += piEventWait(event, patience) != PI_SUCCESS;
                    failed += piEventRelease(event) != PI_SUCCESS;
                }
            });
        for (std::thread &thread : threads)
            thread.join();
        OK(piMemRelease(shared));
    }
    CHECK(failed == 0);
    CHECK(log.count("never released") == 0);
}
