// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that finds misuse of handles.

#include "validate.hpp"

#include <array>
#include <atomic>
#include <thread>

using namespace layer_test;

namespace {

template <typename Get, typename Handle, typename Value>
Value info_of(Get get, Handle handle, uint32_t name, Value value) {
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
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "release each reference once", piMemRelease(second));
    CHECK_THAT(last_error(),
               Catch::StartsWith("piMemRelease: mem 0x") &&
                   Catch::Contains(" was already released (created by piMemBufferCreate, "
                                   "call 2)"));
    CHECK(log.count("was already released (created by piMemBufferCreate, call 2)", PI_LOG_ERROR) ==
          1);
    OK(piMemRelease(first));
    const pi_event event = machine.make_host_event();
    OK(piEventRelease(event));
    REFUSED(PI_ERROR_INVALID_EVENT, "piEventRelease: event 0x", piEventRelease(event));
    const pi_queue queue = machine.make_queue();
    OK(piQueueRelease(queue));
    REFUSED(PI_ERROR_INVALID_QUEUE, "created by piQueueCreate, call 2", piQueueRelease(queue));
    const pi_context context = machine.make_context();
    OK(piContextRelease(context));
    REFUSED(PI_ERROR_INVALID_CONTEXT, "created by piContextCreate, call 2",
            piContextRelease(context));
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
    auto sampler_desc = pi::desc<pi_sampler_desc>();
    pi_sampler sampler = nullptr;
    OK(piSamplerCreate(machine.context, &sampler_desc, &sampler));
    OK(piSamplerRelease(sampler));
    pi_kernel_argument arguments[2] = {};
    arguments[0].kind = PI_ARGUMENT_BUFFER;
    arguments[0].mem = alive;
    arguments[1].kind = PI_ARGUMENT_BUFFER;
    arguments[1].mem = dead;
    auto launch = pi::desc<pi_kernel_launch_desc>();
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
    // A value's bytes are not a handle.
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = dead;
    arguments[1].size = 1;
    OK(enqueue());

    auto pool_desc = pi::desc<pi_usm_pool_desc>();
    pool_desc.kind = PI_USM_DEVICE;
    pi_usm_pool pool = nullptr;
    OK(piUsmPoolCreate(machine.context, machine.device, &pool_desc, &pool));
    auto usm = pi::desc<pi_usm_desc>();
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
    // As without the layer, although the pool still exists.
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

TEST_CASE("a handle of another kind or of another loader is refused and described") {
    const Machine machine(with_layers({"validate"}));
    const Machine other(with_layers({"validate"}));
    const Machine plain(with_layers({}));
    const pi_mem mem = machine.make_buffer(64);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT,
            "is a queue (created by piQueueCreate, call 1); a mem is needed",
            machine.fill(reinterpret_cast<pi_mem>(machine.queue), 1, 0, 8));
    REFUSED(PI_ERROR_INVALID_EVENT,
            "is a mem (created by piMemBufferCreate, call 1); an event is needed",
            piEventWait(reinterpret_cast<pi_event>(mem), 0));
    for (const Machine *another : {&other, &plain}) {
        const pi_mem theirs = another->make_buffer(64);
        REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "is not an object of this instance of plugin \"host\"",
                machine.fill(theirs, 1, 0, 8));
        OK(piMemRelease(theirs));
    }
    // Not even read.
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "mem 0x8 is not an object",
            machine.fill(reinterpret_cast<pi_mem>(uintptr_t{8}), 1, 0, 8));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "NULL", machine.fill(nullptr, 1, 0, 8));
    OK(piMemRelease(mem));
}

