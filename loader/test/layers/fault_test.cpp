// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that injects failures.

#include "equipment.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

using namespace layer_test;

namespace {

Description with_faults(const std::string &specification, CapturedLog *log = nullptr) {
    return with_layers({"fault"}, {{"PI_FAULT", specification}}, log);
}

Bytes counted(std::size_t size) {
    Bytes bytes(size);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
    return bytes;
}

// The program that is run with a fault at every call in turn: a copy of `bytes` through two
// buffers. Returns the result of the first call that fails; releases all its objects.
pi_result copy_through(const Machine &machine, const Bytes &bytes, Bytes &out) {
    pi_mem first = nullptr;
    pi_mem second = nullptr;
    pi_event event = nullptr;
    pi_result result = machine.try_make_buffer(bytes.size(), &first);
    if (result == PI_SUCCESS)
        result = machine.try_make_buffer(bytes.size(), &second);
    if (result == PI_SUCCESS)
        result = machine.write(first, bytes, PI_COMMAND_BLOCKING);
    if (result == PI_SUCCESS)
        result = machine.copy(first, second, {linear(0, 0, bytes.size())}, 0, &event);
    if (result == PI_SUCCESS)
        result = piEventWait(event, patience);
    if (result == PI_SUCCESS)
        out = machine.read(second, bytes.size());
    if (event != nullptr)
        piEventRelease(event);
    if (second != nullptr)
        piMemRelease(second);
    if (first != nullptr)
        piMemRelease(first);
    return result;
}

} // namespace

TEST_CASE("the k-th call of a name fails with the result and a text, and no other") {
    const Machine machine(with_faults("piMemBufferCreate:2=fail(OUT_OF_DEVICE_MEMORY)"));
    const pi_mem first = machine.make_buffer(16);
    pi_mem second = nullptr;
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "piMemBufferCreate: failure injected by the layer fault",
            machine.try_make_buffer(16, &second));
    CHECK(second == nullptr);
    const pi_mem third = machine.make_buffer(16);
    CHECK(machine.calls("piMemBufferCreate") == 3);
    piMemRelease(first);
    piMemRelease(third);
    CHECK(machine.calls("piMemRelease") == 2);
    CHECK(machine.calls("piSamplerCreate") == 0);
}

TEST_CASE("a range of calls fails, and an open one to the end") {
    const Machine machine(with_faults(" piMemBufferCreate : 2..3 = fail(PI_ERROR_DEVICE_LOST) ;; "
                                      "piMemBufferCreate:5..=fail( OUT_OF_RESOURCES );"));
    std::vector<pi_result> results;
    for (int i = 0; i < 7; ++i) {
        pi_mem mem = nullptr;
        results.push_back(machine.try_make_buffer(16, &mem));
        if (mem != nullptr)
            piMemRelease(mem);
    }
    CHECK(results == std::vector<pi_result>{PI_SUCCESS, PI_ERROR_DEVICE_LOST, PI_ERROR_DEVICE_LOST,
                                            PI_SUCCESS, PI_ERROR_OUT_OF_RESOURCES,
                                            PI_ERROR_OUT_OF_RESOURCES, PI_ERROR_OUT_OF_RESOURCES});
}

TEST_CASE("calls are counted separately for each loader") {
    const Machine one(with_faults("piMemBufferCreate:1=fail(BACKEND)"));
    const Machine other(with_faults("piMemBufferCreate:1=fail(BACKEND)"));
    pi_mem mem = nullptr;
    CHECK(one.try_make_buffer(16, &mem) == PI_ERROR_BACKEND);
    CHECK(other.try_make_buffer(16, &mem) == PI_ERROR_BACKEND);
    CHECK(one.calls("piMemBufferCreate") == 1);
}

TEST_CASE("of many threads exactly the k-th call fails") {
    const Machine machine(with_faults("piMemBufferCreate:77=fail(BACKEND)"));
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 50; ++n) {
                pi_mem mem = nullptr;
                if (machine.try_make_buffer(16, &mem) == PI_SUCCESS)
                    piMemRelease(mem);
                else
                    ++failed;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(failed == 1);
    CHECK(machine.calls("piMemBufferCreate") == 200);
}

