// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fake_host.hpp"

#include <pi/sdk/enqueue.hpp>
#include <pi/sdk/worker.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <thread>

using namespace pi::sdk;

namespace {

constexpr uint64_t patience = 20'000'000'000; // nanoseconds; a hang is a failure

/// A queue whose commands are callables; `vendor` stands for a backend that orders commands itself.
class Queue : public Object<Queue, pi_queue> {
public:
    Queue(const pi_host *host, bool in_order, bool profiling = false)
        : Object(host), sequence_(in_order), profiling_(profiling) {}
    Ref<Event> make_event(pi_struct_type type) {
        return make<Event>(host(), AnyRef(), AnyRef(Ref<Queue>(*this)), &sequence_, type,
                           profiling_);
    }
    Sequence &sequence() { return sequence_; }

    Ref<Event> submit(std::unique_ptr<Command> command, std::vector<Event *> waits = {},
                      Sequence::Role role = Sequence::Role::COMMAND) {
        Ref<Event> event = make_event(PI_TYPE_BUFFER_COPY_DESC);
        sequence_.submit(*event, std::move(command), waits, role);
        return event;
    }

private:
    Sequence sequence_;
    bool profiling_;
};

/// A command that is done at once.
std::unique_ptr<Command> instant(std::function<void()> body = [] {}) {
    return make_command([body](Event &event) {
        body();
        event.finish(PI_SUCCESS);
    });
}

Ref<Event> host_event(const pi_test::FakeHost &host) {
    return make<Event>(host.get(), AnyRef());
}

/// A command of a backend with its own queues: started (submitted) long before it is finished.
class VendorCommand : public Command {
public:
    explicit VendorCommand(std::vector<Event *> &started) : started_(started) {}
    void start(Event &event) override {
        started_.push_back(&event);
        event.submitted();
    }
    Phase phase(const Event &dependency, bool) const override {
        return dependency.is_host() ? Phase::COMPLETE : Phase::SUBMITTED;
    }

private:
    std::vector<Event *> &started_;
};

/// An event of a vendor that finishes everything when a thread waits, or refuses everything.
class HelpingPayload : public Payload {
public:
    explicit HelpingPayload(int &helped, bool refuses = false)
        : helped_(helped), refuses_(refuses) {}
    uint64_t profiling(pi_profiling_info) const override { return 0; }
    bool refused() const override { return refuses_; }
    void help(Event &event) override {
        ++helped_;
        event.finish(PI_SUCCESS);
    }

private:
    int &helped_;
    const bool refuses_;
};

constexpr EnqueueArguments arguments_of(uint64_t flags, pi_event *out_event) {
    return {flags, PI_TYPE_BUFFER_COPY_DESC, 0, nullptr, out_event};
}

} // namespace

TEST_CASE("a command starts only when all its dependencies are complete") {
    pi_test::FakeHost host;
    {
        auto queue = make<Queue>(host.get(), false);
        auto first = host_event(host), second = host_event(host);
        int runs = 0;
        auto event = queue->submit(instant([&] { ++runs; }), {first.get(), second.get()});
        CHECK(runs == 0);
        first->signal(PI_SUCCESS);
        CHECK(runs == 0);
        CHECK(event->status() == PI_EVENT_QUEUED);
        second->signal(PI_SUCCESS);
        CHECK(runs == 1);
        CHECK(event->is_complete());
    }
    CHECK(host.objects() == 0);
}

TEST_CASE("an in-order queue keeps its order, an out-of-order queue does not wait") {
    pi_test::FakeHost host;
    auto ordered = make<Queue>(host.get(), true), unordered = make<Queue>(host.get(), false);
    auto gate = host_event(host);
    std::vector<int> order;
    for (const auto &queue : {ordered, unordered}) {
        const int base = queue.get() == ordered.get() ? 0 : 10;
        queue->submit(instant([&, base] { order.push_back(base + 1); }), {gate.get()});
        queue->submit(instant([&, base] { order.push_back(base + 2); }));
    }
    CHECK(order == std::vector<int>{12});
    gate->signal(PI_SUCCESS);
    CHECK(std::find(order.begin(), order.end(), 1) < std::find(order.begin(), order.end(), 2));
    CHECK(order.size() == 4);
}

