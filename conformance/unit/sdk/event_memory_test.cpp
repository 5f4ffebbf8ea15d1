// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The event graph while memory is short: whichever allocation fails, queues end, and what comes after works.

#include "failing_allocations.hpp"
#include "fake_host.hpp"

#include <pi/sdk/event.hpp>

#include <catch2/catch.hpp>

#include <new>

using namespace pi::sdk;

namespace {

/// The how-manieth allocation of this thread from now on fails; 0: none.
thread_local int failing_allocation = 0;

/// Fails one allocation while it lives.
class ShortOfMemory {
public:
    explicit ShortOfMemory(int allocation) { failing_allocation = allocation; }
    ShortOfMemory(const ShortOfMemory &) = delete;
    ~ShortOfMemory() { failing_allocation = 0; }
    static bool failed() { return failing_allocation == 0; }
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
    Ref<Event> make_event() {
        return make<Event>(host(), AnyRef(), AnyRef(Ref<Queue>(*this)), &sequence_,
                           PI_TYPE_BUFFER_COPY_DESC, false);
    }
    Sequence &sequence() { return sequence_; }

private:
    Sequence sequence_;
};

} // namespace

bool allocation_fails(const void *) {
    return failing_allocation > 0 && --failing_allocation == 0;
}

TEST_CASE("whichever allocation of a submission fails, its queue ends and takes more") {
    const bool in_order = GENERATE(true, false);
    const pi_test::FakeHost host;
    bool failed = true;
    for (int allocation = 1; failed; ++allocation) {
        CAPTURE(in_order, allocation);
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
            const ShortOfMemory shortage(allocation);
            try {
                queue->sequence().submit(*event, std::move(command), waits,
                                         Sequence::Role::COMMAND);
            } catch (const std::bad_alloc &) {
                taken = false;
            }
            failed = ShortOfMemory::failed();
        }
        gate->signal(PI_SUCCESS);
        queue->sequence().finish();
        CHECK(before->final());
        CHECK(event->final() == taken);
        if (taken && event->result() == PI_SUCCESS)
            CHECK(runs == 2);
        const Ref<Event> after = queue->make_event();
        int more = 0;
        queue->sequence().submit(*after, counting(more), {}, Sequence::Role::COMMAND);
        CHECK(after->final());
        CHECK(more == 1);
    }
}

TEST_CASE("whichever allocation fails while an event becomes final, what waits for it goes on") {
    const pi_test::FakeHost host;
    bool failed = true;
    for (int allocation = 1; failed; ++allocation) {
        CAPTURE(allocation);
        const Ref<Queue> queue = make<Queue>(host.get(), false);
        const Ref<Event> gate = make<Event>(host.get(), AnyRef());
        int runs = 0;
        std::vector<Ref<Event>> events;
        for (int i = 0; i < 3; ++i) {
            events.push_back(queue->make_event());
            queue->sequence().submit(*events.back(), counting(runs), std::vector{gate.get()},
                                     Sequence::Role::COMMAND);
        }
        bool signalled = true;
        {
            const ShortOfMemory shortage(allocation);
            try {
                gate->signal(PI_ERROR_BACKEND);
            } catch (const std::bad_alloc &) {
                signalled = false; // and can be once more
            }
            failed = ShortOfMemory::failed();
        }
        if (!signalled)
            gate->signal(PI_ERROR_BACKEND);
        for (const Ref<Event> &event : events) {
            CHECK(event->final());
            CHECK(event->result() == PI_ERROR_DEPENDENCY_FAILED);
        }
        CHECK(runs == 0);
    }
}
