// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's streams and events in PI, and PI's in CUDA: the order of work.
#include "native.hpp"

#include "threads.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

using namespace cuda_test;
namespace own = pi_cuda_test;
using pi_cuda_test::CUstream; // used by the macros of the driver's ABI

namespace {

/// A held command is not carried out for at least this long.
constexpr uint64_t moment = 20'000'000;

own::CUevent vendor_of(pi_event event) {
    return native_of<own::CUevent>(
        [&](pi_native_handle *out) { return piEventGetNativeHandle(event, out); });
}

struct Work {
    const char *name;
    /// Enqueues a command on the queue.
    std::function<void(pi_queue, pi_event *)> enqueue;
};

} // namespace

TEST_CASE("a queue is created around a CUstream, owned or not") {
    const own::Current current(first);
    for (const bool take : {false, true}) {
        own::CUstream stream = nullptr;
        REQUIRE(cu().cuStreamCreateWithPriority(&stream, own::CU_STREAM_NON_BLOCKING, -1) ==
                CUDA_SUCCESS);
        {
            const Machine machine;
            const Owned<pi_queue> queue = queue_around(machine, stream, take);
            CHECK(info<uint64_t>(piQueueGetInfo, queue, PI_QUEUE_INFO_FLAGS) ==
                  PI_QUEUE_PRIORITY_HIGH);
            CHECK(native_of<own::CUstream>([&](pi_native_handle *out) {
                      return piQueueGetNativeHandle(queue, out);
                  }) == stream);
        }
        CHECK((cu().cuStreamQuery(stream) == CUDA_SUCCESS) == !take);
        if (!take)
            REQUIRE(cu().cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
    }
}

TEST_CASE("a queue's priority is its stream's: the device's highest, lowest, or default") {
    const own::Current current(first);
    const Machine machine;
    const auto priority = [&](uint64_t flags) {
        const Owned<pi_queue> queue = machine.queue(first, flags);
        const auto stream = native_of<own::CUstream>(
            [&](pi_native_handle *out) { return piQueueGetNativeHandle(queue, out); });
        int found = -1;
        REQUIRE(cu().cuStreamGetPriority(stream, &found) == CUDA_SUCCESS);
        return found;
    };
    int least = 0, greatest = 0;
    REQUIRE(cu().cuCtxGetStreamPriorityRange(&least, &greatest) == CUDA_SUCCESS);
    REQUIRE(greatest < least); // a lower number is more urgent
    CHECK(priority(PI_QUEUE_PRIORITY_HIGH) == greatest);
    CHECK(priority(PI_QUEUE_PRIORITY_LOW) == least);
    CHECK(priority(0) == 0);
}

TEST_CASE("streams of other contexts, and invalid ones, are refused") {
    const Machine machine;
    const own::Current of_second(second);
    const own::Stream elsewhere;
    Owned<pi_queue> made;
    const auto around = [&](own::CUstream stream, bool take) {
        const auto d = native_desc(PI_NATIVE_CUDA_STREAM, stream, take);
        return piQueueCreateWithNativeHandle(machine.context, machine.devices[first], &d,
                                             made.out());
    };
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "primary one of first", around(elsewhere.handle, true));
    CHECK(cu().cuStreamQuery(elsewhere.handle) == CUDA_SUCCESS);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "CU_STREAM_PER_THREAD",
            around(PI_CUDA_STREAM_PER_THREAD, false));
    REFUSED(PI_ERROR_INVALID_VALUE, "CU_STREAM_LEGACY", around(PI_CUDA_STREAM_LEGACY, true));
    OK(around(PI_CUDA_STREAM_LEGACY, false));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "out of order", [&] {
        pi_native_handle handle{};
        return piQueueGetNativeHandle(machine.queue(first, PI_QUEUE_OUT_OF_ORDER), &handle);
    }());
}