TEST_CASE("a failure reaches its dependents with the root's text, and no other command") {
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), true);
    auto failed = queue->submit(
        make_command([](Event &event) { event.finish(PI_ERROR_DEVICE_LOST, "the root's words"); }));
    int runs = 0;
    auto waiter = queue->submit(instant([&] { ++runs; }), {failed.get()});
    auto second = queue->submit(instant([&] { ++runs; }), {waiter.get()});
    auto follower = queue->submit(instant([&] { ++runs; }));

    CHECK(failed->result() == PI_ERROR_DEVICE_LOST);
    for (Event *event : {waiter.get(), second.get()}) {
        CHECK(event->result() == PI_ERROR_DEPENDENCY_FAILED);
        CHECK(event->error_text() == "the root's words");
    }
    CHECK(follower->result() == PI_SUCCESS); // an order without a wait list propagates no error
    CHECK(runs == 1);
}

TEST_CASE("what is submitted while a command runs within its call comes after it") {
    const bool in_order = GENERATE(true, false);
    const bool fails = GENERATE(false, true);
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), in_order);
    const EnqueueArguments blocking{PI_COMMAND_BLOCKING, PI_TYPE_BUFFER_COPY_DESC, 0, nullptr,
                                    nullptr};
    Ref<Event> command, barrier, behind;
    std::atomic<bool> finished{false};
    std::thread finisher;
    const pi_result result = guard(host.get(), [&] {
        REQUIRE(runs_within_call(*queue, blocking));
        const TurnWithinCall turn(*queue);
        REQUIRE(turn);
        run_within_call(*queue, blocking, [&](Event *) {
            CHECK_FALSE(runs_within_call(*queue, blocking));
            CHECK_FALSE(TurnWithinCall(*queue));
            CHECK_FALSE(queue->sequence().open([](const Event &) { return Phase::SUBMITTED; }));
            finisher = std::thread([&] {
                queue->sequence().finish();
                finished = true;
            });
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            CHECK_FALSE(finished);
            command = queue->submit(instant());
            CHECK(command->is_complete() == !in_order);
            barrier = queue->submit(instant(), {}, Sequence::Role::BARRIER);
            behind = queue->submit(instant());
            CHECK_FALSE(barrier->is_complete());
            CHECK_FALSE(behind->is_complete());
            if (fails)
                fail(PI_ERROR_DEVICE_LOST, "within the call");
        });
    });
    finisher.join();
    CHECK(result == (fails ? PI_ERROR_DEVICE_LOST : PI_SUCCESS));
    for (const Event *event : {command.get(), barrier.get(), behind.get()}) {
        CHECK(event->is_complete());
        CHECK(event->result() == PI_SUCCESS);
    }
    CHECK(queue->sequence().idle());
    CHECK(TurnWithinCall(*queue));
}

TEST_CASE("many threads that run commands within their calls exclude each other") {
    const bool in_order = GENERATE(true, false);
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), in_order);
    const EnqueueArguments blocking{PI_COMMAND_BLOCKING, PI_TYPE_BUFFER_COPY_DESC, 0, nullptr,
                                    nullptr};
    std::atomic<int> inside{0}, together{0}, runs{0};
    const auto body = [&] {
        together += inside.fetch_add(1) != 0;
        ++runs;
        inside.fetch_sub(1);
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) {
                if (const TurnWithinCall turn(*queue); turn)
                    run_within_call(*queue, blocking, [&](Event *) { body(); });
                else
                    enqueue(*queue, blocking, instant(body));
                if (i % 64 == 0)
                    queue->sequence().finish();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(runs == 4 * 2000);
    if (in_order)
        CHECK(together == 0);
    CHECK(queue->sequence().idle());
}

TEST_CASE("an exception in a command's start fails its event") {
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), true);
    auto event = queue->submit(
        make_command([](Event &) { fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "none left"); }));
    CHECK(event->result() == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(event->error_text() == "none left");
    queue->sequence().finish();
}

