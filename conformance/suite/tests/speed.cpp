// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reported speeds, latencies and channels, compared with the times of commands. Only on devices
// whose time is simulated: elsewhere no duration can be relied on.

#include "fixture.hpp"
#include "link.hpp"
#include "registry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

namespace pi::suite {
namespace {

void need_simulated_time(Fixture &fixture) {
    if (get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND) !=
        PI_BACKEND_SIMULATED)
        skip("the device's time is not simulated");
}

struct Span {
    uint64_t start, end;
};

Span span_of(pi_event event) {
    return {get_info<uint64_t>(&piEventGetProfilingInfo, event, PI_PROFILING_START),
            get_info<uint64_t>(&piEventGetProfilingInfo, event, PI_PROFILING_END)};
}

/// {bytes per second, nanoseconds}
using Speed = std::array<uint64_t, 2>;

// Its duration, but for the rounding of it and of the speed.
void require_takes(pi_event event, const Speed &speed, uint64_t bytes, const std::string &what) {
    const double moving = speed[0] == UINT64_MAX
                              ? 0
                              : static_cast<double>(bytes) * 1e9 / static_cast<double>(speed[0]);
    const double expected = static_cast<double>(speed[1]) + moving;
    const Span span = span_of(event);
    const auto took = static_cast<double>(span.end - span.start);
    require(std::abs(took - expected) <= 2 + expected * 1e-6, what, " of ", bytes, " bytes took ",
            took, " ns, by the reported speed ", expected);
}

constexpr uint64_t sizes[] = {1, 4096, 1 << 20};
constexpr uint64_t largest = 1 << 20;

CONFORMANCE_TEST("device",
                 "a simulated device's reads, writes and maps take the time of its speeds") {
    need_simulated_time(fixture);
    const auto speed_of = [&](pi_device_info name) -> std::optional<Speed> {
        const Speed speed = info_or(&piDeviceGetInfo, fixture.device(), name, Speed{});
        return speed == Speed{} ? std::nullopt : std::optional(speed);
    };
    const auto reading = speed_of(PI_DEVICE_INFO_HOST_READ_SPEED);
    const auto writing = speed_of(PI_DEVICE_INFO_HOST_WRITE_SPEED);
    const auto mapping = speed_of(PI_DEVICE_INFO_MAP_SPEED);
    if (!reading && !writing && !mapping)
        skip("the device reports no speeds");
    const Queue queue = fixture.make_queue(PI_QUEUE_PROFILING);
    const Mem mem = fixture.make_buffer(largest);
    fixture.upload(queue, mem, Bytes(largest));
    for (const uint64_t size : sizes) {
        Bytes bytes(size);
        if (writing) {
            const Event event = fixture.write(queue, mem, 0, bytes);
            fixture.wait(event);
            require_takes(event, *writing, size, "a write");
        }
        if (reading) {
            const Event event = fixture.read(queue, mem, 0, bytes);
            fixture.wait(event);
            require_takes(event, *reading, size, "a read");
        }
        if (!mapping)
            continue;
        void *pointer = nullptr;
        const Event mapped = fixture.map(queue, mem, PI_MAP_READ, 0, size, &pointer);
        fixture.wait(mapped);
        require_takes(mapped, *mapping, size, "a map for reading");
        fixture.wait(fixture.unmap(queue, mem, pointer));
        fixture.wait(fixture.map(queue, mem, PI_MAP_WRITE, 0, size, &pointer));
        const Event unmapped = fixture.unmap(queue, mem, pointer);
        fixture.wait(unmapped);
        require_takes(unmapped, *mapping, size, "an unmap after writing");
    }
}

CONFORMANCE_TEST("device", "a simulated device calls back its reported latency after the end") {
    need_simulated_time(fixture);
    const auto latency =
        info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_CALLBACK_LATENCY, UINT64_MAX);
    if (latency == UINT64_MAX)
        skip("the device reports no latency of callbacks");
    const Queue queue = fixture.make_queue(PI_QUEUE_PROFILING);
    const Mem mem = fixture.make_buffer(largest);
    const Event filled = fixture.fill(queue, mem, 0, largest, Bytes(1, std::byte{1}));
    uint64_t called = 0;
    const auto done = fixture.on_complete(filled, [&](pi_event, pi_result) {
        require_success(piDeviceGetGlobalTimestamps(fixture.device(), &called, nullptr),
                        "piDeviceGetGlobalTimestamps in a callback");
    });
    require_success(piQueueFlush(queue), "piQueueFlush");
    fixture.wait(*done, "the callback");
    fixture.check_callbacks();
    require_equal(called - span_of(filled).end, latency,
                  "the time from a command's end to its callback, as the device reports it,");
}

