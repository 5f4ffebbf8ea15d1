// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "byte_model.hpp"
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <future>

using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

constexpr uint64_t size = 5000;

/// The device is lost from its first read command on.
constexpr const char *lost_device = "piEnqueueMemBufferRead:1..99999=fail_event(DEVICE_LOST);"
                                    "piEnqueueMemBufferMap:1..99999=fail_event(DEVICE_LOST);"
                                    "piEnqueueMemBufferCopy:1..99999=fail_event(DEVICE_LOST);"
                                    "piEnqueueEventsWait:1..99999=fail_event(DEVICE_LOST)";

Storage make_storage(const Runtime &runtime) {
    // Without maps: the faults hit reads.
    return Storage(runtime, {.size = size,
                             .routes = mask_of(RouteKind::host_bounce),
                             .styles = mask_of(BounceStyle::read) | mask_of(BounceStyle::write) |
                                       mask_of(BounceStyle::staged)});
}

void fill(const Machine &machine, const Buffer &buffer, const Range &range, uint8_t value) {
    Acquisition writer = buffer.acquire(1, Access::discard_write, range.begin, range.size());
    const Event filled = machine.fill(writer, value);
    writer.release(filled.get());
    REQUIRE(wait(filled) == PI_SUCCESS);
}

/// Another storage, with bytes only on that device, finds the loss.
void lose_device(const Machine &machine, const Runtime &runtime) {
    const Storage other = make_storage(runtime);
    fill(machine, other.buffer(), {0, size}, 1);
    REQUIRE(code_of([&] { host_read(other.buffer()); }) == PI_ERROR_DEVICE_LOST);
    REQUIRE(other.finish(patience));
}

std::string text_of(const std::function<void()> &call) {
    try {
        call();
    } catch (const Error &error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("when a device is lost, bytes elsewhere survive, and exactly the others are lost",
          "[runtime]") {
    const Machine machine(2, lost_device);
    const Runtime runtime(machine.topology());
    const Storage storage = make_storage(runtime);
    const Buffer buffer = storage.buffer();
    std::vector<uint8_t> expected = pattern(size, 1);
    host_write(buffer, 0, expected);
    buffer.prefetch(1);
    fill(machine, buffer, {100, 200}, 7);
    fill(machine, buffer, {4000, 4010}, 8);
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost().empty());

    CHECK(code_of([&] { host_read(buffer); }) == PI_ERROR_DEVICE_LOST);
    REQUIRE(runtime.finish(patience));
    const RangeSet gone{{100, 200}, {4000, 4010}};
    CHECK(storage.lost() == gone);
    CHECK(storage.valid(1).empty());
    CHECK(storage.valid(host_place) == subtract(RangeSet({0, size}), gone));
    CHECK(host_read(buffer, 0, 100) == std::vector(expected.begin(), expected.begin() + 100));
    CHECK(host_read(buffer, 200, 3800) ==
          std::vector(expected.begin() + 200, expected.begin() + 4000));
    CHECK_THAT(text_of([&] { host_read(buffer, 150, 100); }), Contains("[150, 200)"));

    // The same device in the other context is lost, too.
    for (const PlaceIndex place : {1U, static_cast<PlaceIndex>(1 + machine.devices().size())}) {
        CHECK_THAT(text_of([&] { buffer.acquire(place, Access::discard_write); }),
                   Contains(machine.topology()->info(place).name) && Contains("lost"));
    }
    // Rewritten bytes are valid again.
    host_write(buffer, 100, std::vector<uint8_t>(50, 9));
    CHECK(storage.lost() == RangeSet({{150, 200}, {4000, 4010}}));
    CHECK(host_read(buffer, 50, 100)[50] == 9);
}

TEST_CASE("a single DEVICE_LOST loses nothing if the device goes on", "[runtime]") {
    const Machine machine(2, "piEnqueueMemBufferRead:1=fail_event(DEVICE_LOST)");
    const Runtime runtime(machine.topology());
    const Storage storage = make_storage(runtime);
    const Buffer buffer = storage.buffer();
    fill(machine, buffer, {0, size}, 3);
    REQUIRE(runtime.finish(patience));
    CHECK(code_of([&] { host_read(buffer); }) == PI_ERROR_DEVICE_LOST); // its only route failed
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost().empty());
    CHECK(host_read(buffer) == std::vector<uint8_t>(size, 3));
    buffer.acquire(1, Access::read).release();
}

