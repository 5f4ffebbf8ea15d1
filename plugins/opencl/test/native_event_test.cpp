// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events in both directions: OpenCL's in PI's wait lists, PI's in OpenCL's.
#include "native.hpp"

#include "threads.hpp"

#include <atomic>
#include <thread>

using namespace opencl_test;

namespace {

/// Waits until clSetUserEventStatus or the like has taken effect in all threads.
cl_int end_of(cl_event event) {
    const cl_event list[] = {event};
    clWaitForEvents(1, list);
    return ask<cl_int>(clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
}

} // namespace

TEST_CASE("an OpenCL user event holds PI's commands until it completes") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        for (const uint64_t flags : {0, static_cast<int>(PI_QUEUE_OUT_OF_ORDER)}) {
            const Place place(device, flags);
            const ClEvent user = make_user_event(vendor_of(place.context));
            const Event gate = event_around(place.context, user);
            CHECK(pi_test::status(gate) == PI_EVENT_SUBMITTED);
            const Mem mem = place.buffer(100);
            set_contents(place.queue, mem, std::vector<uint8_t>(100, 1));
            const uint8_t two = 2;
            const Event first = fill(place.queue, mem, &two, 1, 0, 100, {{gate}});
            const Event second = fill(place.queue, mem, &two, 1, 0, 50, {{first}});
            std::atomic<int> called{0};
            OK(piEventSetCallback(
                gate,
                [](pi_event, pi_result result, void *data) {
                    *static_cast<std::atomic<int> *>(data) = result == PI_SUCCESS ? 1 : 2;
                },
                &called));
            CHECK(piEventWait(second, 10'000'000) == PI_ERROR_TIMEOUT);
            CHECK(pi_test::status(first) == PI_EVENT_QUEUED);
            cl_ok(clSetUserEventStatus(user, CL_COMPLETE));
            wait(second);
            wait(gate);
            CHECK(contents(place.queue, mem) == std::vector<uint8_t>(100, 2));
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
            while (!called && std::chrono::steady_clock::now() < end)
                std::this_thread::yield();
            CHECK(called == 1);
        }
    }
}

TEST_CASE("10,000 pending OpenCL user events need at most 4 threads, and all complete") {
    constexpr size_t count = 10'000;
    Loader loader;
    const Place place(loader.devices().front());
    std::vector<ClEvent> users;
    for (size_t i = 0; i < count; ++i)
        users.push_back(make_user_event(vendor_of(place.context)));
    const size_t before = pi_test::count_threads();
    std::vector<Event> events;
    for (const ClEvent &user : users)
        events.push_back(event_around(place.context, user));
    CHECK(pi_test::count_threads() <= before + 4);
    // The last ones first, and one that fails.
    for (size_t i = count; i-- > 0;)
        cl_ok(clSetUserEventStatus(users[i], i == 5000 ? CL_OUT_OF_RESOURCES : CL_COMPLETE));
    for (size_t i = 0; i < count; ++i)
        if (i == 5000)
            wait_failure(events[i], PI_ERROR_OUT_OF_RESOURCES, {"CL_OUT_OF_RESOURCES"});
        else
            wait(events[i]);
}

TEST_CASE("an OpenCL command that was not flushed completes once PI has its event") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const auto queue = vendor_of(place.queue);
        cl_event raw = nullptr;
        cl_ok(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &raw));
        const ClEvent marker(raw);
        wait(event_around(place.context, marker));
    }
}

TEST_CASE("a failed cl_event fails dependent PI commands with its code") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(100);
        set_contents(place.queue, mem, std::vector<uint8_t>(100, 1));
        const uint8_t two = 2;
        for (const bool before : {true, false}) {
            const ClEvent user = make_user_event(vendor_of(place.context));
            if (before)
                cl_ok(clSetUserEventStatus(user, CL_OUT_OF_RESOURCES));
            const Event gate = event_around(place.context, user);
            const Event behind = fill(place.queue, mem, &two, 1, 0, 100, {{gate}});
            if (!before)
                cl_ok(clSetUserEventStatus(user, CL_OUT_OF_RESOURCES));
            wait_failure(gate, PI_ERROR_OUT_OF_RESOURCES, {"cl_event", "CL_OUT_OF_RESOURCES"});
            wait_failure(behind, PI_ERROR_DEPENDENCY_FAILED, {"CL_OUT_OF_RESOURCES"});
            CHECK(contents(place.queue, mem) == std::vector<uint8_t>(100, 1));
        }
        // A code that OpenCL does not define.
        const ClEvent odd = make_user_event(vendor_of(place.context));
        cl_ok(clSetUserEventStatus(odd, -4242));
        wait_failure(event_around(place.context, odd), PI_ERROR_BACKEND, {"-4242"});
    }
}