TEST_CASE("commands on every path come after the application's work in the stream") {
    const own::Current current(first);
    const own::Stream stream;
    const Machine machine({first});
    const Owned<pi_queue> around = queue_around(machine, stream.handle), ours = machine.queue();
    const auto given = native_of<own::CUstream>(
        [&](pi_native_handle *out) { return piQueueGetNativeHandle(ours, out); });
    const Owned<pi_mem> mem = machine.buffer(first, 4096);
    auto used = pi::desc<pi_mem_buffer_desc>();
    std::vector<uint32_t> storage(1024, 1), words(1024);
    used.flags = PI_MEM_USE_HOST_PTR;
    used.host_ptr = storage.data();
    used.size = 4096;
    Owned<pi_mem> with_pointer;
    OK(piMemBufferCreate(machine.context, machine.devices[first], &used, with_pointer.out()));
    const uint32_t pattern = 3;
    std::atomic<int> called{0};
    void *mapped = nullptr;
    const pi_region region = range(0, 0, 4096);
    const Work all[] = {
        {"fill",
         [&](pi_queue queue, pi_event *out) {
             const auto d = fill_desc(mem, &pattern, 4, 0, 4096);
             OK(piEnqueueMemBufferFill(queue, &d, 0, nullptr, out));
         }},
        {"read of pageable memory",
         [&](pi_queue queue, pi_event *out) {
             const auto d = read_desc(mem, words.data(), region);
             OK(piEnqueueMemBufferRead(queue, &d, 0, nullptr, out));
         }},
        {"barrier", [&](pi_queue queue,
                        pi_event *out) { OK(piEnqueueBarrier(queue, nullptr, 0, nullptr, out)); }},
        {"host function",
         [&](pi_queue queue, pi_event *out) {
             auto d = pi::desc<pi_host_function_desc>();
             d.function = [](void *count) { ++*static_cast<std::atomic<int> *>(count); };
             d.user_data = &called;
             OK(piEnqueueHostFunction(queue, &d, 0, nullptr, out));
         }},
        {"map of the application's memory",
         [&](pi_queue queue, pi_event *out) {
             const auto d = map_desc(with_pointer, 0, 64, &mapped, PI_MAP_READ);
             OK(piEnqueueMemBufferMap(queue, &d, 0, nullptr, out));
         }},
    };
    for (const auto &[queue, vendor] :
         {std::pair<pi_queue, own::CUstream>{around, stream.handle}, {ours, given}})
        for (const Work &work : all) {
            INFO(work.name);
            Owned<pi_event> event;
            {
                own::Gate gate(vendor);
                work.enqueue(queue, event.out());
                CHECK(piEventWait(event, moment) == PI_ERROR_TIMEOUT);
                gate.open();
            }
            OK(piEventWait(event, patience));
        }
    CHECK(called == 2);
    CHECK(words == std::vector<uint32_t>(1024, pattern));
}

TEST_CASE("a blocking command comes after the application's work in the stream") {
    const own::Current current(first);
    const own::Stream stream;
    const Machine machine({first});
    const Owned<pi_queue> queue = queue_around(machine, stream.handle);
    const Owned<pi_mem> mem = machine.buffer(first, 4 << 20);
    const auto address = native_of<own::CUdeviceptr>([&](pi_native_handle *out) {
        return piMemGetNativeHandle(mem, machine.devices[first], out);
    });
    for (uint32_t round = 1; round < 20; ++round) {
        REQUIRE(cu().cuMemsetD32Async(address, round, 1 << 20, stream.handle) == CUDA_SUCCESS);
        CHECK(read_words(queue, mem, 1 << 20).back() == round);
        REQUIRE(cu().cuMemsetD32Async(address, round, 1 << 20, stream.handle) == CUDA_SUCCESS);
        auto wait = pi::desc<pi_events_wait_desc>();
        wait.flags = PI_COMMAND_BLOCKING;
        OK(piEnqueueEventsWait(queue, &wait, 0, nullptr, nullptr));
        CHECK(cu().cuStreamQuery(stream.handle) == CUDA_SUCCESS);
    }
}

TEST_CASE("a CUevent holds PI's commands until it is complete, on every device") {
    const own::Current current(first);
    const own::Stream stream;
    const own::Event native;
    const Machine machine;
    for (const size_t device : {first, second}) {
        const Owned<pi_queue> queue = machine.queue(device);
        const Owned<pi_mem> mem = machine.buffer(device, 64);
        const uint32_t pattern = 7;
        const auto fill = fill_desc(mem, &pattern, 4, 0, 64);
        own::Gate gate(stream.handle);
        REQUIRE(cu().cuEventRecord(native.handle, stream.handle) == CUDA_SUCCESS);
        const Owned<pi_event> before = event_around(machine, native.handle);
        CHECK(status(before) == PI_EVENT_SUBMITTED);
        CHECK(vendor_of(before) == native.handle);
        Owned<pi_event> behind;
        const pi_event waits[] = {before};
        OK(piEnqueueMemBufferFill(queue, &fill, 1, waits, behind.out()));
        CHECK(piEventWait(behind, moment) == PI_ERROR_TIMEOUT);
        pi_native_handle none{};
        REFUSED(PI_ERROR_INVALID_OPERATION, "held by the plugin",
                piEventGetNativeHandle(behind, &none));
        gate.open();
        OK(piEventWait(behind, patience));
        CHECK(status(before) == PI_EVENT_COMPLETE);
        CHECK(read_words(queue, mem, 16) == std::vector<uint32_t>(16, 7));
    }
}