TEST_CASE("objects that remain when the loader is released are listed") {
    CapturedLog log;
    {
        Description description = with_layers({"validate"}, {}, &log);
        description.teardown_timeout = 50;
        Machine machine(description);
        const pi_mem mem = machine.make_buffer(64);
        OK(piMemRelease(machine.make_buffer(64)));
        OK(piMemRelease(mem));
        const pi_mem leaked = machine.make_buffer(64);
        OK(piMemRetain(leaked));
        machine.make_host_event();
        OK(piQueueRelease(machine.queue));
        OK(piContextRelease(machine.context));
        machine.queue = nullptr;
        machine.context = nullptr;
        machine.loader.reset();
    }
    CHECK(log.count(" was never released ", PI_LOG_WARNING) == 2);
    CHECK(log.count(" was never released (created by piMemBufferCreate, call 3; 2 references left)",
                    PI_LOG_WARNING) == 1);
    CHECK(log.count(" was never released (created by piEventCreateHost, call 1; 1 reference left)",
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
    CHECK(log.count("already released") == 0);
}

TEST_CASE("objects that use the application's memory are released at once, with their views") {
    const Machine machine(counted());
    alignas(4096) static unsigned char bytes[4096];
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.flags = PI_MEM_USE_HOST_PTR;
    desc.size = sizeof bytes;
    desc.host_ptr = bytes;
    pi_mem used = nullptr;
    OK(piMemBufferCreate(machine.context, machine.device, &desc, &used));
    auto part = pi::desc<pi_mem_partition_desc>();
    part.size = 4096;
    pi_mem view = nullptr;
    OK(piMemBufferPartition(used, &part, &view));
    auto import = pi::desc<pi_mem_import_desc>();
    import.size = sizeof bytes;
    import.handle.type = PI_EXTERNAL_HOST_POINTER;
    import.handle.pointer = bytes;
    pi_mem imported = nullptr;
    OK(piMemImport(machine.context, machine.device, &import, &imported));
    for (const pi_mem mem : {used, view, imported})
        OK(piMemRelease(mem));
    CHECK(machine.calls("piMemRelease") == 3);
    // Later arguments are checked without reading the handle, so it is still known.
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "created by piMemImport, call 1",
            machine.fill(imported, 1, 0, 8));
    // A native table is borrowed, too.
    const Kernel made = make_kernel(machine);
    OK(piKernelRelease(made.kernel));
    OK(piProgramRelease(made.program));
    CHECK(machine.calls("piKernelRelease") == 1);
    CHECK(machine.calls("piProgramRelease") == 1);
}

TEST_CASE("a borrowed handle is valid while its owner lives") {
    const Machine machine(with_layers({"validate"}));
    const pi_context context = machine.make_context();
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = 64;
    pi_mem root = nullptr;
    OK(piMemBufferCreate(context, machine.device, &desc, &root));
    auto part = pi::desc<pi_mem_partition_desc>();
    part.size = 64;
    pi_mem view = nullptr;
    OK(piMemBufferPartition(root, &part, &view));
    OK(piContextRelease(context));
    OK(piMemRelease(root));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "already released", piMemRetain(root));

    CHECK(info_of(&piMemGetInfo, view, PI_MEM_INFO_PARENT, pi_mem{}) == root);
    CHECK(info_of(&piMemGetInfo, root, PI_MEM_INFO_SIZE, uint64_t{}) == 64);
    CHECK(info_of(&piMemGetInfo, root, PI_MEM_INFO_CONTEXT, pi_context{}) == context);
    CHECK(info_of(&piContextGetInfo, context, PI_CONTEXT_INFO_PLATFORM, pi_platform{}) ==
          machine.platform);
    // The application has no reference to release.
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "already released", piMemRelease(root));
    OK(piMemRetain(root));
    OK(piMemRelease(root));
    OK(piMemRelease(view));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "already released", piMemRelease(view));
}

TEST_CASE("reference counts are those of the application") {
    const Machine machine(with_layers({"validate"}));
    const Machine plain(with_layers({}));
    for (const Machine *one : {&machine, &plain}) {
        const pi_context context =
            info_of(&piQueueGetInfo, one->queue, PI_QUEUE_INFO_CONTEXT, pi_context{});
        CHECK(context == one->context);
    }
    CHECK(
        info_of(&piContextGetInfo, machine.context, PI_CONTEXT_INFO_REFERENCE_COUNT, uint32_t{}) ==
        info_of(&piContextGetInfo, plain.context, PI_CONTEXT_INFO_REFERENCE_COUNT, uint32_t{}));
}

TEST_CASE("a callback may use its event, even without other references") {
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
    // Enough later releases for the quarantine to forget it.
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
    REFUSED(PI_ERROR_INVALID_EVENT, "already released", piEventRelease(event));
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
    REFUSED(PI_ERROR_INVALID_OPERATION, "synchronise", piProgramBuild(program, nullptr));
    builder.join();
    pi_kernel kernel = nullptr;
    OK(piKernelCreate(program, "nothing", nullptr, &kernel));
    OK(piKernelRelease(kernel));
    OK(piProgramRelease(program));
}

TEST_CASE("a failed release keeps the reference") {
    CapturedLog log;
    {
        const Machine machine(counted("piMemRelease:1=fail(BACKEND)", &log));
        const pi_mem mem = machine.make_buffer(64);
        OK(piMemRetain(mem));
        CHECK(piMemRelease(mem) == PI_ERROR_BACKEND);
        uint32_t references = 0;
        OK(piMemGetInfo(mem, PI_MEM_INFO_REFERENCE_COUNT, sizeof references, &references, nullptr));
        CHECK(references == 2);
        OK(piMemRelease(mem));
        OK(piMemRelease(mem));
        REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "was already released", piMemRelease(mem));
    }
    CHECK(log.count("never released") == 0);
    CHECK(log.count("parked") == 0);
}

TEST_CASE("other layers do not see validate's own queries as the application's") {
    const Machine machine(
        counted("piMemGetInfo:1..=fail(BACKEND);piContextGetInfo:1..=fail(BACKEND);"
                "piEventGetInfo:1..=fail(BACKEND)"));
    const pi_mem mem = machine.make_buffer(64);
    void *pointer = nullptr;
    auto desc = pi::desc<pi_buffer_map_desc>();
    desc.flags = PI_MAP_READ;
    desc.mem = mem;
    desc.size = 64;
    desc.out_pointer = &pointer;
    OK(piEnqueueMemBufferMap(machine.queue, &desc, 0, nullptr, nullptr));
    OK(piQueueFinish(machine.queue));
    CHECK(machine.fill(mem, 1, 0, 8) == PI_ERROR_INVALID_OPERATION);
    OK(piMemRelease(mem));
    CHECK(machine.calls("piMemGetInfo") == 0);
    CHECK(machine.calls("piEventGetInfo") == 0);
    CHECK(machine.calls("piDeviceGetInfo") == 0);
}