TEST_CASE("a backend that orders commands gets them early, and results stay in order") {
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), true);
    std::vector<Event *> started;
    auto first = queue->submit(std::make_unique<VendorCommand>(started));
    auto second = queue->submit(std::make_unique<VendorCommand>(started), {first.get()});
    REQUIRE(started == std::vector<Event *>{first.get(), second.get()});

    // The vendor may report the second first, and as a success although the first failed.
    second->finish(PI_SUCCESS);
    CHECK_FALSE(second->is_complete());
    first->finish(PI_ERROR_BACKEND, "it broke");
    CHECK(second->is_complete());
    CHECK(second->result() == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(second->error_text() == "it broke");
}

TEST_CASE("commands behind a delayed command of the same vendor queue are delayed, too") {
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), true);
    auto gate = host_event(host);
    std::vector<Event *> started;
    auto held = queue->submit(std::make_unique<VendorCommand>(started), {gate.get()});
    auto behind = queue->submit(std::make_unique<VendorCommand>(started));
    CHECK(started.empty());
    gate->signal(PI_SUCCESS);
    CHECK(started == std::vector<Event *>{held.get(), behind.get()});
    held->finish(PI_SUCCESS);
    behind->finish(PI_SUCCESS);
    CHECK(behind->is_complete());
}

TEST_CASE("a barrier comes before all later commands of an out-of-order queue") {
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), false);
    auto gate = host_event(host);
    int after_barrier = 0, after_wait = 0;
    auto before = queue->submit(instant(), {gate.get()});
    auto wait = queue->submit(instant(), {}, Sequence::Role::WAIT_FOR_ALL);
    queue->submit(instant([&] { ++after_wait; }));
    CHECK(after_wait == 1); // only a barrier delays later commands
    CHECK_FALSE(wait->is_complete());
    auto barrier = queue->submit(instant(), {}, Sequence::Role::BARRIER);
    queue->submit(instant([&] { ++after_barrier; }));
    CHECK(after_barrier == 0);
    gate->signal(PI_SUCCESS);
    CHECK(wait->is_complete());
    CHECK(barrier->is_complete());
    CHECK(after_barrier == 1);
}

TEST_CASE("a chain of a hundred thousand events needs no deep stack") {
    pi_test::FakeHost host;
    {
        auto queue = make<Queue>(host.get(), true);
        auto gate = host_event(host);
        int runs = 0;
        Ref<Event> last = queue->submit(instant([&] { ++runs; }), {gate.get()});
        for (int i = 1; i < 100'000; ++i)
            last = queue->submit(instant([&] { ++runs; }), {last.get()});
        gate->signal(PI_SUCCESS);
        CHECK(runs == 100'000);
        CHECK(last->is_complete());
    }
    CHECK(host.objects() == 0);
}

TEST_CASE("a host event that is released unsignalled fails its dependents") {
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), true);
    auto gate = host_event(host);
    auto event = queue->submit(instant(), {gate.get()});
    event_entries::release(gate.give());
    CHECK(event->result() == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(event->error_text().find("released before it was signalled") != std::string::npos);
}

TEST_CASE("a host event is signalled once, and a command's event never") {
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), true);
    auto event = queue->submit(instant());
    CHECK(event_entries::signal_host(event->handle(), PI_SUCCESS) == PI_ERROR_INVALID_OPERATION);
    auto gate = host_event(host);
    CHECK(event_entries::signal_host(gate->handle(), 1) == PI_ERROR_INVALID_VALUE);
    for (const pi_result of_a_wait : {PI_ERROR_TIMEOUT, PI_ERROR_WOULD_BLOCK})
        CHECK(event_entries::signal_host(gate->handle(), of_a_wait) == PI_ERROR_INVALID_VALUE);
    CHECK(event_entries::signal_host(gate->handle(), PI_ERROR_BACKEND) == PI_SUCCESS);
    CHECK(event_entries::signal_host(gate->handle(), PI_SUCCESS) == PI_ERROR_INVALID_OPERATION);
    CHECK(event_entries::wait(gate->handle(), patience) == PI_ERROR_BACKEND);
    CHECK(host.message().find("signalled by the application") != std::string::npos);
}

