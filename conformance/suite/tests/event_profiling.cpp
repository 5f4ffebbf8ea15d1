// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "command_cases.hpp"
#include "library.hpp"
#include "registry.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace pi::suite {
namespace {

using Times = std::array<uint64_t, 4>;

Times times_of(pi_event event, const std::string &what) {
    Times times{};
    uint64_t before = 0;
    for (uint32_t i = 0; i < times.size(); ++i) {
        times[i] = get_info<uint64_t>(&piEventGetProfilingInfo, event, PI_PROFILING_QUEUED + i);
        require(times[i] >= before, what, ": profiling time ", PI_PROFILING_QUEUED + i, " is ",
                times[i], ", before the one before it, ", before);
        before = times[i];
    }
    return times;
}

Queue make_profiling_queue(Fixture &fixture) {
    const auto flags =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
    if ((flags & PI_QUEUE_PROFILING) == 0)
        skip("the device has no queues with profiling");
    return fixture.make_queue(PI_QUEUE_PROFILING);
}

CONFORMANCE_TEST("event", "every command's times go forward, and stay as they are") {
    const Queue queue = make_profiling_queue(fixture);
    const Queue other = fixture.make_queue();
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_COMMAND_BLOCKING}}) {
        for (const auto &command : make_command_cases(fixture)) {
            const std::string what = command->name() + (flags != 0 ? ", blocking" : "");
            const Event event = command->start(queue, {}, flags);
            fixture.wait(event, what);
            const Times times = times_of(event, what);
            require(times_of(event, what) == times, what,
                    ": its times are other ones on the second call");
            command->require_done(other);
            command->clean_up(other);
        }
    }
}

CONFORMANCE_TEST("event", "a barrier that waited has its times") {
    const Queue queue = make_profiling_queue(fixture);
    const Event first = fixture.barrier(queue);
    fixture.wait(first);
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    fixture.signal(gate);
    fixture.wait(held);
    const Times before = times_of(first, "a barrier");
    const Times after = times_of(held, "a barrier that was held back");
    require(after[0] >= before[0], "a barrier was enqueued at ", after[0], ", one before it at ",
            before[0]);
}

CONFORMANCE_TEST("event", "a command's times are after those of the command that it waited for") {
    const Queue queue = make_profiling_queue(fixture);
    const Queue second = make_profiling_queue(fixture);
    const Mem mem = fixture.make_buffer(1 << 20);
    static const Bytes written(1 << 20); // outlives pending commands if a call fails
    // Fills and writes, which may be the work of different engines, all there before the first is
    // done.
    std::vector<Event> events;
    events.push_back(fixture.fill(queue, mem, 0, 1 << 20, Bytes(1, std::byte{1})));
    for (int i = 0; i < 10; ++i) {
        const std::vector<pi_event> last{events.back()};
        events.push_back(i % 2 == 0
                             ? fixture.write(second, mem, 0, written, last)
                             : fixture.fill(queue, mem, 0, 1 << 20, Bytes(1, std::byte{2}), last));
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
        fixture.wait(events[i]);
        if (i == 0)
            continue;
        const Times before = times_of(events[i - 1], "a command");
        const Times after = times_of(events[i], "its successor");
        require(after[2] >= before[3], "a command began at ", after[2],
                ", the one that it waited for ended at ", before[3]);
        require(after[3] >= before[3], "a command ended at ", after[3],
                ", the one that it waited for at ", before[3]);
    }
}

// The device's clock, or the error of a device without one.
std::optional<uint64_t> device_time(Fixture &fixture) {
    uint64_t time = 0;
    const pi_result result = piDeviceGetGlobalTimestamps(fixture.device(), &time, nullptr);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        return std::nullopt;
    require_success(result, "piDeviceGetGlobalTimestamps");
    return time;
}

// The error that a backend may have that converts its own clock.
constexpr uint64_t slack = 100'000'000;

CONFORMANCE_TEST("event", "a command's times are between the device's clock before and after it") {
    const Queue queue = make_profiling_queue(fixture);
    const Mem mem = fixture.make_buffer(1 << 16);
    const auto before = device_time(fixture);
    if (!before)
        skip("the device has no clock");
    const Event filled = fixture.fill(queue, mem, 0, 1 << 16, Bytes(1, std::byte{1}));
    const Event passed = fixture.barrier(queue);
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    fixture.signal(gate);
    fixture.wait({filled, passed, held});
    const auto after = device_time(fixture);
    for (const auto &[event, what] : {std::pair<pi_event, const char *>{filled, "a fill"},
                                      {passed, "a barrier"},
                                      {held, "a barrier that was held back"}}) {
        const Times times = times_of(event, what);
        require(times[0] + slack >= *before, what, " was queued at ", times[0],
                ", the device's clock was ", *before, " before");
        require(times[3] <= *after + slack, what, " ended at ", times[3],
                ", the device's clock was ", *after, " afterwards");
    }
}

