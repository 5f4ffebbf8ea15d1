// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

using namespace ur_test;

namespace {

/// A fill of a new buffer, behind a wait list.
Owned<ur_event_handle_t> enqueue_fill(const Machine &machine, ur_mem_handle_t mem,
                                      std::vector<ur_event_handle_t> waits = {}) {
    const uint32_t pattern = 7;
    Owned<ur_event_handle_t> event;
    OK(ur().Enqueue.pfnMemBufferFill(machine.queue(), mem, &pattern, sizeof pattern, 0, 64,
                                     static_cast<uint32_t>(waits.size()),
                                     waits.empty() ? nullptr : waits.data(), event.out()));
    return event;
}

ur_result_t ask_time(ur_event_handle_t event, ur_profiling_info_t name, uint64_t &out_time) {
    return ur().Event.pfnGetProfilingInfo(event, name, sizeof out_time, &out_time, nullptr);
}

uint64_t time_of(ur_event_handle_t event, ur_profiling_info_t name) {
    uint64_t time = 0;
    OK(ask_time(event, name, time));
    return time;
}

void sleep_shortly(void *) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

} // namespace

TEST_CASE("a callback is called once its event is at or past the status", "[unified_runtime]") {
    constexpr std::array statuses{UR_EXECUTION_INFO_SUBMITTED, UR_EXECUTION_INFO_RUNNING,
                                  UR_EXECUTION_INFO_COMPLETE};
    const Machine machine;
    const auto mem = machine.buffer(64);
    const auto event = enqueue_fill(machine, mem);
    std::array<std::atomic<int>, 4> calls{};
    const auto count = [](ur_event_handle_t, ur_execution_info_t status, void *all) {
        ++(*static_cast<std::array<std::atomic<int>, 4> *>(all))[status];
    };
    for (const ur_execution_info_t status : statuses) {
        OK(ur().Event.pfnSetCallback(event, status, count, &calls));
    }
    FAILS(UNSUPPORTED_ENUMERATION,
          ur().Event.pfnSetCallback(event, UR_EXECUTION_INFO_QUEUED, count, &calls));
    FAILS(INVALID_ENUMERATION,
          ur().Event.pfnSetCallback(event,
                                    static_cast<ur_execution_info_t>(UR_EXECUTION_INFO_QUEUED + 1),
                                    count, &calls));
    OK(ur().Event.pfnWait(1, &event.get_ref()));
    const auto all_called = [&] {
        return std::all_of(statuses.begin(), statuses.end(),
                           [&](ur_execution_info_t status) { return calls[status] == 1; });
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!all_called() && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    CHECK(all_called());
    CHECK(calls[UR_EXECUTION_INFO_QUEUED] == 0);
}

TEST_CASE("the native handle 0 makes an event that is complete", "[unified_runtime]") {
    const Machine machine;
    Owned<ur_event_handle_t> event;
    OK(ur().Event.pfnCreateWithNativeHandle(0, machine.context, nullptr, event.out()));
    CHECK(info<ur_event_status_t>(ur().Event.pfnGetInfo, event.get(),
                                  UR_EVENT_INFO_COMMAND_EXECUTION_STATUS) ==
          UR_EVENT_STATUS_COMPLETE);
    CHECK(info<ur_context_handle_t>(ur().Event.pfnGetInfo, event.get(), UR_EVENT_INFO_CONTEXT) ==
          machine.context.get());
    OK(ur().Event.pfnWait(1, &event.get_ref()));
    const auto mem = machine.buffer(64);
    const auto fill = enqueue_fill(machine, mem, {event});
    OK(ur().Event.pfnWait(1, &fill.get_ref()));
    FAILS(INVALID_EVENT_WAIT_LIST,
          ur().Enqueue.pfnEventsWait(machine.queue(), 0, &event.get_ref(), nullptr));
    uint64_t time = 0;
    FAILS(PROFILING_INFO_NOT_AVAILABLE, ask_time(event, UR_PROFILING_INFO_COMMAND_QUEUED, time));
}

TEST_CASE("native handles denote events and contexts of every driver of a platform",
          "[unified_runtime][native]") {
    const Machine machine(all_devices().size());
    ur_adapter_handle_t adapter = nullptr;
    OK(ur().Adapter.pfnGet(1, &adapter, nullptr));
    for (size_t i = 0; i < machine.devices.size(); ++i) {
        CAPTURE(i);
        const ur_device_handle_t device = machine.devices[i];
        Owned<ur_event_handle_t> event, around;
        OK(ur().Enqueue.pfnEventsWaitWithBarrier(machine.queue(i), 0, nullptr, event.out()));
        OK(ur().Event.pfnWait(1, &event.get_ref()));
        ur_native_handle_t native = 0;
        // A platform of several backends has native handles of one.
        if (ur().Event.pfnGetNativeHandle(event, &native) == UR_RESULT_SUCCESS) {
            OK(ur().Event.pfnCreateWithNativeHandle(native, machine.context, nullptr,
                                                    around.out()));
            OK(ur().Event.pfnWait(1, &around.get_ref()));
        }
        Owned<ur_context_handle_t> context, again;
        OK(ur().Context.pfnCreate(1, &device, nullptr, context.out()));
        if (ur().Context.pfnGetNativeHandle(context, &native) == UR_RESULT_SUCCESS) {
            OK(ur().Context.pfnCreateWithNativeHandle(native, adapter, 1, &device, nullptr,
                                                      again.out()));
            CHECK(info<ur_device_handle_t>(ur().Context.pfnGetInfo, again.get(),
                                           UR_CONTEXT_INFO_DEVICES) == device);
        }
    }
    OK(ur().Adapter.pfnRelease(adapter));
}

TEST_CASE("an event of a profiling queue has its times as soon as it exists",
          "[unified_runtime][host_task]") {
    const Machine machine(1, UR_QUEUE_FLAG_PROFILING_ENABLE);
    const auto mem = machine.buffer(64);
    OK(ur().EnqueueExp.pfnHostTaskExp(machine.queue(), sleep_shortly, nullptr, nullptr, 0, nullptr,
                                      nullptr));
    const auto event = enqueue_fill(machine, mem);
    CHECK(time_of(event, UR_PROFILING_INFO_COMMAND_QUEUED) <=
          time_of(event, UR_PROFILING_INFO_COMMAND_END));
    OK(ur().Queue.pfnFinish(machine.queue()));
}

TEST_CASE("an event of another queue has no times, whatever is asked for", "[unified_runtime]") {
    const Machine machine;
    const auto mem = machine.buffer(64);
    const auto event = enqueue_fill(machine, mem);
    FAILS(PROFILING_INFO_NOT_AVAILABLE,
          ur().Event.pfnGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_QUEUED, sizeof(uint64_t),
                                         nullptr, nullptr));
    OK(ur().Queue.pfnFinish(machine.queue()));
    uint64_t time = 0;
    FAILS(PROFILING_INFO_NOT_AVAILABLE, ask_time(event, UR_PROFILING_INFO_COMMAND_START, time));
    FAILS(INVALID_VALUE, ur().Event.pfnGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_START, 0,
                                                        &time, nullptr));
    FAILS(INVALID_ENUMERATION,
          ask_time(event, static_cast<ur_profiling_info_t>(UR_PROFILING_INFO_COMMAND_COMPLETE + 1),
                   time));
}

TEST_CASE("a recorded timestamp is one moment of the queue and one of the device",
          "[unified_runtime]") {
    const Machine machine;
    const bool blocks = GENERATE(false, true);
    CAPTURE(blocks);
    Owned<ur_event_handle_t> event;
    const ur_result_t result =
        ur().EnqueueExp.pfnTimestampRecordingExp(machine.queue(), blocks, 0, nullptr, event.out());
    REQUIRE((result == UR_RESULT_SUCCESS || result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE));
    if (result == UR_RESULT_SUCCESS) {
        const uint64_t queued = time_of(event, UR_PROFILING_INFO_COMMAND_QUEUED);
        const uint64_t end = time_of(event, UR_PROFILING_INFO_COMMAND_END);
        CHECK(queued == time_of(event, UR_PROFILING_INFO_COMMAND_SUBMIT));
        CHECK(end == time_of(event, UR_PROFILING_INFO_COMMAND_START));
        CHECK(end == time_of(event, UR_PROFILING_INFO_COMMAND_COMPLETE));
        CHECK(queued <= end);
    }
}