TEST_CASE("callbacks fire exactly once, before and after completion, and may not block") {
    pi_test::FakeHost host;
    struct Seen {
        int calls = 0;
        pi_result result = 1, wait = 1, poll = 1;
        pi_event other = nullptr;
    } early, late;
    auto gate = host_event(host), open = host_event(host);
    const pi_event_callback note = [](pi_event, pi_result result, void *data) {
        auto &seen = *static_cast<Seen *>(data);
        ++seen.calls;
        seen.result = result;
        seen.wait = event_entries::wait(seen.other, patience);
        seen.poll = event_entries::wait(seen.other, 0);
    };
    early.other = late.other = open->handle();
    gate->set_callback(note, &early);
    CHECK(early.calls == 0);
    gate->signal(PI_ERROR_DEVICE_LOST);
    gate->set_callback(note, &late);
    for (const Seen &seen : {early, late}) {
        CHECK(seen.calls == 1);
        CHECK(seen.result == PI_ERROR_DEVICE_LOST);
        CHECK(seen.wait == PI_ERROR_WOULD_BLOCK);
        CHECK(seen.poll == PI_ERROR_TIMEOUT); // a poll does not block
    }
    open->signal(PI_SUCCESS);
}

TEST_CASE("a wait ends at its timeout, or with the command's error") {
    pi_test::FakeHost host;
    auto gate = host_event(host);
    CHECK(event_entries::wait(gate->handle(), 1'000'000) == PI_ERROR_TIMEOUT);
    CHECK(event_entries::wait(gate->handle(), 0) == PI_ERROR_TIMEOUT);
    gate->signal(PI_SUCCESS);
    CHECK(event_entries::wait(gate->handle(), PI_TIMEOUT_NEVER) == PI_SUCCESS);
}

TEST_CASE("only waits without a timeout use the vendor's help") {
    pi_test::FakeHost host;
    {
        auto queue = make<Queue>(host.get(), true);
        std::vector<Event *> started;
        int helped = 0;
        pi_event event = nullptr;
        enqueue(*queue, arguments_of(0, &event), std::make_unique<VendorCommand>(started),
                std::make_unique<HelpingPayload>(helped));
        CHECK(event_entries::wait(event, 0) == PI_ERROR_TIMEOUT);
        {
            const CallbackScope callback(host.get());
            CHECK(event_entries::wait(event, PI_TIMEOUT_NEVER) == PI_ERROR_WOULD_BLOCK);
        }
        CHECK(helped == 0);
        CHECK(event_entries::wait(event, PI_TIMEOUT_NEVER) == PI_SUCCESS);
        CHECK(helped == 1);
        CHECK(event_entries::wait(event, PI_TIMEOUT_NEVER) == PI_SUCCESS);
        CHECK(helped == 1); // it was complete
        event_entries::release(event);

        enqueue(*queue, arguments_of(PI_COMMAND_BLOCKING, nullptr),
                std::make_unique<VendorCommand>(started), std::make_unique<HelpingPayload>(helped));
        CHECK(helped == 2);
    }
    CHECK(host.objects() == 0);
}

TEST_CASE("a plugin counts its own callbacks if the loader does not count them") {
    pi_test::FakeHost host;
    host.count_no_callbacks();
    CHECK_FALSE(CallbackScope::active(host.get()));
    {
        const CallbackScope outer(host.get()), inner(host.get());
        CHECK(CallbackScope::active(host.get()));
    }
    CHECK_FALSE(CallbackScope::active(host.get()));
}