CONFORMANCE_TEST("event", "a timestamp has the time when it ran, on any queue") {
    fixture.need(PI_CAPABILITY_TIMESTAMP, "PI_CAPABILITY_TIMESTAMP");
    const auto before = device_time(fixture);
    require(before.has_value(), "the device has timestamps, but reports no time");
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_PROFILING}}) {
        const uint64_t honoured =
            get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
        if ((flags & ~honoured) != 0)
            continue;
        const Queue queue = fixture.make_queue(flags);
        Event event;
        require_success(try_enqueue(queue, pi::desc<pi_timestamp_desc>(), {}, event.out()),
                        "piEnqueueTimestamp");
        fixture.wait(event);
        const Times times = times_of(event, "a timestamp");
        const auto after = device_time(fixture);
        require(times[3] + slack >= *before && times[3] <= *after + slack, "a timestamp reports ",
                times[3], ", the device's clock was ", *before, " before and ", *after,
                " afterwards");
    }
}

CONFORMANCE_TEST("queue", "the times of an in-order queue's commands do not overlap") {
    const Queue queue = make_profiling_queue(fixture);
    const Mem mem = fixture.make_buffer(1 << 20);
    std::vector<Event> events;
    for (int i = 0; i < 10; ++i)
        events.push_back(fixture.fill(queue, mem, 0, 1 << 20, Bytes(1, std::byte{1})));
    uint64_t end = 0;
    for (const Event &event : events) {
        fixture.wait(event);
        const Times times = times_of(event, "a fill");
        require(times[2] >= end, "a command of an in-order queue began at ", times[2],
                ", the one before it ended at ", end);
        end = times[3];
    }
}

CONFORMANCE_TEST("event", "a long command has a duration") {
    const Queue queue = make_profiling_queue(fixture);
    const uint64_t size = fixture.at_most(32 << 20);
    const uint64_t least = size >> 14; // nanoseconds: no memory takes 16 KiB in one
    if (info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_TIMER_RESOLUTION, least) >=
        least)
        skip("the device's times are too coarse");
    const Mem mem = fixture.make_buffer(size);
    const std::byte pattern{1};
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = mem;
    desc.pattern = &pattern;
    desc.pattern_size = 1;
    desc.size = size;
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_COMMAND_BLOCKING}}) {
        desc.flags = flags;
        const Event event = fixture.enqueue(queue, desc);
        fixture.wait(event);
        const Times times = times_of(event, "a large fill");
        require(times[3] > times[2], "a fill of ", size, " bytes began and ended at ", times[2]);
    }
}

CONFORMANCE_TEST("event", "times differ by no less than the device's resolution") {
    const Queue queue = make_profiling_queue(fixture);
    const auto resolution =
        info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_TIMER_RESOLUTION, uint64_t{0});
    if (resolution == 0)
        skip("the device reports no resolution of its times");
    if (is_simulated(fixture.device()))
        skip("a simulated driver's times are finer than a device's");
    const Mem mem = fixture.make_buffer(1 << 16);
    std::vector<uint64_t> all;
    for (int i = 0; i < 100; ++i) {
        const uint64_t size = fixture.random(1, 1 << 16);
        const Event event = fixture.fill(queue, mem, 0, size, Bytes(1, std::byte{1}));
        fixture.wait(event);
        const Times times = times_of(event, "a fill");
        all.insert(all.end(), {times[2], times[3]});
    }
    std::ranges::sort(all);
    for (std::size_t i = 1; i < all.size(); ++i) {
        // Both are rounded to nanoseconds.
        const uint64_t apart = all[i] - all[i - 1];
        require(apart == 0 || apart + 1 >= resolution, "two times are ", apart,
                " ns apart, the device's resolution is ", resolution);
    }
}

