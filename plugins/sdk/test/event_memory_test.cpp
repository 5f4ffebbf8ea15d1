// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The event graph with little memory: whichever allocation fails, queues finish, and later commands
// work.

#include "failing_allocations.hpp"
#include "fake_host.hpp"
#include "shortage.hpp"

#include <pi/sdk/event.hpp>
#include <pi/sdk/worker.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <new>

using namespace pi::sdk;

namespace {

thread_local pi_test::Shortage shortage; // other threads have memory

/// Memory is short as long as it lives.
class ShortOfMemory {
public:
    ShortOfMemory(uint32_t allocation, bool lasts) { shortage.begin(allocation, lasts); }
    ShortOfMemory(const ShortOfMemory &) = delete;
    ~ShortOfMemory() { shortage.end(); }
    bool end() { return shortage.end(); }
};

std::unique_ptr<Command> counting(int &runs) {
    return make_command([&runs](Event &event) {
        ++runs;
        event.finish(PI_SUCCESS);
    });
}

class Queue : public Object<Queue, pi_queue> {
public:
    Queue(const pi_host *host, bool in_order) : Object(host), sequence_(in_order) {}
    Ref<Event> make_event(pi_struct_type type = PI_TYPE_BUFFER_COPY_DESC) {
        return make<Event>(host(), AnyRef(), AnyRef(Ref<Queue>(*this)), &sequence_, type, false);
    }
    Sequence &sequence() { return sequence_; }

private:
    Sequence sequence_;
};

} // namespace

bool allocation_fails(const void *) {
    return shortage.takes_one();
}

TEST_CASE("a submission without memory leaves its queue unchanged") {
    const bool in_order = GENERATE(true, false);
    const bool lasts = GENERATE(false, true);
    const pi_test::FakeHost host;
    bool failed = true;
    for (uint32_t allocation = 1; failed; ++allocation) {
        CAPTURE(in_order, lasts, allocation);
        const Ref<Queue> queue = make<Queue>(host.get(), in_order);
        const Ref<Event> gate = make<Event>(host.get(), AnyRef());
        int runs = 0;
        const Ref<Event> before = queue->make_event();
        queue->sequence().submit(*before, counting(runs), std::vector{gate.get()},
                                 Sequence::Role::COMMAND);
        const Ref<Event> event = queue->make_event();
        auto command = counting(runs);
        const std::vector<Event *> waits{gate.get(), before.get()};
        bool taken = true;
        {
            ShortOfMemory memory(allocation, lasts);
            try {
                queue->sequence().submit(*event, std::move(command), waits,
                                         Sequence::Role::BARRIER);
            } catch (const std::bad_alloc &) {
                taken = false;
            }
            failed = memory.end();
        }
        CHECK(taken == !failed);
        gate->signal(PI_SUCCESS);
        queue->sequence().finish();
        CHECK(before->is_complete());
        CHECK(event->is_complete() == taken);
        CHECK(event->result() == PI_SUCCESS);
        CHECK(runs == (taken ? 2 : 1));
        const Ref<Event> after = queue->make_event();
        int more = 0;
        queue->sequence().submit(*after, counting(more), {}, Sequence::Role::COMMAND);
        CHECK(after->is_complete());
        CHECK(more == 1);
    }
}

TEST_CASE("without memory a signal completes everything that waits for it, with its code") {
    const bool lasts = GENERATE(false, true);
    const pi_result signal = GENERATE(as<pi_result>{}, PI_SUCCESS, PI_ERROR_BACKEND);
    const pi_test::FakeHost host;
    bool failed = true;
    for (uint32_t allocation = 1; failed; ++allocation) {
        CAPTURE(lasts, signal, allocation);
        const Ref<Queue> queue = make<Queue>(host.get(), false);
        const Ref<Event> gate = make<Event>(host.get(), AnyRef());
        int runs = 0, calls = 0;
        std::vector<Ref<Event>> events;
        for (int i = 0; i < 3; ++i) {
            events.push_back(queue->make_event());
            queue->sequence().submit(*events.back(), counting(runs), std::vector{gate.get()},
                                     Sequence::Role::COMMAND);
            events.back()->set_callback(
                [](pi_event, pi_result, void *data) { ++*static_cast<int *>(data); }, &calls);
        }
        {
            ShortOfMemory memory(allocation, lasts);
            gate->signal(signal);
            failed = memory.end();
        }
        for (const Ref<Event> &event : events) {
            CHECK(event->is_complete());
            CHECK(event->result() == (signal ? PI_ERROR_DEPENDENCY_FAILED : PI_SUCCESS));
        }
        CHECK(runs == (signal ? 0 : 3));
        CHECK(calls == 3);
    }
}