TEST_CASE("a command that the vendor refuses at once fails the call, and has no event") {
    pi_test::FakeHost host;
    {
        auto queue = make<Queue>(host.get(), true);
        const auto refuse = [&](bool payload_says, pi_event *out_event) {
            int helped = 0;
            enqueue(*queue, arguments_of(0, out_event),
                    make_command([](Event &) { fail(PI_ERROR_BACKEND, "the vendor's words"); }),
                    std::make_unique<HelpingPayload>(helped, payload_says));
        };
        pi_event event = nullptr;
        std::string words;
        try {
            refuse(true, &event);
        } catch (const Error &error) {
            words = error.text();
        }
        CHECK(words == "the vendor's words");
        CHECK(event == nullptr);
        refuse(false, &event); // a failure other than a refusal by the vendor is the event's
        REQUIRE(event);
        CHECK(event_entries::wait(event, PI_TIMEOUT_NEVER) == PI_ERROR_BACKEND);
        event_entries::release(event);
    }
    CHECK(host.objects() == 0);
}

TEST_CASE("a command's references live exactly until its event is complete") {
    pi_test::FakeHost host;
    auto queue = make<Queue>(host.get(), true);
    auto gate = host_event(host);
    auto kept = std::make_shared<int>(1);
    auto event =
        queue->submit(make_command([kept](Event &e) { e.finish(PI_SUCCESS); }), {gate.get()});
    CHECK(kept.use_count() == 2);
    gate->signal(PI_SUCCESS);
    CHECK(kept.use_count() == 1);
    CHECK(event->is_complete());
}

TEST_CASE("profiling times never decrease and exist only where requested") {
    pi_test::FakeHost host;
    auto timed = make<Queue>(host.get(), true, true), plain = make<Queue>(host.get(), true);
    auto event = timed->submit(make_command([](Event &e) {
        e.running();
        e.finish(PI_SUCCESS);
    }));
    uint64_t before = 1;
    for (pi_profiling_info name = PI_PROFILING_QUEUED; name <= PI_PROFILING_END; ++name) {
        const uint64_t time = event->profiling(name);
        CHECK(time >= before);
        before = time;
    }
    uint64_t value;
    CHECK(event_entries::get_profiling_info(plain->submit(instant())->handle(), PI_PROFILING_END, 8,
                                            &value, nullptr) == PI_ERROR_PROFILING_UNAVAILABLE);
}

TEST_CASE("random graphs on worker threads run every command after its dependencies") {
    const auto seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    pi_test::FakeHost host;
    {
        Workers workers(3);
        std::vector<Ref<Queue>> queues;
        for (int i = 0; i < 4; ++i)
            queues.push_back(make<Queue>(host.get(), i % 2 == 0));
        constexpr int count = 2000;
        std::vector<Ref<Event>> events;
        std::vector<Ref<Event>> gates;
        std::vector<std::unique_ptr<std::atomic<bool>>> done;
        std::atomic<int> violations{0};
        for (int i = 0; i < count; ++i)
            done.push_back(std::make_unique<std::atomic<bool>>(false));
        for (int i = 0; i < count; ++i) {
            std::vector<Event *> waits;
            std::vector<int> before;
            for (int k = static_cast<int>(random() % 4); k > 0 && i > 0; --k) {
                before.push_back(static_cast<int>(random() % static_cast<uint64_t>(i)));
                waits.push_back(events[static_cast<size_t>(before.back())].get());
            }
            if (random() % 10 == 0) {
                gates.push_back(host_event(host));
                waits.push_back(gates.back().get());
            }
            auto command = make_command([&, before, i](Event &event) {
                workers.post([&, before, i, self = Ref<Event>(event)] {
                    for (int one : before)
                        violations += !*done[static_cast<size_t>(one)];
                    *done[static_cast<size_t>(i)] = true;
                    self->finish(PI_SUCCESS);
                });
            });
            events.push_back(queues[random() % 4]->submit(std::move(command), waits));
        }
        std::shuffle(gates.begin(), gates.end(), random);
        for (const auto &gate : gates)
            gate->signal(PI_SUCCESS);
        for (const auto &event : events)
            REQUIRE(event->wait_complete(patience));
        CHECK(violations == 0);
        CHECK(std::all_of(done.begin(), done.end(), [](const auto &flag) { return flag->load(); }));
        for (const auto &queue : queues)
            queue->sequence().finish();
    }
    CHECK(host.objects() == 0);
}
