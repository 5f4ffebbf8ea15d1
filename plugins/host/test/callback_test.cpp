// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callbacks and host functions: the calls allowed within them, and how often they are called.
#include "fixture.hpp"

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <thread>

using namespace pi_test;

namespace {

/// A callback made of a callable, which gets the event and its result and destroys itself. May be
/// called within a callback, where Catch may not.
pi_result attach(pi_event event, std::function<void(pi_event, pi_result)> body) {
    auto *owned = new std::function<void(pi_event, pi_result)>(std::move(body));
    const pi_result set = piEventSetCallback(
        event,
        [](pi_event e, pi_result result, void *user_data) {
            const std::unique_ptr<std::function<void(pi_event, pi_result)>> callable(
                static_cast<std::function<void(pi_event, pi_result)> *>(user_data));
            (*callable)(e, result);
        },
        owned);
    if (set != PI_SUCCESS)
        delete owned;
    return set;
}
void set_callback(pi_event event, std::function<void(pi_event, pi_result)> body) {
    OK(attach(event, std::move(body)));
}

/// The future's value; fails the test after a while.
template <class T>
T get(std::future<T> &future) {
    REQUIRE(future.wait_for(std::chrono::nanoseconds(patience)) == std::future_status::ready);
    return future.get();
}

} // namespace

TEST_CASE("a callback comes exactly once, with the result, also when set late") {
    const Host host;
    for (pi_result result : {pi_result(PI_SUCCESS), pi_result(PI_ERROR_DEVICE_LOST)}) {
        const Owned<pi_event> gate = host.make_host_event();
        const pi_event wait = gate;
        Owned<pi_event> event;
        OK(piEnqueueEventsWait(host.make_queue(), nullptr, 1, &wait, event.out()));
        std::atomic<int> calls{0};
        std::promise<pi_result> early, late;
        auto early_result = early.get_future(), late_result = late.get_future();
        set_callback(event, [&](pi_event e, pi_result r) {
            ++calls;
            early.set_value(e == event ? r : 1);
        });
        OK(piEventSignalHost(gate, result));
        const pi_result expected = result ? PI_ERROR_DEPENDENCY_FAILED : PI_SUCCESS;
        CHECK(get(early_result) == expected);
        piEventWait(event, patience);
        set_callback(event, [&](pi_event, pi_result r) {
            ++calls;
            late.set_value(r);
        });
        CHECK(get(late_result) == expected);
        CHECK(calls == 2);
    }
}