CONFORMANCE_TEST_PAIRS("connection",
                       "a copy between simulated places takes the time of its connection") {
    need_simulated_time(fixture);
    const pi_memory_connection_info info = connection_info(fixture.src(), fixture.dst(), nullptr);
    if (info.connection == PI_MEMORY_CONNECTION_NONE)
        skip("the connection is NONE");
    if (info.bandwidth == 0)
        skip("the connection's bandwidth is not known");
    const Place &at =
        info.preferred_queue == PI_PREFERRED_QUEUE_DST ? fixture.dst() : fixture.src();
    const Queue queue = fixture.make_queue(at, PI_QUEUE_PROFILING);
    const Mem from = fixture.make_buffer(fixture.src(), Bytes(largest));
    const Mem to = fixture.make_buffer(fixture.dst(), Bytes(largest));
    for (const uint64_t size : sizes) {
        const Event event = fixture.copy(queue, from, 0, to, 0, size);
        fixture.wait(event);
        require_takes(event, {info.bandwidth, info.latency}, size, "a copy");
    }
}

// ----- Channels -----

using Channels = std::vector<uint64_t>;

Channels host_channels(pi_device device, pi_device_info name) {
    uint64_t size = 0;
    if (piDeviceGetInfo(device, name, 0, nullptr, &size) == PI_ERROR_UNSUPPORTED_FEATURE)
        return {};
    return get_info_list<uint64_t>(&piDeviceGetInfo, device, name);
}

Channels copy_channels(const Place &src, const Place &dst) {
    const pi_memory_connection_info info = connection_info(src, dst, nullptr);
    Channels channels;
    if (info.connection != PI_MEMORY_CONNECTION_NONE)
        std::ranges::copy_if(info.channels, std::back_inserter(channels),
                             [](uint64_t channel) { return channel != 0; });
    return channels;
}

/// A transfer of `largest` bytes that runs alone on its queue, and its channels; none if unknown.
struct Transfer {
    std::string what;
    Channels channels;
    std::function<Event()> start;
};

bool share(const Transfer &one, const Transfer &other) {
    return std::ranges::any_of(one.channels, [&](uint64_t channel) {
        return std::ranges::count(other.channels, channel) != 0;
    });
}

CONFORMANCE_TEST_PAIRS("connection",
                       "transfers of simulated places take turns where they share a channel") {
    need_simulated_time(fixture);
    std::vector<Queue> queues;
    std::vector<Mem> mems;
    static Bytes host(largest); // outlives pending commands if a call fails
    static Bytes read_to[2]{Bytes(largest), Bytes(largest)};
    std::vector<Transfer> transfers;
    const auto queue_of = [&](const Place &place) {
        return queues.emplace_back(fixture.make_queue(place, PI_QUEUE_PROFILING)).get();
    };
    const auto buffer_of = [&](const Place &place) {
        return mems.emplace_back(fixture.make_buffer(place, Bytes(largest))).get();
    };
    for (const bool is_src : {true, false}) {
        const Place &place = is_src ? fixture.src() : fixture.dst();
        const Place &other = is_src ? fixture.dst() : fixture.src();
        const std::string name = is_src ? "src" : "dst";
        transfers.push_back({"a read of " + name,
                             host_channels(place.device, PI_DEVICE_INFO_HOST_READ_CHANNELS),
                             [&, is_src, queue = queue_of(place), mem = buffer_of(place)] {
                                 return fixture.read(queue, mem, 0, read_to[is_src]);
                             }});
        transfers.push_back({"a write to " + name,
                             host_channels(place.device, PI_DEVICE_INFO_HOST_WRITE_CHANNELS),
                             [&, queue = queue_of(place), mem = buffer_of(place)] {
                                 return fixture.write(queue, mem, 0, host);
                             }});
        transfers.push_back(
            {"a copy from " + name, copy_channels(place, other),
             [&, queue = queue_of(place), from = buffer_of(place), to = buffer_of(other)] {
                 return fixture.copy(queue, from, 0, to, 0, largest);
             }});
    }
    std::erase_if(transfers, [](const Transfer &one) { return one.channels.empty(); });
    if (transfers.size() < 2)
        skip("no channels are known");
    for (const Transfer &one : transfers) {
        for (const Transfer &other : transfers) {
            if (&one == &other)
                continue;
            const Event first = one.start(), second = other.start();
            for (const Queue &queue : queues) // a wait would begin one of them before the other
                require_success(piQueueFlush(queue), "piQueueFlush");
            fixture.wait({first, second});
            const Span a = span_of(first), b = span_of(second);
            if (a.start == a.end || b.start == b.end)
                continue; // takes no time
            const bool at_once = a.start < b.end && b.start < a.end;
            require(at_once != share(one, other), one.what, " and ", other.what,
                    at_once ? " share a channel and run at the same time: "
                            : " share no channel and take turns: ",
                    a.start, " to ", a.end, " and ", b.start, " to ", b.end);
        }
    }
}

} // namespace
} // namespace pi::suite