TEST_CASE("a program is run with a fault at every call in turn") {
    const Bytes bytes = counted(100);
    const char *const functions[] = {"piMemBufferCreate", "piEnqueueMemBufferWrite",
                                     "piEnqueueMemBufferCopy", "piEventWait"};
    std::vector<uint64_t> calls;
    {
        const Machine machine(with_faults(""));
        Bytes out;
        OK(copy_through(machine, bytes, out));
        CHECK(out == bytes);
        for (const char *function : functions)
            calls.push_back(machine.calls(function));
    }
    int tried = 0;
    for (std::size_t i = 0; i < std::size(functions); ++i) {
        for (uint64_t call = 1; call <= calls[i]; ++call, ++tried) {
            const Machine machine(with_faults(std::string(functions[i]) + ":" +
                                              std::to_string(call) + "=fail(OUT_OF_HOST_MEMORY)"));
            Bytes out;
            INFO(functions[i] << ", call " << call);
            CHECK(copy_through(machine, bytes, out) == PI_ERROR_OUT_OF_HOST_MEMORY);
            CHECK_THAT(last_error(), Catch::Contains(functions[i]));
            // No fault is left.
            OK(copy_through(machine, bytes, out));
            CHECK(out == bytes);
        }
    }
    CHECK(tried == 5);
}

TEST_CASE("a command whose event fails is not done, and its waiters fail") {
    const Machine machine(with_faults("piEnqueueMemBufferWrite:2=fail_event(DEVICE_LOST)"));
    const pi_mem mem = machine.make_buffer(Bytes(8, 1));
    pi_event event = nullptr;
    const Bytes other(8, 2);
    OK(machine.write(mem, other, 0, &event));
    REFUSED(PI_ERROR_DEVICE_LOST, "piEnqueueMemBufferWrite: failure injected into this command",
            piEventWait(event, patience));
    CHECK_THAT(error_text(event),
               Catch::Contains("PI_FAULT: \"piEnqueueMemBufferWrite:2=fail_event"));
    CHECK(machine.read(mem, 8) == Bytes(8, 1));
    pi_event waiter = nullptr;
    OK(machine.write(mem, other, 0, &waiter, {event}));
    CHECK(piEventWait(waiter, patience) == PI_ERROR_DEPENDENCY_FAILED);
    // Queue order alone carries no error.
    OK(machine.write(mem, other, PI_COMMAND_BLOCKING));
    OK(piQueueFinish(machine.queue));
    CHECK(machine.read(mem, 8) == other);
    piEventRelease(waiter);
    piEventRelease(event);
    piMemRelease(mem);
}

TEST_CASE("an injected failed event looks like its command's") {
    const Machine machine(with_faults("piEnqueueMemBufferFill:1=fail_event(BACKEND)"));
    const pi_mem mem = machine.make_buffer(8);
    pi_event event = nullptr;
    OK(machine.fill(mem, 1, 0, 8, 0, &event));
    pi_queue queue = nullptr;
    uint32_t command = 0;
    uint64_t size = 0;
    OK(piEventGetInfo(event, PI_EVENT_INFO_QUEUE, sizeof queue, &queue, &size));
    CHECK(queue == machine.queue);
    CHECK(size == sizeof queue);
    OK(piEventGetInfo(event, PI_EVENT_INFO_COMMAND, sizeof command, &command, nullptr));
    CHECK(command == PI_TYPE_BUFFER_FILL_DESC);
    REFUSED(PI_ERROR_INVALID_SIZE, "size is 2",
            piEventGetInfo(event, PI_EVENT_INFO_COMMAND, 2, &command, nullptr));
    REFUSED(PI_ERROR_INVALID_OPERATION, "belongs to a command",
            piEventSignalHost(event, PI_SUCCESS));
    OK(piEventRetain(event));
    OK(piEventRelease(event));
    CHECK(piEventWait(event, patience) == PI_ERROR_BACKEND);
    OK(piEventRelease(event));
    OK(piMemRelease(mem));
}

