// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ownership and failures, in both variants.
#include "fixture.hpp"

#include <memory>

using namespace cpp_test;

namespace {

uint32_t references(pi::ContextRef context) {
    return context.info<PI_CONTEXT_INFO_REFERENCE_COUNT>();
}

} // namespace

TEST_CASE("an owner takes over a reference and releases it at its end") {
    const Machine machine = host();
    const uint32_t before = references(machine.context);
    {
        const pi::Context another = machine.context.retain();
        CHECK(another == machine.context);
        CHECK(references(machine.context) == before + 1);
        const pi::ContextRef borrowed = another;
        CHECK(references(borrowed) == before + 1);
    }
    CHECK(references(machine.context) == before);
}

TEST_CASE("a reference moves with its owner") {
    const Machine machine = host();
    const uint32_t before = references(machine.context);
    pi::Context first = machine.context.retain();
    pi::Context second = std::move(first);
    CHECK_FALSE(first); // NOLINT: a moved-from owner is empty
    CHECK(second == machine.context);
    CHECK(references(second) == before + 1);
    pi::Context third = machine.context.retain();
    third = std::move(second);
    CHECK(references(machine.context) == before + 1);
    pi::Context &same = third;
    third = std::move(same);
    CHECK(third == machine.context);
    CHECK(references(machine.context) == before + 1);
    third.reset();
    CHECK_FALSE(third);
    third.reset();
    CHECK(references(machine.context) == before);
}

TEST_CASE("references are exchanged with C") {
    const Machine machine = host();
    const uint32_t before = references(machine.context);
    pi::Context owner = machine.context.retain();
    const pi_context raw = owner.detach();
    CHECK_FALSE(owner);
    CHECK(references(raw) == before + 1);
    owner = pi::Context::adopt(raw);
    CHECK(references(raw) == before + 1);
    REQUIRE(piContextRetain(raw) == PI_SUCCESS);
    *owner.out() = raw; // out() releases the first one
    CHECK(references(raw) == before + 1);
    owner.reset();
    CHECK(references(raw) == before);
}

TEST_CASE("a vector of owners releases all references") {
    const Machine machine = host();
    const uint32_t before = references(machine.context);
    {
        std::vector<pi::Context> owners;
        for (int i = 0; i < 20; ++i)
            owners.push_back(machine.context.retain());
        CHECK(references(machine.context) == before + 20);
        owners.erase(owners.begin(), owners.begin() + 5);
        CHECK(references(machine.context) == before + 15);
    }
    CHECK(references(machine.context) == before);
}

TEST_CASE("a failure is thrown with its code, its function and its text") {
    const Machine machine = host();
    try {
        pi::Mem::buffer_create(machine.context, machine.device(), 0);
        FAIL("nothing was thrown");
    } catch (const pi::Error &error) {
        CHECK(error.code() == PI_ERROR_INVALID_SIZE);
        const std::string text = error.what();
        CHECK_THAT(text, Catch::StartsWith("piMemBufferCreate: PI_ERROR_INVALID_SIZE: "));
        CHECK_THAT(text, Catch::EndsWith(pi::last_error().message));
    }
    const std::exception *base = nullptr;
    try {
        pi::Queue().finish();
    } catch (const std::exception &error) {
        base = &error;
        CHECK_THAT(error.what(), Catch::StartsWith("piQueueFinish: PI_ERROR_INVALID_QUEUE"));
    }
    CHECK(base != nullptr);
}

TEST_CASE("a failure without exceptions is a code with a text and an empty value") {
    const Machine machine = host();
    using namespace pi::nothrow;
    const auto refused = pi::nothrow::Mem::buffer_create(machine.context, machine.device(), 0);
    CHECK_FALSE(refused);
    CHECK_FALSE(refused.has_value());
    CHECK(refused.error() == PI_ERROR_INVALID_SIZE);
    CHECK_THAT(refused.message(), Catch::StartsWith("PI_ERROR_INVALID_SIZE: "));
    CHECK_THAT(refused.message(), Catch::EndsWith(pi::last_error().message));
    CHECK_FALSE(*refused); // a null handle
    const pi::Result<void> finished = pi::nothrow::QueueRef().finish();
    CHECK(finished.error() == PI_ERROR_INVALID_QUEUE);
    CHECK(pi::nothrow::ContextRef().retain().error() == PI_ERROR_INVALID_CONTEXT);
}

TEST_CASE("a value without exceptions is an owner that can be taken out") {
    const Machine machine = host();
    auto made = pi::nothrow::Mem::buffer_create(machine.context, machine.device(), 64);
    REQUIRE(made);
    CHECK(made.error() == PI_SUCCESS);
    CHECK(made->info<PI_MEM_INFO_SIZE>().value() == 64);
    const pi::nothrow::Mem mem = std::move(made).value();
    CHECK_FALSE(*made); // NOLINT: moved from
    CHECK(mem.info<PI_MEM_INFO_SIZE>().value_or(0) == 64);
    CHECK(pi::nothrow::MemRef().info<PI_MEM_INFO_SIZE>().value_or(7) == 7);
}

TEST_CASE("value() of a failure throws the same error") {
    CHECK(code_of([] { pi::nothrow::QueueRef().finish().value(); }) == PI_ERROR_INVALID_QUEUE);
    CHECK(code_of([] { pi::nothrow::QueueRef().retain().value(); }) == PI_ERROR_INVALID_QUEUE);
    CHECK(code_of([] {
              const auto size = pi::nothrow::MemRef().info<PI_MEM_INFO_SIZE>();
              static_cast<void>(size.value());
          }) == PI_ERROR_INVALID_MEM_OBJECT);
}

