// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer leak-origin: a leak's report ends with where the object was created.

#include "equipment.hpp"

#include <thread>
#include <utility>

#include <unistd.h>

using namespace layer_test;

// The program exports this name, so that a stack can show it.
extern "C" __attribute__((visibility("default"), noinline)) pi_mem
pi_test_make_the_leak(const Machine &machine, uint64_t size) {
    const pi_mem made = machine.make_buffer(size);
    OK(piMemRetain(made));
    OK(piMemRelease(made));
    return made;
}

namespace {

using Layers = std::vector<std::string>;

std::vector<Layers> either_order() {
    return {{"validate", "leak-origin"}, {"leak-origin", "validate"}};
}
std::vector<Layers> alone_or_behind() {
    return {{"leak-origin"}, {"validate", "leak-origin"}};
}

constexpr const char *maker = "pi_test_make_the_leak+0x";

void close(Machine &machine) {
    OK(piQueueRelease(std::exchange(machine.queue, nullptr)));
    OK(piContextRelease(std::exchange(machine.context, nullptr)));
    machine.loader.reset();
}

/// A run that leaks one buffer.
void leak_one(const Description &description) {
    Machine machine(description);
    OK(piMemRelease(machine.make_buffer(1)));
    pi_test_make_the_leak(machine, 4096);
    close(machine);
}

void *allocate(const Machine &machine, uint64_t size) {
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = PI_USM_SHARED;
    desc.size = size;
    void *pointer = nullptr;
    OK(piUsmAlloc(machine.context, machine.device, &desc, &pointer));
    return pointer;
}

Description quick(Layers layers, CapturedLog &log) {
    Description description = with_layers(std::move(layers), {}, &log);
    description.teardown_timeout = 1;
    return description;
}

} // namespace

TEST_CASE("a leak is reported with the call, its arguments, thread and stack") {
    CapturedLog log;
    leak_one(quick({"leak-origin"}, log));
    INFO(log.all());
    CHECK(log.count(" was never released ", PI_LOG_WARNING) == 1);
    const auto lines =
        log.wait_for({"mem 0x", "was never released (created by piMemBufferCreate, call 2; "
                                "1 reference left)\n    of context 0x"},
                     PI_LOG_WARNING, 1);
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines[0], Catch::Contains(", size 4096, on thread " + std::to_string(::gettid())));
    CHECK_THAT(lines[0], Catch::Contains(maker));
    CHECK_THAT(lines[0], Catch::Contains("(loader_layers_test+0x"));
    // The first frame is the application's.
    CHECK_THAT(lines[0], Catch::Contains("#0 ") && !Catch::Contains("libpi_loader"));
}

TEST_CASE("with the layer validate there is one list, in either order of the layers") {
    const Layers layers = either_order()[GENERATE(0u, 1u)];
    CapturedLog log;
    leak_one(quick(layers, log));
    INFO(log.all());
    CHECK(log.count(" was never released ", PI_LOG_WARNING) == 1);
    const auto lines = log.wait_for({"created by piMemBufferCreate, call 2; 1 reference left)\n"},
                                    PI_LOG_WARNING, 1);
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines[0], Catch::Contains(maker) && !Catch::Contains("libpi_loader"));
}

TEST_CASE("released objects and refused create calls are not reported") {
    const Layers layers = alone_or_behind()[GENERATE(0u, 1u)];
    CapturedLog log;
    {
        Machine machine(with_layers(layers, {}, &log));
        const pi_mem mem = machine.make_buffer(64);
        pi_event done = nullptr;
        OK(machine.fill(mem, 1, 0, 64, 0, &done));
        OK(piEventWait(done, patience));
        OK(piEventRelease(done));
        OK(piMemRelease(mem));
        OK(piEventRelease(machine.make_host_event()));
        OK(piUsmFree(machine.context, allocate(machine, 64)));
        pi_mem none = nullptr;
        CHECK(machine.try_make_buffer(0, &none) == PI_ERROR_INVALID_SIZE);
        close(machine);
    }
    INFO(log.all());
    CHECK(log.count("was never") == 0);
}

TEST_CASE("a release that fails leaves the object and its origin") {
    CapturedLog log;
    {
        Description description = quick({"leak-origin", "fault"}, log);
        description.options = {{"PI_FAULT", "piMemRelease:1=fail(OUT_OF_HOST_MEMORY)"}};
        Machine machine(description);
        const pi_mem mem = machine.make_buffer(64);
        CHECK(piMemRelease(mem) == PI_ERROR_OUT_OF_HOST_MEMORY);
        close(machine);
    }
    INFO(log.all());
    CHECK(log.count("created by piMemBufferCreate, call 1; 1 reference left)\n    of context") ==
          1);
}

TEST_CASE("a USM leak is reported while its context lives") {
    const Layers layers = alone_or_behind()[GENERATE(0u, 1u)];
    CapturedLog log;
    {
        Machine machine(quick(layers, log));
        pi_context gone = machine.make_context();
        std::swap(machine.context, gone);
        allocate(machine, 111);
        OK(piContextRelease(machine.context));
        machine.context = gone;
        allocate(machine, 222);
        OK(piContextRetain(machine.context));
        close(machine);
    }
    INFO(log.all());
    CHECK(log.count("USM memory") == 1);
    CHECK(log.count("was never freed (created by piUsmAlloc, call 2)\n    of context") == 1);
    CHECK(log.count("kind shared, size 222, on thread") == 1);
}

TEST_CASE("an event of a command names the queue and the memory, and its thread") {
    CapturedLog log;
    std::string thread_number;
    {
        Machine machine(quick({"leak-origin"}, log));
        const pi_mem mem = machine.make_buffer(64);
        pi_event left = nullptr;
        pi_result result = PI_ERROR_INTERNAL;
        std::thread([&] {
            thread_number = std::to_string(::gettid());
            result = machine.fill(mem, 1, 0, 64, PI_COMMAND_BLOCKING, &left);
        }).join();
        OK(result);
        OK(piMemRelease(mem));
        close(machine);
    }
    INFO(log.all());
    CHECK(log.wait_for({"event 0x", "created by piEnqueueMemBufferFill, call 1; 1 reference left)",
                        "of queue 0x", ", size 64, mem 0x", "on thread " + thread_number + "\n"},
                       PI_LOG_WARNING, 1)
              .size() == 1);
}

TEST_CASE("the leaks of many threads are reported") {
    constexpr int thread_count = 4;
    CapturedLog log;
    {
        Machine machine(quick({"leak-origin"}, log));
        std::vector<pi_result> results(thread_count, PI_SUCCESS);
        std::vector<std::thread> threads;
        for (int i = 0; i < thread_count; ++i) {
            threads.emplace_back([&, i] {
                for (int round = 0; round < 200 && results[i] == PI_SUCCESS; ++round) {
                    pi_mem mem = nullptr;
                    results[i] = machine.try_make_buffer(16, &mem);
                    if (results[i] == PI_SUCCESS && round != 100)
                        results[i] = piMemRelease(mem);
                }
            });
        }
        for (std::thread &thread : threads)
            thread.join();
        CHECK(results == std::vector<pi_result>(thread_count, PI_SUCCESS));
        close(machine);
    }
    INFO(log.all());
    CHECK(log.count("was never released (created by piMemBufferCreate") == thread_count);
}