TEST_CASE("a command whose event fails does so after its wait list, with that one's error if it "
          "has one") {
    const Machine machine(with_faults("piEnqueueMemBufferFill:1..2=fail_event(BACKEND)"));
    const pi_mem mem = machine.make_buffer(8);
    const pi_event gate = machine.make_host_event();
    auto desc = pi::desc<pi_buffer_fill_desc>();
    const unsigned char byte = 1;
    desc.mem = mem;
    desc.pattern = &byte;
    desc.pattern_size = 1;
    desc.size = 8;
    pi_event held = nullptr;
    OK(piEnqueueMemBufferFill(machine.queue, &desc, 1, &gate, &held));
    CHECK(piEventWait(held, 0) == PI_ERROR_TIMEOUT);
    OK(piEventSignalHost(gate, PI_SUCCESS));
    CHECK(piEventWait(held, patience) == PI_ERROR_BACKEND);

    const pi_event failed = machine.make_host_event();
    OK(piEventSignalHost(failed, PI_ERROR_DEVICE_LOST));
    pi_event dependent = nullptr;
    OK(piEnqueueMemBufferFill(machine.queue, &desc, 1, &failed, &dependent));
    CHECK(piEventWait(dependent, patience) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK_THAT(error_text(dependent), !Catch::Contains("layer fault"));
    for (const pi_event event : {gate, held, failed, dependent})
        OK(piEventRelease(event));
    OK(piMemRelease(mem));
}

TEST_CASE("a command whose event fails waits for its wait list and its queue's order only") {
    const std::string faults = "piEnqueueMemBufferFill:1=fail_event(BACKEND);"
                               "piEnqueueMemBufferFill:2=short;"
                               "piEnqueueEventsWait:1=fail_event(BACKEND);"
                               "piEnqueueBarrier:1=fail_event(BACKEND)";
    for (const bool in_order : {false, true}) {
        const Machine machine(with_faults(faults), in_order ? 0 : PI_QUEUE_OUT_OF_ORDER);
        INFO((in_order ? "in order" : "out of order"));
        const pi_mem mem = machine.make_buffer(Bytes(4, 0));
        const pi_event gate = machine.make_host_event();
        const Bytes bytes(4, 1);
        pi_event before = nullptr;
        pi_event failing = nullptr;
        pi_event shortened = nullptr;
        OK(machine.write(mem, bytes, 0, &before, {gate}));
        OK(machine.fill(mem, 1, 0, 4, 0, &failing));
        OK(machine.fill(mem, 1, 0, 1, 0, &shortened)); // half of one byte is none
        for (const pi_event event : {failing, shortened})
            CHECK(piEventWait(event, in_order ? 0 : patience) ==
                  (in_order ? PI_ERROR_TIMEOUT : PI_ERROR_BACKEND));
        // The wait for all earlier commands gets it.
        pi_event wait = nullptr;
        pi_event barrier = nullptr;
        OK(piEnqueueEventsWait(machine.queue, nullptr, 0, nullptr, &wait));
        OK(piEnqueueBarrier(machine.queue, nullptr, 0, nullptr, &barrier));
        CHECK(piEventWait(wait, 30'000'000) == PI_ERROR_TIMEOUT);
        CHECK(piEventWait(barrier, 0) == PI_ERROR_TIMEOUT);
        OK(piEventSignalHost(gate, PI_SUCCESS));
        OK(piEventWait(before, patience));
        for (const pi_event event : {failing, shortened, wait, barrier})
            CHECK(piEventWait(event, patience) == PI_ERROR_BACKEND);
        OK(piQueueFinish(machine.queue));
        for (const pi_event event : {gate, before, failing, shortened, wait, barrier})
            OK(piEventRelease(event));
        OK(piMemRelease(mem));
    }
}

TEST_CASE(
    "a blocking command whose event fails returns its error; without an event it is invisible") {
    const Machine machine(with_faults("piEnqueueMemBufferFill:1..=fail_event(OUT_OF_RESOURCES)"));
    const pi_mem mem = machine.make_buffer(Bytes(8, 7));
    REFUSED(PI_ERROR_OUT_OF_RESOURCES, "the layer fault",
            machine.fill(mem, 1, 0, 8, PI_COMMAND_BLOCKING));
    OK(machine.fill(mem, 1, 0, 8));
    OK(piQueueFinish(machine.queue));
    CHECK(machine.read(mem, 8) == Bytes(8, 7));
    OK(piMemRelease(mem));
}

TEST_CASE("a short command moves the first half of its bytes, then its event fails") {
    const Machine machine(with_faults("piEnqueueMemBufferWrite:2=short;"
                                      "piEnqueueMemBufferCopy:1=short(DEVICE_LOST);"
                                      "piEnqueueMemBufferFill:1=short;"
                                      "piEnqueueMemBufferFill:2=short"));
    const Bytes old(9, 0);
    const Bytes bytes = counted(9);
    const pi_mem mem = machine.make_buffer(old);
    pi_event event = nullptr;
    OK(machine.write(mem, bytes, 0, &event));
    REFUSED(PI_ERROR_BACKEND, "piEnqueueMemBufferWrite", piEventWait(event, patience));
    CHECK(machine.read(mem, 9) == Bytes{1, 2, 3, 4, 0, 0, 0, 0, 0});
    OK(piEventRelease(event));

    // A box of 2 slices, 2 rows and 3 bytes, and another region.
    const Bytes source_bytes = counted(40);
    const pi_mem source = machine.make_buffer(source_bytes);
    const pi_mem target = machine.make_buffer(Bytes(40, 0));
    pi_region box = linear(1, 2, 3);
    box.extent[1] = 2;
    box.extent[2] = 2;
    box.src_pitch[0] = 4;
    box.src_pitch[1] = 10;
    box.dst_pitch[1] = 7;
    REFUSED(PI_ERROR_DEVICE_LOST, "the layer fault",
            machine.copy(source, target, {box, linear(30, 30, 4)}, PI_COMMAND_BLOCKING));
    Bytes expected(40, 0);
    for (std::size_t i = 0; i < 3; ++i) {
        expected[2 + i] = source_bytes[1 + i];
        expected[2 + 3 + i] = source_bytes[1 + 4 + i];
    }
    expected[2 + 7] = source_bytes[1 + 10];
    expected[2 + 7 + 1] = source_bytes[1 + 10 + 1];
    CHECK(machine.read(target, 40) == expected); // 8 of 16 bytes

    CHECK(machine.fill(mem, 9, 1, 8, PI_COMMAND_BLOCKING) == PI_ERROR_BACKEND);
    CHECK(machine.read(mem, 9) == Bytes{1, 9, 9, 9, 9, 0, 0, 0, 0});
    CHECK(machine.fill(mem, 5, 0, 1, PI_COMMAND_BLOCKING) ==
          PI_ERROR_BACKEND); // half of one byte is none
    CHECK(machine.read(mem, 9) == Bytes{1, 9, 9, 9, 9, 0, 0, 0, 0});
    for (const pi_mem one : {mem, source, target})
        OK(piMemRelease(one));
}

TEST_CASE("a short command on images moves whole rows of the first half") {
    const Machine machine(
        with_faults("piEnqueueMemImageWrite:1=short;piEnqueueMemImageFill:2=short"));
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_R;
    desc.channel_type = PI_CHANNEL_UINT8;
    desc.width = 2;
    desc.height = 5;
    pi_mem image = nullptr;
    OK(piMemImageCreate(machine.context, machine.device, &desc, &image));
    const uint32_t black[4] = {};
    const uint32_t white[4] = {9, 9, 9, 9};
    auto fill = pi::desc<pi_image_fill_desc>();
    fill.flags = PI_COMMAND_BLOCKING;
    fill.image = image;
    fill.color = black;
    fill.extent[0] = 2;
    fill.extent[1] = 5;
    OK(piEnqueueMemImageFill(machine.queue, &fill, 0, nullptr, nullptr));
    const auto pixels = [&] {
        pi_image_region all{};
        all.extent[0] = 2;
        all.extent[1] = 5;
        Bytes bytes(10);
        auto read = pi::desc<pi_image_read_desc>();
        read.flags = PI_COMMAND_BLOCKING;
        read.image = image;
        read.host_ptr = bytes.data();
        read.region_count = 1;
        read.regions = &all;
        OK(piEnqueueMemImageRead(machine.queue, &read, 0, nullptr, nullptr));
        return bytes;
    };
    const Bytes bytes = counted(10);
    pi_image_region all{};
    all.extent[0] = 2;
    all.extent[1] = 5;
    auto write = pi::desc<pi_image_write_desc>();
    write.flags = PI_COMMAND_BLOCKING;
    write.image = image;
    write.host_ptr = bytes.data();
    write.region_count = 1;
    write.regions = &all;
    CHECK(piEnqueueMemImageWrite(machine.queue, &write, 0, nullptr, nullptr) == PI_ERROR_BACKEND);
    CHECK(pixels() == Bytes{1, 2, 3, 4, 0, 0, 0, 0, 0, 0});
    fill.color = white;
    CHECK(piEnqueueMemImageFill(machine.queue, &fill, 0, nullptr, nullptr) == PI_ERROR_BACKEND);
    CHECK(pixels() == Bytes{9, 9, 9, 9, 0, 0, 0, 0, 0, 0});
    OK(piMemRelease(image));
}

TEST_CASE("a delayed command delays the commands behind it in its queue") {
    const Machine machine(
        with_faults("piEnqueueMemBufferFill:1=delay(30ms);"
                    "piEnqueueEventsWait:1=delay(30ms);piQueueFlush:1=delay(1ms)"));
    const pi_mem mem = machine.make_buffer(Bytes(4, 0));
    pi_event first = nullptr;
    pi_event second = nullptr;
    const auto begin = std::chrono::steady_clock::now();
    OK(machine.fill(mem, 1, 0, 4, 0, &first));
    OK(machine.fill(mem, 2, 0, 2, 0, &second));
    OK(piQueueFlush(machine.queue));
    OK(piEventWait(second, patience));
    CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(30));
    CHECK(piEventWait(first, 0) == PI_SUCCESS);
    CHECK(machine.read(mem, 4) == Bytes{2, 2, 1, 1});

    // A wait without a list waits for all earlier commands, even if it is delayed.
    const pi_event gate = machine.make_host_event();
    pi_event third = nullptr;
    pi_event wait = nullptr;
    const Bytes threes(4, 3);
    OK(machine.write(mem, threes, 0, &third, {gate}));
    OK(piEnqueueEventsWait(machine.queue, nullptr, 0, nullptr, &wait));
    CHECK(piEventWait(wait, 60'000'000) == PI_ERROR_TIMEOUT);
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(wait, patience));
    for (const pi_event event : {first, second, third, gate, wait})
        OK(piEventRelease(event));
    OK(piMemRelease(mem));
}