TEST_CASE("without memory a command that throws fails with its exception, and its queue finishes") {
    const bool lasts = GENERATE(false, true);
    const bool throws_error = GENERATE(true, false);
    const pi_test::FakeHost host;
    bool failed = true;
    for (uint32_t allocation = 1; failed; ++allocation) {
        CAPTURE(lasts, throws_error, allocation);
        const Ref<Queue> queue = make<Queue>(host.get(), true);
        const Ref<Event> gate = make<Event>(host.get(), AnyRef());
        const Ref<Event> event = queue->make_event();
        auto command = make_command([throws_error](Event &) {
            if (throws_error)
                fail(PI_ERROR_DEVICE_LOST, "a text that is too long to lie in the string itself");
            throw std::bad_alloc();
        });
        queue->sequence().submit(*event, std::move(command), std::vector{gate.get()});
        {
            ShortOfMemory memory(allocation, lasts);
            gate->signal(PI_SUCCESS);
            failed = memory.end();
        }
        queue->sequence().finish();
        CHECK(event->result() ==
              (throws_error ? PI_ERROR_DEVICE_LOST : PI_ERROR_OUT_OF_HOST_MEMORY));
        CHECK_FALSE(event->error_text().empty());
    }
}

TEST_CASE("a command without memory to start is refused by its enqueue call") {
    const bool held_back = GENERATE(false, true);
    const pi_test::FakeHost host;
    const Ref<Queue> queue = make<Queue>(host.get(), true);
    const Ref<Event> gate = make<Event>(host.get(), AnyRef());
    pi_event waits[] = {gate->handle()};
    const EnqueueArguments arguments{0, PI_TYPE_BUFFER_COPY_DESC, held_back ? 1U : 0U, waits,
                                     nullptr};
    const pi_result result = guard(host.get(), [&] {
        enqueue(*queue, arguments, make_command([](Event &) { throw std::bad_alloc(); }));
    });
    CHECK(result == (held_back ? PI_SUCCESS : PI_ERROR_OUT_OF_HOST_MEMORY));
    gate->signal(PI_SUCCESS);
    queue->sequence().finish();
}

TEST_CASE("without memory a chain of many events needs no deep stack") {
    constexpr int links = 200'000;
    const pi_test::FakeHost host;
    const Ref<Queue> queue = make<Queue>(host.get(), true);
    const Ref<Event> gate = make<Event>(host.get(), AnyRef());
    int runs = 0;
    Ref<Event> last;
    for (int i = 0; i < links; ++i) {
        last = queue->make_event();
        queue->sequence().submit(*last, counting(runs), std::vector{gate.get()});
    }
    {
        const ShortOfMemory memory(1, true);
        gate->signal(PI_SUCCESS);
    }
    CHECK(last->is_complete());
    CHECK(runs == links);
}

TEST_CASE("a callback without memory is refused, otherwise it is called once") {
    const bool lasts = GENERATE(false, true);
    const bool is_complete = GENERATE(false, true);
    const pi_test::FakeHost host;
    bool failed = true;
    for (uint32_t allocation = 1; failed; ++allocation) {
        CAPTURE(lasts, is_complete, allocation);
        const Ref<Event> gate = make<Event>(host.get(), AnyRef());
        if (is_complete)
            gate->signal(PI_SUCCESS);
        int calls = 0;
        bool taken = true;
        {
            ShortOfMemory memory(allocation, lasts);
            try {
                gate->set_callback(
                    [](pi_event, pi_result, void *data) { ++*static_cast<int *>(data); }, &calls);
            } catch (const std::bad_alloc &) {
                taken = false;
            }
            failed = memory.end();
        }
        CHECK(taken == !failed);
        if (!is_complete)
            gate->signal(PI_SUCCESS);
        CHECK(calls == (taken ? 1 : 0));
    }
}

TEST_CASE("without memory an entry returns the code of the failure") {
    const bool lasts = GENERATE(false, true);
    pi_test::FakeHost host;
    for (uint32_t allocation = 1; allocation < 6; ++allocation) {
        CAPTURE(lasts, allocation);
        const Ref<Event> event = make<Event>(host.get(), AnyRef());
        event->signal(PI_ERROR_BACKEND);
        ShortOfMemory memory(allocation, lasts);
        const pi_result thrown = guard(host.get(), [] {
            fail(PI_ERROR_INVALID_SIZE, "size is ", 3, ": a multiple of ", 4, " is needed");
        });
        const pi_result no_memory = guard(host.get(), [] { throw std::bad_alloc(); });
        const pi_result waited = guard(host.get(), [&] { event->wait(PI_TIMEOUT_NEVER); });
        memory.end();
        CHECK(thrown == PI_ERROR_INVALID_SIZE);
        CHECK(no_memory == PI_ERROR_OUT_OF_HOST_MEMORY);
        CHECK(waited == PI_ERROR_BACKEND);
        CHECK_FALSE(host.message().empty());
    }
}

TEST_CASE("a task without memory is not posted; a prepared one needs none") {
    const bool lasts = GENERATE(false, true);
    bool failed = true;
    for (uint32_t allocation = 1; failed; ++allocation) {
        CAPTURE(lasts, allocation);
        std::atomic<int> runs{0};
        int posted = 0;
        {
            Workers workers(2);
            Workers::Prepared prepared = workers.prepare([&] { ++runs; });
            ShortOfMemory memory(allocation, lasts);
            const std::array<char, 64> large{}; // no function object has room for it
            for (int i = 0; i < 2; ++i) {
                try {
                    workers.post([&, large] { runs += 1 + large[0]; });
                    ++posted;
                } catch (const std::bad_alloc &) {
                }
            }
            workers.post(std::move(prepared));
            ++posted;
            failed = memory.end();
        }
        CHECK(runs == posted);
    }
}