TEST_CASE("an OpenCL command is waited for, and its times are reported") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        if (!waits_for_user_events(device))
            continue;
        const Place place(device);
        const cl_context context = vendor_of(place.context);
        const ClQueue queue = make_cl_queue(context, vendor_of(device), CL_QUEUE_PROFILING_ENABLE);
        const std::vector<uint8_t> bytes(1000, 3);
        const Mem mem = place.buffer(1000);
        const ClEvent user = make_user_event(context);
        const cl_event waits[] = {user};
        ClEvent plain;
        cl_ok(clEnqueueWriteBuffer(queue, vendor_of(mem), CL_FALSE, 0, 1000, bytes.data(), 1, waits,
                                   plain.out()));
        cl_ok(clFlush(queue));
        const Event event = event_around(place.context, plain);
        std::vector<uint8_t> seen(1000);
        const Event after = read(place.queue, mem, seen.data(), {range(0, 0, 1000)}, {{event}});
        CHECK(piEventWait(after, 10'000'000) == PI_ERROR_TIMEOUT);
        cl_ok(clSetUserEventStatus(user, CL_COMPLETE));
        wait(after);
        CHECK(seen == bytes);
        if (info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_QUEUE_FLAGS) &
            PI_QUEUE_PROFILING)
            for (uint32_t name = PI_PROFILING_QUEUED; name <= PI_PROFILING_END; ++name)
                CHECK(info<uint64_t>(piEventGetProfilingInfo, event, name) ==
                      ask<cl_ulong>(clGetEventProfilingInfo, plain.get(),
                                    CL_PROFILING_COMMAND_QUEUED + name - PI_PROFILING_QUEUED));
        const ClEvent none = make_user_event(context);
        cl_ok(clSetUserEventStatus(none, CL_COMPLETE));
        uint64_t time = 0;
        refused(piEventGetProfilingInfo(event_around(place.context, none), PI_PROFILING_END, 8,
                                        &time, nullptr),
                PI_ERROR_PROFILING_UNAVAILABLE);
    }
}

TEST_CASE("an event around a cl_event has its infos, and cannot be signalled") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const ClEvent user = make_user_event(vendor_of(place.context));
        const Event event = event_around(place.context, user);
        CHECK(info<pi_queue>(piEventGetInfo, event, PI_EVENT_INFO_QUEUE) == nullptr);
        CHECK(info<pi_context>(piEventGetInfo, event, PI_EVENT_INFO_CONTEXT) == place.context);
        CHECK(info<uint32_t>(piEventGetInfo, event, PI_EVENT_INFO_COMMAND) == PI_TYPE_NATIVE_DESC);
        CHECK(vendor_of(event) == user);
        refused(piEventSignalHost(event, PI_SUCCESS), PI_ERROR_INVALID_OPERATION);
        CHECK(pi_test::status(event) == PI_EVENT_SUBMITTED);
        cl_ok(clSetUserEventStatus(user, CL_COMPLETE));
        wait(event);
        CHECK(vendor_of(event) == user);
    }
}

TEST_CASE("a cl_event is owned or not, and released with its object") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        for (const bool completes_first : {true, false}) {
            const ClEvent user = make_user_event(vendor_of(place.context));
            if (completes_first)
                cl_ok(clSetUserEventStatus(user, CL_COMPLETE));
            const cl_uint before = count(user);
            cl_ok(clRetainEvent(user));
            Event kept = event_around(place.context, user);
            CHECK(count(user) >= before + 2);
            Event owned = event_around(place.context, user, PI_NATIVE_OWN);
            if (!completes_first)
                cl_ok(clSetUserEventStatus(user, CL_COMPLETE));
            wait(kept);
            wait(owned);
            CHECK(vendor_of(owned) == user);
            kept.reset();
            owned.reset();
            CHECK(settled_count(user, before) == before);
        }
        // Failed calls (another context's handle, NULL, malformed) do not change ownership.
        const Place other(device);
        const ClEvent user = make_user_event(vendor_of(other.context));
        const cl_uint before = count(user);
        const pi_native_desc desc = native_desc(user, PI_NATIVE_OWN);
        pi_event event = nullptr;
        refused(piEventCreateWithNativeHandle(place.context, &desc, &event),
                PI_ERROR_INVALID_NATIVE_HANDLE, {"cl_event", "cl_context"});
        refused(piEventCreateWithNativeHandle(other.context, &desc, nullptr),
                PI_ERROR_INVALID_NULL_POINTER);
        refuses_malformed(desc, [&](const pi_native_desc *bad) {
            return piEventCreateWithNativeHandle(other.context, bad, &event);
        });
        CHECK(event == nullptr);
        CHECK(settled_count(user, before) == before);
        cl_ok(clSetUserEventStatus(user, CL_COMPLETE));
    }
}

