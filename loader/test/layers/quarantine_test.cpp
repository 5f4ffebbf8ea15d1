// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The quarantine of the layer validate: its contents, its bounds, and its visible effects.

#include "validate.hpp"

#include <atomic>
#include <thread>

using namespace layer_test;

TEST_CASE("the quarantine has at most 1024 objects, the newest") {
    const Machine machine(counted());
    pi_mem last = nullptr;
    for (int i = 0; i < 3000; ++i) {
        last = machine.make_buffer(16);
        OK(piMemRelease(last));
    }
    CHECK(machine.calls("piMemRelease") == 3000 - 1024);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "call 3000", piMemRelease(last));
}

TEST_CASE("the quarantine has at most 64 MiB, and no large memory") {
    const Machine machine(counted());
    constexpr uint64_t mebibyte = 1 << 20;
    for (int i = 0; i < 20; ++i)
        OK(piMemRelease(machine.make_buffer(16 * mebibyte)));
    CHECK(machine.calls("piMemRelease") == 16);
    OK(piMemRelease(machine.make_buffer(17 * mebibyte)));
    CHECK(machine.calls("piMemRelease") == 17);
    // A view keeps its whole root alive.
    auto desc = pi::desc<pi_mem_partition_desc>();
    desc.size = 64;
    pi_mem view = nullptr;
    const pi_mem root = machine.make_buffer(17 * mebibyte);
    OK(piMemBufferPartition(root, &desc, &view));
    OK(piMemRelease(root));
    OK(piMemRelease(view));
    CHECK(machine.calls("piMemRelease") == 19);
}

TEST_CASE("a create call that runs out of memory empties the quarantine") {
    const Machine machine(counted("piMemBufferCreate:3..4=fail(OUT_OF_DEVICE_MEMORY)"));
    OK(piMemRelease(machine.make_buffer(64)));
    OK(piMemRelease(machine.make_buffer(64)));
    CHECK(machine.calls("piMemRelease") == 0);
    pi_mem mem = nullptr;
    // Tried again once; then the application gets the error.
    CHECK(machine.try_make_buffer(64, &mem) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(machine.calls("piMemRelease") == 2);
    CHECK(machine.calls("piMemBufferCreate") == 4);
    OK(machine.try_make_buffer(64, &mem));
    OK(piMemRelease(mem));
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
    // A signalled one keeps its result.
    const pi_event signalled = machine.make_host_event();
    OK(piEventSignalHost(signalled, PI_SUCCESS));
    OK(piEventRelease(signalled));
    OK(piMemRelease(mem));
}

TEST_CASE("many threads create, share and release objects") {
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

TEST_CASE("creating a context on a lost device empties the quarantine and is tried again") {
    const Machine machine(counted("piContextCreate:3..4=fail(DEVICE_LOST);"
                                  "piMemBufferCreate:1=fail(DEVICE_LOST)"));
    OK(piContextRelease(machine.make_context()));
    // In a context that is not lost the quarantine does not matter.
    pi_mem mem = nullptr;
    CHECK(machine.try_make_buffer(64, &mem) == PI_ERROR_DEVICE_LOST);
    CHECK(machine.calls("piMemBufferCreate") == 1);
    CHECK(machine.calls("piContextRelease") == 0);
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &machine.device;
    pi_context context = nullptr;
    CHECK(piContextCreate(machine.platform, &desc, &context) == PI_ERROR_DEVICE_LOST);
    CHECK(machine.calls("piContextRelease") == 1);
    CHECK(machine.calls("piContextCreate") == 4);
    OK(piContextCreate(machine.platform, &desc, &context));
    OK(piContextRelease(context));
}

TEST_CASE("an allocation of a queue that runs out of memory empties the quarantine") {
    const Machine machine(counted("piEnqueueUsmAlloc:1=fail(OUT_OF_DEVICE_MEMORY);"
                                  "piEnqueueUsmAlloc:3..4=fail(OUT_OF_RESOURCES)"));
    OK(piMemRelease(machine.make_buffer(64)));
    void *pointer = nullptr;
    auto desc = pi::desc<pi_usm_alloc_desc>();
    desc.size = 64;
    desc.out_pointer = &pointer;
    OK(piEnqueueUsmAlloc(machine.queue, &desc, 0, nullptr, nullptr));
    CHECK(pointer != nullptr);
    CHECK(machine.calls("piMemRelease") == 1);
    CHECK(machine.calls("piEnqueueUsmAlloc") == 2);
    OK(piQueueFinish(machine.queue));
    // A failed one leaves the address variable unchanged.
    void *const first = pointer;
    OK(piMemRelease(machine.make_buffer(64)));
    CHECK(piEnqueueUsmAlloc(machine.queue, &desc, 0, nullptr, nullptr) ==
          PI_ERROR_OUT_OF_RESOURCES);
    CHECK(machine.calls("piEnqueueUsmAlloc") == 4);
    CHECK(pointer == first);
    OK(piUsmFree(machine.context, first));
}