TEST_CASE("a long delay ends with the loader") {
    const auto begin = std::chrono::steady_clock::now();
    {
        const Machine machine(with_faults("piEnqueueMemBufferFill:1=delay(3000s)"));
        const pi_mem mem = machine.make_buffer(4);
        OK(machine.fill(mem, 1, 0, 4));
        OK(piMemRelease(mem));
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1000));
}

TEST_CASE("memory whose allocation fails later has its address, and stays until it is freed") {
    const Machine machine(with_faults("piEnqueueUsmAlloc:1=fail_event(DEVICE_LOST);"
                                      "piEnqueueUsmAlloc:2=fail_event(DEVICE_LOST)"));
    void *pointer = nullptr;
    auto desc = pi::desc<pi_usm_alloc_desc>();
    desc.size = 64;
    desc.out_pointer = &pointer;
    pi_event event = nullptr;
    OK(piEnqueueUsmAlloc(machine.queue, &desc, 0, nullptr, &event));
    CHECK(pointer != nullptr);
    CHECK(piEventWait(event, patience) == PI_ERROR_DEVICE_LOST);
    OK(piEventRelease(event));
    OK(piUsmFree(machine.context, pointer));
    // A blocking one fails as a call, and returns no address.
    pointer = nullptr;
    desc.flags = PI_COMMAND_BLOCKING;
    CHECK(piEnqueueUsmAlloc(machine.queue, &desc, 0, nullptr, nullptr) == PI_ERROR_DEVICE_LOST);
    CHECK(pointer == nullptr);
}