TEST_CASE("a device that reports twice that it is lost counts as lost for good", "[runtime]") {
    const Machine machine(2, "piEnqueueMemBufferRead:1=fail_event(DEVICE_LOST);"
                             "piEnqueueEventsWait:1=fail_event(DEVICE_LOST)");
    const Runtime runtime(machine.topology());
    const Storage storage = make_storage(runtime);
    const Buffer buffer = storage.buffer();
    fill(machine, buffer, {0, size}, 3);
    REQUIRE(runtime.finish(patience));
    CHECK(code_of([&] { host_read(buffer); }) == PI_ERROR_DEVICE_LOST);
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost() == RangeSet({0, size}));
    CHECK(code_of([&] { buffer.acquire(1, Access::read); }) == PI_ERROR_DEVICE_LOST);
}

TEST_CASE("a write at a device that is lost meanwhile fails, and the old bytes stay", "[runtime]") {
    const Machine machine(2, "piEnqueueMemBufferFill:1..99999=fail_event(DEVICE_LOST);"
                             "piEnqueueEventsWait:1..99999=fail_event(DEVICE_LOST)");
    const Runtime runtime(machine.topology());
    const Storage storage = make_storage(runtime);
    const Buffer buffer = storage.buffer();
    host_write(buffer, 0, pattern(size, 4));
    Acquisition writer = buffer.acquire(1, Access::discard_write, 0, 1000);
    writer.release(machine.fill(writer, 1).get());
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost().empty());
    CHECK(host_read(buffer) == pattern(size, 4));
    CHECK(code_of([&] { buffer.acquire(1, Access::read); }) == PI_ERROR_DEVICE_LOST);
}

TEST_CASE("an overtaken write makes nothing valid when the newer write's bytes are lost",
          "[runtime]") {
    const Machine machine(2, lost_device);
    const Runtime runtime(machine.topology());
    const Storage storage = make_storage(runtime);
    const Buffer buffer = storage.buffer();
    host_write(buffer, 0, pattern(size, 6));
    Acquisition overtaken = buffer.acquire(host_place, Access::discard_write, 0, 3000);
    fill(machine, buffer, {1000, 2000}, 1);
    lose_device(machine, runtime);
    const RangeSet gone({1000, 2000});
    CHECK(storage.lost() == gone);
    std::memset(overtaken.pointer(), 2, 3000);
    overtaken.release();
    CHECK(storage.lost() == gone);
    CHECK(code_of([&] { host_read(buffer, 1500, 1); }) == PI_ERROR_DEVICE_LOST);
    CHECK(host_read(buffer, 0, 1000) == std::vector<uint8_t>(1000, 2));
    CHECK(host_read(buffer, 2000, 1000) == std::vector<uint8_t>(1000, 2));
}

TEST_CASE(
    "after an abandoned write another replica is valid, and the bytes are lost with its device",
    "[runtime]") {
    const Machine machine(2, lost_device);
    const Runtime runtime(machine.topology());
    const Storage storage = make_storage(runtime);
    const Buffer buffer = storage.buffer();
    const Range written{0, 3000}, abandoned{1000, 2000};
    pi_test::ByteModel model(size, {1U << host_place, 1U << 1});
    host_write(buffer, 0, pattern(3000, 7));
    model.write(host_place, written, pattern(3000, 7));
    buffer.prefetch(1, 0, 3000);
    REQUIRE(runtime.finish(patience));
    buffer.acquire(host_place, Access::read_write, 1000, 1000).abandon();
    model.fail_write(host_place, abandoned, false);
    CHECK(storage.valid(host_place) == RangeSet({{0, 1000}, {2000, 3000}}));
    lose_device(machine, runtime);
    CHECK(storage.lost() == RangeSet(abandoned));
    CHECK(model.check_lost(storage.lost(), 1U << host_place).empty());
    CHECK(model.check_lost(RangeSet({1000, 2001}), 1U << host_place) != "");
    CHECK(model.known() == 3000);
}