TEST_CASE("a PI event's cl_event can be waited for by OpenCL, before and after completion") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const ClQueue queue = make_cl_queue(vendor_of(place.context), vendor_of(device));
        const Mem mem = place.buffer(1 << 20);
        std::vector<uint8_t> seen(1 << 20);
        const auto read_after = [&](cl_event event) {
            const cl_event waits[] = {event};
            cl_ok(clEnqueueReadBuffer(queue, vendor_of(mem), CL_TRUE, 0, seen.size(), seen.data(),
                                      1, waits, nullptr));
        };
        for (uint8_t round = 0; round < 20; ++round) {
            const Event event = fill(place.queue, mem, &round, 1, 0, 1 << 20);
            const cl_event id = vendor_of(event);
            read_after(id);
            CHECK(seen == std::vector<uint8_t>(1 << 20, round));
            wait(event);
            // Constant as long as the object lives.
            CHECK(vendor_of(event) == id);
            CHECK(end_of(id) == CL_COMPLETE);
        }
        // Complete before the query, in the graph and within the call.
        const uint8_t five = 5;
        for (const bool blocking : {false, true}) {
            const Event event = fill(place.queue, mem, &five, 1, 0, 1 << 20, {{}, blocking});
            wait(event);
            const cl_event id = vendor_of(event);
            CHECK(end_of(id) == CL_COMPLETE);
            read_after(id);
            CHECK(seen == std::vector<uint8_t>(1 << 20, five));
            CHECK(vendor_of(event) == id);
        }
    }
}

TEST_CASE("an event without a cl_event says so, and a failed one returns a failed cl_event") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        pi_native_handle handle{};
        const Event gate = make_host_event(place.context);
        refused(piEventGetNativeHandle(gate, &handle), PI_ERROR_INVALID_OPERATION, {"host event"});
        const Event held = barrier(place.queue, {{gate}});
        refused(piEventGetNativeHandle(held, &handle), PI_ERROR_INVALID_OPERATION, {"holds"});
        refused(piEventGetNativeHandle(held, nullptr), PI_ERROR_INVALID_NULL_POINTER);
        const Event function = host_function(place.queue, [] {});
        refused(piEventGetNativeHandle(function, &handle), PI_ERROR_INVALID_OPERATION,
                {"plugin carries out itself"});
        CHECK(handle.type == 0);
        OK(piEventSignalHost(gate, PI_ERROR_OUT_OF_RESOURCES));
        wait_failure(held, PI_ERROR_DEPENDENCY_FAILED);
        CHECK(end_of(vendor_of(held)) < 0);
        wait(function);
        refused(piEventGetNativeHandle(function, &handle), PI_ERROR_INVALID_OPERATION);
        // Held, then done.
        const Event second = make_host_event(place.context);
        const Event later = barrier(place.queue, {{second}});
        OK(piEventSignalHost(second, PI_SUCCESS));
        wait(later);
        CHECK(end_of(vendor_of(later)) == CL_COMPLETE);
    }
}

TEST_CASE("many threads ask for one event's cl_event, and all get the same") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(1 << 16);
        for (uint8_t round = 0; round < 10; ++round) {
            const Event event = fill(place.queue, mem, &round, 1, 0, 1 << 16);
            std::vector<uint64_t> ids(4);
            std::vector<std::thread> threads;
            for (uint64_t &id : ids)
                threads.emplace_back([&] {
                    pi_native_handle handle{};
                    if (piEventGetNativeHandle(event, &handle) == PI_SUCCESS)
                        id = handle.value[0];
                });
            for (std::thread &thread : threads)
                thread.join();
            CHECK(ids[0] != 0);
            CHECK(ids == std::vector<uint64_t>(4, ids[0]));
            wait(event);
        }
    }
}

TEST_CASE("a command that the driver fails completes, and the queue's next one is unaffected") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        if (!waits_for_user_events(device))
            continue;
        const Place place(device);
        const ClQueue plain = make_cl_queue(vendor_of(place.context), vendor_of(device));
        const Queue queue = queue_around(place.context, device, plain);
        const Mem first = place.buffer(64), second = place.buffer(64);
        set_contents(place.queue, first, std::vector<uint8_t>(64, 1));
        const ClEvent gate = make_user_event(vendor_of(place.context));
        const cl_event waits = gate;
        ClEvent marker; // PoCL aborts if nothing refers to the event that fails
        cl_ok(clEnqueueMarkerWithWaitList(plain, 1, &waits, marker.out()));
        cl_ok(clFlush(plain));
        const uint8_t two = 2;
        const Event failing = fill(queue, first, &two, 1, 0, 64);
        cl_ok(clSetUserEventStatus(gate, -1));
        CHECK(piEventWait(failing, patience) != PI_ERROR_TIMEOUT);
        OK(piQueueFinish(queue));
        const Event next = fill(queue, second, &two, 1, 0, 64);
        OK(piEventWait(next, patience));
        CHECK(contents(place.queue, second) == std::vector<uint8_t>(64, 2));
    }
}