TEST_CASE("10,000 pending CUevents need at most 4 threads, and all complete") {
    const own::Current current(first);
    const own::Stream stream;
    const std::vector<own::Event> natives(10'000);
    const Machine machine;
    own::Gate gate(stream.handle);
    for (const own::Event &native : natives)
        REQUIRE(cu().cuEventRecord(native.handle, stream.handle) == CUDA_SUCCESS);
    const size_t before = count_threads();
    std::vector<Owned<pi_event>> events;
    for (const own::Event &native : natives)
        events.push_back(event_around(machine, native.handle));
    CHECK(count_threads() <= before + 4);
    CHECK(status(events.back()) == PI_EVENT_SUBMITTED);
    gate.open();
    for (const Owned<pi_event> &event : events)
        OK(piEventWait(event, patience));
}

TEST_CASE("commands behind the application's work in 50 streams need at most 4 threads, and all "
          "complete") {
    const own::Current current(first);
    const std::vector<own::Stream> streams(50);
    const Machine machine({first});
    const Owned<pi_mem> mem = machine.buffer(first, 64 * streams.size());
    const uint32_t pattern = 7;
    std::atomic<unsigned> called{0};
    auto function = pi::desc<pi_host_function_desc>();
    function.function = [](void *count) { ++*static_cast<std::atomic<unsigned> *>(count); };
    function.user_data = &called;
    std::vector<std::unique_ptr<own::Gate>> gates;
    for (const own::Stream &stream : streams)
        gates.push_back(std::make_unique<own::Gate>(stream.handle));
    const size_t before = count_threads();
    std::vector<Owned<pi_queue>> queues;
    std::vector<Owned<pi_event>> events;
    for (const own::Stream &stream : streams) {
        const auto fill = fill_desc(mem, &pattern, 4, 64 * queues.size(), 64);
        queues.push_back(queue_around(machine, stream.handle));
        events.emplace_back();
        OK(piEnqueueMemBufferFill(queues.back(), &fill, 0, nullptr, events.back().out()));
        events.emplace_back();
        OK(piEnqueueHostFunction(queues.back(), &function, 0, nullptr, events.back().out()));
    }
    CHECK(count_threads() <= before + 4);
    CHECK(called == 0);
    while (!gates.empty()) {
        gates.back()->open();
        gates.pop_back();
    }
    for (const Owned<pi_event> &event : events)
        OK(piEventWait(event, patience));
    CHECK(called == streams.size());
}

TEST_CASE("a CUevent is owned or not; one that is complete or never recorded holds nothing") {
    const own::Current current(first);
    const Machine machine;
    for (const bool take : {false, true}) {
        own::CUevent native = nullptr;
        REQUIRE(cu().cuEventCreate(&native, own::CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
        Owned<pi_event> event = event_around(machine, native, take);
        CHECK(status(event) == PI_EVENT_COMPLETE);
        REFUSED(PI_ERROR_INVALID_OPERATION, "", piEventSignalHost(event, PI_SUCCESS));
        event.reset();
        CHECK((cu().cuEventQuery(native) == CUDA_SUCCESS) == !take);
        if (!take)
            REQUIRE(cu().cuEventDestroy_v2(native) == CUDA_SUCCESS);
        const auto gone = native_desc(PI_NATIVE_CUDA_EVENT, native, true);
        REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
                piEventCreateWithNativeHandle(machine.context, &gone, event.out()));
    }
}

TEST_CASE("a PI event's CUevent can be waited for by CUDA, before and after completion") {
    const own::Current current(first);
    const own::Stream stream;
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const auto ours = native_of<own::CUstream>(
        [&](pi_native_handle *out) { return piQueueGetNativeHandle(queue, out); });
    const Owned<pi_mem> mem = machine.buffer(first, 64);
    const uint32_t pattern = 7;
    auto fill = fill_desc(mem, &pattern, 4, 0, 64);
    Owned<pi_event> event;
    own::CUevent native = nullptr;
    {
        own::Gate gate(ours);
        OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, event.out()));
        native = vendor_of(event);
        CHECK(cu().cuEventQuery(native) == own::CUDA_ERROR_NOT_READY);
        REQUIRE(cu().cuStreamWaitEvent(stream.handle, native, 0) == CUDA_SUCCESS);
        CHECK(cu().cuStreamQuery(stream.handle) == own::CUDA_ERROR_NOT_READY);
        gate.open();
    }
    stream.finish();
    OK(piEventWait(event, patience));
    // It stays this event's: other commands get others.
    for (int i = 0; i < 10; ++i) {
        Owned<pi_event> other;
        OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, other.out()));
        CHECK(vendor_of(other) != native);
        OK(piEventWait(other, patience));
    }
    CHECK(vendor_of(event) == native);
    // First queried after completion, also for a command that completed within its call.
    for (const uint64_t flags : {0, int{PI_COMMAND_BLOCKING}}) {
        Owned<pi_event> late;
        fill.flags = flags;
        OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, late.out()));
        OK(piEventWait(late, patience));
        CHECK(cu().cuEventQuery(vendor_of(late)) == CUDA_SUCCESS);
    }
}

TEST_CASE("an event of a command without CUDA work has no CUevent") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    Owned<pi_event> event;
    auto d = pi::desc<pi_host_function_desc>();
    d.function = [](void *) {};
    OK(piEnqueueHostFunction(queue, &d, 0, nullptr, event.out()));
    pi_native_handle handle{};
    REFUSED(PI_ERROR_INVALID_OPERATION, "the plugin carries out itself",
            piEventGetNativeHandle(event, &handle));
    OK(piQueueFinish(queue));
}