namespace {

/// Holds back the completion of the first transfer.
class LateAnswer final : public Transport {
public:
    explicit LateAnswer(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}
    void start(const TransferRequest &request, TransferDone done) override {
        if (begun_.exchange(true)) {
            inner_->start(request, std::move(done));
            return;
        }
        inner_->start(request, [this, done = std::move(done)](pi_result result, const auto &text) {
            answer_.set_value([done, result, text] { done(result, text); });
        });
    }
    /// Waits until that transfer is done; returns the function that completes it.
    std::function<void()> answer() {
        auto there = answer_.get_future();
        REQUIRE(there.wait_for(patience) == std::future_status::ready);
        return there.get();
    }

private:
    const std::shared_ptr<Transport> inner_;
    std::atomic<bool> begun_{false};
    std::promise<std::function<void()>> answer_;
};

} // namespace

TEST_CASE("bytes that were on their way when a device was lost are not lost once they have arrived",
          "[runtime]") {
    const Machine machine(2, "piEnqueueMemBufferRead:2..99999=fail_event(DEVICE_LOST);"
                             "piEnqueueEventsWait:1..99999=fail_event(DEVICE_LOST)");
    std::shared_ptr<LateAnswer> transport;
    RuntimeOptions options;
    options.wrap_transport = [&](std::shared_ptr<Transport> inner) {
        return transport = std::make_shared<LateAnswer>(std::move(inner));
    };
    const Runtime runtime(machine.topology(), options);
    const Storage storage = make_storage(runtime);
    const Buffer buffer = storage.buffer();
    fill(machine, buffer, {0, size}, 3);
    buffer.prefetch(host_place, 0, 1000);
    const auto answer = transport->answer();
    lose_device(machine, runtime);
    CHECK(storage.lost() == RangeSet({0, size}));
    answer();
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost() == RangeSet({1000, size}));
    CHECK(host_read(buffer, 0, 1000) == std::vector<uint8_t>(1000, 3));
}

TEST_CASE("lost bytes that are about to be written again are read after that write", "[runtime]") {
    const Machine machine(2, lost_device);
    const Runtime runtime(machine.topology());
    const Storage storage = make_storage(runtime);
    const Buffer buffer = storage.buffer();
    fill(machine, buffer, {0, size}, 3);
    lose_device(machine, runtime);
    const bool succeeds = GENERATE(true, false);
    Event end;
    REQUIRE(piEventCreateHost(machine.topology()->context(1), nullptr, end.out()) == PI_SUCCESS);
    Acquisition writer = buffer.acquire(host_place, Access::discard_write, 0, 1000);
    std::memset(writer.pointer(), 4, 1000);
    writer.release(end.get());
    CHECK(code_of([&] { buffer.acquire(host_place, Access::read, 0, 1001); }) ==
          PI_ERROR_DEVICE_LOST);
    Acquisition reader = buffer.acquire(host_place, Access::read, 0, 1000);
    CHECK(code_of([&] { reader.wait(std::chrono::milliseconds(1)); }) == PI_ERROR_TIMEOUT);
    CHECK(storage.lost() == RangeSet({0, size}));
    REQUIRE(piEventSignalHost(end.get(), succeeds ? PI_SUCCESS : PI_ERROR_BACKEND) == PI_SUCCESS);
    CHECK(code_of([&] { reader.wait(patience); }) == (succeeds ? PI_SUCCESS : PI_ERROR_BACKEND));
    REQUIRE(runtime.finish(patience));
    CHECK(storage.lost() == RangeSet({succeeds ? 1000U : 0U, size}));
}