TEST_CASE("a failure does not carry the text of another failure") {
    const pi_result result = piQueueFinish(nullptr);
    CHECK(pi::error_message(PI_ERROR_BACKEND) == "PI_ERROR_BACKEND");
    CHECK_THAT(pi::error_message(result), Catch::StartsWith("PI_ERROR_INVALID_QUEUE: "));
    CHECK(std::string(pi::result_name(1)) == "unknown result");
}

TEST_CASE("refused create, retain and list calls return no owner, in both variants") {
    const char *faults =
        "piQueueCreate:2..3=fail(OUT_OF_RESOURCES); piQueueRetain:1..2=fail(DEVICE_LOST); "
        "piDeviceGetMemoryScopes:2=fail(BACKEND)";
    const Machine machine(load(PI_TEST_HOST_PLUGIN, {{"PI_FAULT", faults}}, {"fault"}));
    CHECK(code_of([&] { pi::Queue::create(machine.context, machine.device()); }) ==
          PI_ERROR_OUT_OF_RESOURCES);
    const auto queue = pi::nothrow::Queue::create(machine.context, machine.device());
    CHECK(queue.error() == PI_ERROR_OUT_OF_RESOURCES);
    CHECK_FALSE(*queue);
    const uint32_t before = machine.queue.info<PI_QUEUE_INFO_REFERENCE_COUNT>();
    CHECK(code_of([&] { machine.queue.retain(); }) == PI_ERROR_DEVICE_LOST);
    CHECK(pi::nothrow::QueueRef(machine.queue).retain().error() == PI_ERROR_DEVICE_LOST);
    CHECK(machine.queue.info<PI_QUEUE_INFO_REFERENCE_COUNT>() == before);
    // The first call queries the count, the second the list.
    const auto scopes = pi::nothrow::DeviceRef(machine.device()).memory_scopes();
    CHECK(scopes.error() == PI_ERROR_BACKEND);
    CHECK(scopes->empty());
    uint64_t calls = 0;
    const pi::Plugin plugin = machine.loader.plugins().at(0);
    for (const pi_call_count &count : machine.loader.call_counts(plugin))
        if (std::string(count.function) == "piQueueCreate")
            calls = count.count;
    CHECK(calls == 3);
}

TEST_CASE("both variants use each other's objects") {
    const Machine machine = host();
    auto host_event = pi::nothrow::Event::create_host(machine.context);
    REQUIRE(host_event);
    const pi::Event waiting =
        machine.queue.enqueue(pi::desc<pi_events_wait_desc>(), {*host_event, host_event->get()});
    CHECK_FALSE(waiting.wait_for(0));
    REQUIRE(pi::nothrow::EventRef(host_event->get()).signal_host());
    waiting.wait();
    pi::Event taken = pi::Event::adopt(host_event->detach());
    CHECK(taken.info<PI_EVENT_INFO_STATUS>() == PI_EVENT_COMPLETE);
}

namespace {

/// An error type of a program: results, and a list of the failures.
struct Counting {
    template <class T>
    using Returns = pi::Result<T>;
    template <class T, class Make>
    static pi::Result<T> give(pi_result result, const char *function, Make make) {
        if (result != PI_SUCCESS)
            failures.push_back(function);
        return pi::Nothrow::give<T>(result, function, make);
    }
    static inline std::vector<std::string> failures;
};

} // namespace

TEST_CASE("a program may define its own error type") {
    using Nouns = pi::Api<Counting>;
    CHECK(Nouns::QueueRef().flush().error() == PI_ERROR_INVALID_QUEUE);
    CHECK(Nouns::Context::create(nullptr, pi::DeviceList()).error() == PI_ERROR_INVALID_PLATFORM);
    CHECK(Counting::failures == std::vector<std::string>{"piQueueFlush", "piContextCreate"});
}

TEST_CASE("a closure is called once and then destroyed, or destroyed at once without an event") {
    const Machine machine = host();
    const auto calls = std::make_shared<int>(0);
    const pi::Event gate = pi::Event::create_host(machine.context);
    pi_event received = nullptr;
    pi_result result = PI_SUCCESS;
    gate.set_callback([&, calls](pi::EventRef event, pi_result how) {
        ++*calls;
        received = event.get();
        result = how;
    });
    CHECK(calls.use_count() == 2);
    gate.signal_host(PI_ERROR_BACKEND);
    CHECK(code_of([&] { gate.wait(); }) == PI_ERROR_BACKEND);
    // The callback may run in another thread.
    for (int i = 0; i < 1000 && calls.use_count() != 1; ++i)
        usleep(10'000);
    REQUIRE(calls.use_count() == 1);
    CHECK(*calls == 1);
    CHECK(received == gate.get());
    CHECK(result == PI_ERROR_BACKEND);
    // For a complete event, inside the call.
    gate.set_callback([calls](pi::EventRef, pi_result) { ++*calls; });
    for (int i = 0; i < 1000 && calls.use_count() != 1; ++i)
        usleep(10'000);
    CHECK(*calls == 2);
    CHECK(code_of([&] { pi::Event().set_callback([calls](pi::EventRef, pi_result) {}); }) ==
          PI_ERROR_INVALID_EVENT);
    CHECK(calls.use_count() == 1);
}