TEST_CASE("blocking inside a callback is refused, everything else works") {
    Host host;
    Owned<pi_queue> queue = host.make_queue();
    Owned<pi_mem> mem = host.make_buffer(64);
    Owned<pi_event> gate = host.make_host_event(), never = host.make_host_event(),
                    other_gate = host.make_host_event();
    const pi_event wait = gate, other_wait = other_gate;
    Owned<pi_event> event, other;
    OK(piEnqueueEventsWait(queue, nullptr, 1, &wait, event.out()));
    const Owned<pi_queue> second = host.make_queue();
    OK(piEnqueueEventsWait(second, nullptr, 1, &other_wait, other.out()));
    std::promise<std::vector<pi_result>> done;
    auto results = done.get_future();
    set_callback(event, [&](pi_event e, pi_result) {
        std::vector<pi_result> r;
        const uint8_t value = 9;
        const auto blocking = fill_desc(mem, &value, 1, 0, 64, PI_COMMAND_BLOCKING);
        const auto plain = fill_desc(mem, &value, 1, 0, 64);
        r.push_back(piEventWait(never, 1'000'000'000));
        r.push_back(piQueueFinish(second));
        r.push_back(piEnqueueMemBufferFill(queue, &blocking, 0, nullptr, nullptr));
        r.push_back(piEventWait(never, 0));
        r.push_back(piEventWait(e, patience));
        r.push_back(piEnqueueMemBufferFill(queue, &plain, 0, nullptr, nullptr));
        r.push_back(piEventSignalHost(other_gate, PI_SUCCESS));
        other_gate.reset();
        mem.reset();
        done.set_value(r);
    });
    OK(piEventSignalHost(gate, PI_SUCCESS));
    CHECK(get(results) == std::vector<pi_result>{PI_ERROR_WOULD_BLOCK, PI_ERROR_WOULD_BLOCK,
                                                 PI_ERROR_WOULD_BLOCK, PI_ERROR_TIMEOUT, PI_SUCCESS,
                                                 PI_SUCCESS, PI_SUCCESS});
    OK(piEventWait(other, patience));
    OK(piQueueFinish(queue));
}

TEST_CASE("a callback may release the last reference to everything") {
    std::promise<void> done;
    auto finished = done.get_future();
    {
        Host host;
        Owned<pi_event> gate = host.make_host_event();
        const pi_event wait = gate;
        auto *queue = new Owned<pi_queue>(host.make_queue());
        auto *context = new Owned<pi_context>(std::move(host.context));
        auto *event = new Owned<pi_event>();
        OK(piEnqueueEventsWait(*queue, nullptr, 1, &wait, event->out()));
        set_callback(*event, [=, &done](pi_event, pi_result) {
            delete event;
            delete queue;
            delete context;
            done.set_value();
        });
        OK(piEventSignalHost(gate, PI_SUCCESS));
    }
    get(finished);
}

TEST_CASE("work continues in callbacks, one command after another") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(100'000);
    std::promise<void> done;
    auto finished = done.get_future();
    std::atomic<int> left{100};
    std::function<void(pi_event, pi_result)> next = [&](pi_event, pi_result) {
        if (left-- == 0)
            return done.set_value();
        const uint8_t value = 1;
        const auto d = fill_desc(mem, &value, 1, 0, left % 2 ? 64 : 100'000);
        pi_event event = nullptr;
        if (piEnqueueMemBufferFill(queue, &d, 0, nullptr, &event) != PI_SUCCESS ||
            attach(event, next) != PI_SUCCESS)
            return done.set_exception(std::make_exception_ptr(std::runtime_error(last_error())));
        piEventRelease(event);
    };
    const Owned<pi_event> start = host.make_host_event();
    set_callback(start, next);
    OK(piEventSignalHost(start, PI_SUCCESS));
    get(finished);
    OK(piQueueFinish(queue));
}

TEST_CASE("a host function runs in order on a thread of the plugin and may not block") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(64);
    struct Call {
        std::thread::id thread;
        pi_result finish = PI_SUCCESS;
        std::byte seen{0};
        pi_queue queue = nullptr;
        std::byte *bytes = nullptr;
    } call;
    call.queue = queue;
    void *bytes = nullptr;
    OK(piMemGetHostPointer(mem, &bytes));
    call.bytes = static_cast<std::byte *>(bytes);
    const uint8_t before = 4, after = 5;
    const auto first = fill_desc(mem, &before, 1, 0, 64), last = fill_desc(mem, &after, 1, 0, 64);
    OK(piEnqueueMemBufferFill(queue, &first, 0, nullptr, nullptr));
    auto d = pi::desc<pi_host_function_desc>();
    d.flags = PI_COMMAND_BLOCKING;
    d.user_data = &call;
    d.function = [](void *user_data) {
        Call &c = *static_cast<Call *>(user_data);
        c.thread = std::this_thread::get_id();
        c.seen = c.bytes[0];
        c.finish = piQueueFinish(c.queue);
    };
    OK(piEnqueueHostFunction(queue, &d, 0, nullptr, nullptr));
    OK(piEnqueueMemBufferFill(queue, &last, 0, nullptr, nullptr));
    OK(piQueueFinish(queue));
    CHECK((call.thread != std::this_thread::get_id()));
    CHECK(call.seen == std::byte{4});
    CHECK(call.finish == PI_ERROR_WOULD_BLOCK);
    CHECK(call.bytes[0] == std::byte{5});
    d.function = nullptr;
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "function",
            piEnqueueHostFunction(queue, &d, 0, nullptr, nullptr));
}

TEST_CASE("a callback that is NULL is refused") {
    const Host host;
    const Owned<pi_event> event = host.make_host_event();
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "callback", piEventSetCallback(event, nullptr, nullptr));
}