CONFORMANCE_TEST("event", "two timestamps are as far apart as the host's clock says") {
    fixture.need(PI_CAPABILITY_TIMESTAMP, "PI_CAPABILITY_TIMESTAMP");
    if (get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND) ==
        PI_BACKEND_SIMULATED)
        skip("the device's time is simulated");
    using Clock = std::chrono::steady_clock;
    const Queue queue = fixture.make_queue();
    struct Reading {
        Clock::time_point before, after;
        uint64_t device;
    };
    const auto read = [&] {
        Reading reading{Clock::now(), {}, 0};
        const Event event = fixture.enqueue(queue, pi::desc<pi_timestamp_desc>());
        fixture.wait(event);
        reading.after = Clock::now();
        reading.device = times_of(event, "a timestamp")[3];
        return reading;
    };
    const Reading first = read();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const Reading second = read();
    const auto nanoseconds = [](Clock::duration time) {
        return static_cast<double>(std::chrono::nanoseconds(time).count());
    };
    const double least = nanoseconds(second.before - first.after);
    const double most = nanoseconds(second.after - first.before);
    const auto passed = static_cast<double>(second.device - first.device);
    require(0.99 * least <= passed && passed <= 1.01 * most, "two timestamps are ", passed,
            " ns apart, by the host's clock between ", least, " and ", most);
}

CONFORMANCE_TEST("event", "a command's times are values of their type") {
    const Queue queue = make_profiling_queue(fixture);
    const Event event = fixture.barrier(queue);
    fixture.wait(event);
    check_info(
        "piEventGetProfilingInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piEventGetProfilingInfo(event, name, size, value, out_size);
        },
        profiling_info_names());
}

CONFORMANCE_TEST("event", "a command that was held back begins after the signal") {
    const Queue queue = make_profiling_queue(fixture);
    if (!device_time(fixture))
        skip("the device has no clock");
    const Mem mem = fixture.make_buffer(4096);
    const Event gate = fixture.make_host_event();
    const Event filled = fixture.fill(queue, mem, 0, 4096, Bytes(1, std::byte{1}), {gate});
    const Event passed = fixture.barrier(queue);
    require_success(piQueueFlush(queue), "piQueueFlush");
    // Longer than the errors of both times.
    std::this_thread::sleep_for(std::chrono::nanoseconds(3 * slack));
    const uint64_t signalled = *device_time(fixture);
    fixture.signal(gate);
    fixture.wait({filled, passed});
    for (const auto &[event, what] :
         {std::pair<pi_event, const char *>{filled, "a fill"}, {passed, "a barrier behind it"}}) {
        const Times times = times_of(event, what);
        require(times[2] + slack >= signalled, what, " that was held back began at ", times[2],
                ", the device's clock was ", signalled, " before the signal");
    }
}

CONFORMANCE_TEST("event", "an event without times refuses a query for them") {
    const Queue queue = make_profiling_queue(fixture);
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    const Event without = fixture.barrier(fixture.make_queue());
    fixture.wait(without);
    const Event signalled = fixture.make_host_event();
    fixture.signal(signalled);
    const Event failing = fixture.make_host_event();
    const Event failed = fixture.barrier(make_profiling_queue(fixture), {failing});
    fixture.signal(failing, PI_ERROR_BACKEND);
    fixture.require_result(failed, PI_ERROR_DEPENDENCY_FAILED, "the command behind a failure");
    for (uint32_t name = PI_PROFILING_QUEUED; name <= PI_PROFILING_END; ++name) {
        const auto refused = [&](const char *what, pi_event event) {
            uint64_t time = poison<uint64_t>();
            uint64_t size = poison<uint64_t>();
            require_error(piEventGetProfilingInfo(event, name, sizeof time, &time, &size),
                          PI_ERROR_PROFILING_UNAVAILABLE, "time ", name, " of ", what);
            require(same(time, poison<uint64_t>()) && same(size, poison<uint64_t>()),
                    "the time of ", what, " was refused, but an output was written");
        };
        refused("a host event", gate);
        refused("a command that is not complete", held);
        refused("a command of a queue without profiling", without);
        refused("a host event that is complete", signalled);
        refused("a failed command", failed);
    }
    fixture.signal(gate);
    fixture.wait(held);
}

CONFORMANCE_TEST("event", "commands have their times in a queue with other flags, too") {
    const auto honoured =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
    make_profiling_queue(fixture);
    for (const uint64_t with : {honoured & PI_QUEUE_OUT_OF_ORDER, uint64_t{PI_QUEUE_PRIORITY_LOW},
                                uint64_t{PI_QUEUE_PRIORITY_HIGH},
                                (honoured & PI_QUEUE_OUT_OF_ORDER) | PI_QUEUE_PRIORITY_HIGH}) {
        const Queue queue = fixture.make_queue(PI_QUEUE_PROFILING | with);
        const Mem mem = fixture.make_buffer(4096);
        const Event event = fixture.fill(queue, mem, 0, 4096, Bytes(1, std::byte{1}));
        fixture.wait(event);
        const std::string what = join("a fill in a profiling queue with flags ", with);
        const Times times = times_of(event, what);
        require(times.front() != 0, what, " has the times 0");
    }
}

} // namespace
} // namespace pi::suite
