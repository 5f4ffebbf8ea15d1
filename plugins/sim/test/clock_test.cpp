// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"
#include "native_kernel.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <random>
#include <set>
#include <thread>

using namespace sim_test;

TEST_CASE("a transfer takes its link's latency and the bytes over its bandwidth", "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 4000), other = machine.buffer(1, 4000);
    const Times up = times_of(write(queue, mem, some_bytes(1000)));
    CHECK(up.end - up.start == 100 + 1000);
    const Times across = times_of(copy(queue, mem, other, 1000));
    CHECK(across.end - across.start == 50 + 500);
    const auto same = machine.buffer(0, 4000);
    const Times within = times_of(copy(queue, mem, same, 4000));
    CHECK(within.end - within.start == 400);
}

TEST_CASE("two transfers over one link take the sum of their times, over two the longer one",
          "[sim]") {
    const Simulation machine(two_gpus());
    const auto one = machine.queue(0), two = machine.queue(0), far = machine.queue(1);
    const auto a = machine.buffer(0, 4000), b = machine.buffer(0, 4000),
               c = machine.buffer(1, 4000);
    const Bytes bytes = some_bytes(1000), more = some_bytes(3000);
    const uint64_t begin = machine.now();
    const auto first = write(one, a, bytes), second = write(two, b, more),
               other = write(far, c, more);
    CHECK(times_of(first).end == begin + 1100);
    CHECK(times_of(second).start == begin + 1100);
    CHECK(times_of(second).end == begin + 1100 + 3100);
    CHECK(times_of(other).start == begin);
    CHECK(times_of(other).end == begin + 3100);
}

TEST_CASE("passing time brings the host to the end of everything that has started", "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 4000);
    const Bytes bytes = some_bytes(3000);
    const uint64_t begin = machine.now();
    const auto first = write(queue, mem, bytes), second = write(queue, mem, bytes);
    CHECK(machine.now() == begin);
    uint64_t time = 0;
    OK(machine.sim->pass_time(machine.plugin, &time));
    CHECK(time == begin + 2 * 3100);
    CHECK(machine.now() == time);
    CHECK(times_of(second).end == time);
    OK(machine.sim->pass_time(machine.plugin, &time));
    CHECK(time == begin + 2 * 3100);
}

TEST_CASE("both directions of a link are separate links", "[sim]") {
    const Simulation machine(two_gpus());
    const auto one = machine.queue(0), two = machine.queue(1);
    const auto a = machine.buffer(0, 4000), b = machine.buffer(1, 4000),
               c = machine.buffer(0, 4000), d = machine.buffer(1, 4000);
    const uint64_t begin = machine.now();
    const auto there = copy(one, a, b, 1000), back = copy(two, d, c, 1000);
    CHECK(times_of(there).start == begin);
    CHECK(times_of(back).start == begin);
}

TEST_CASE("links that share a channel take turns", "[sim]") {
    const Simulation machine(
        R"({"pi_machine": 1, "name": "root complex", "devices": [
            {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
            {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
            "links": [
            {"from": "host", "to": "a", "bandwidth": "1 GB/s", "channels": ["root", "{to}"]},
            {"from": "host", "to": "b", "bandwidth": "1 GB/s", "channels": ["root", "{to}"]}]})");
    const auto one = machine.queue(0), two = machine.queue(1);
    const auto a = machine.buffer(0, 1000), b = machine.buffer(1, 1000);
    const Bytes bytes = some_bytes(1000);
    const uint64_t begin = machine.now();
    const auto first = write(one, a, bytes), second = write(two, b, bytes);
    CHECK(times_of(first).end == begin + 1000);
    CHECK(times_of(second).end == begin + 2000);
}

TEST_CASE("devices may have the names of a link's end words, and their links are separate",
          "[sim]") {
    const Simulation machine(
        R"({"pi_machine": 1, "name": "words", "devices": [
            {"name": "{from}", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
            {"name": "a{to}", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
            {"name": "ab", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
            {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
            "links": [
            {"from": "{from}", "to": "b", "connection": "migratable", "bandwidth": "1 GB/s"},
            {"from": "a{to}", "to": "b", "connection": "migratable", "bandwidth": "1 GB/s"},
            {"from": "ab", "to": "b", "connection": "migratable", "bandwidth": "1 GB/s"}]})");
    const auto b = machine.buffer(3, 3000);
    const uint64_t begin = machine.now();
    std::vector<Owned<pi_mem>> mems;
    std::vector<Owned<pi_event>> copies;
    for (const size_t from : {0, 1, 2}) {
        mems.push_back(machine.buffer(from, 1000));
        copies.push_back(copy(machine.queue(from), mems.back(), b, 1000));
    }
    for (const auto &one : copies)
        CHECK(times_of(one).end == begin + 1000);
}

TEST_CASE("a transfer's channels are reported by number, equal for shared ones", "[sim]") {
    const Simulation machine(
        R"({"pi_machine": 1, "name": "root complex", "devices": [
            {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
            {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
            "links": [
            {"from": "host", "to": "a", "bandwidth": "1 GB/s", "channels": ["root", "{to}"]},
            {"from": "host", "to": "b", "bandwidth": "1 GB/s", "channels": ["root", "{to}"]},
            {"from": "a", "to": "b", "connection": "migratable"},
            {"from": "b", "to": "a", "connection": "migratable", "bandwidth": "1 GB/s"}]})");
    using Channels = std::set<uint64_t>;
    const auto host = [&](size_t device, pi_device_info name) {
        std::array<uint64_t, PI_CONNECTION_MAX_CHANNELS> reported{};
        uint64_t size = 0;
        OK(piDeviceGetInfo(machine.device(device), name, sizeof reported, reported.data(), &size));
        return Channels(reported.begin(), reported.begin() + size / sizeof reported[0]);
    };
    const auto between = [&](size_t src, size_t dst) {
        auto info = pi::desc<pi_memory_connection_info>();
        OK(piGetMemoryConnectionInfo(machine.device(src), machine.context, machine.device(dst),
                                     machine.context, nullptr, &info));
        Channels reported(std::begin(info.channels), std::end(info.channels));
        reported.erase(0);
        return reported;
    };
    const auto both = [](const Channels &one, const Channels &other) {
        Channels common;
        std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                              std::inserter(common, common.end()));
        return common;
    };
    const Channels to_a = host(0, PI_DEVICE_INFO_HOST_WRITE_CHANNELS);
    const Channels to_b = host(1, PI_DEVICE_INFO_HOST_WRITE_CHANNELS);
    const Channels from_a = host(0, PI_DEVICE_INFO_HOST_READ_CHANNELS);
    CHECK(to_a.size() == 2);
    CHECK(to_b.size() == 2);
    CHECK(both(to_a, to_b).size() == 1);
    CHECK(from_a.size() == 1);
    CHECK(both(from_a, to_a).empty());
    // Over the host, since the link's bandwidth is unknown; and back over its own link.
    Channels way = from_a;
    way.insert(to_b.begin(), to_b.end());
    CHECK(between(0, 1) == way);
    CHECK(between(1, 0).size() == 1);
    CHECK(both(between(1, 0), way).empty());
}

TEST_CASE("a command starts in virtual time when all its dependencies have ended", "[sim]") {
    const Simulation machine(two_gpus());
    const auto one = machine.queue(0), two = machine.queue(1);
    const auto a = machine.buffer(0, 4000), b = machine.buffer(1, 4000),
               c = machine.buffer(1, 4000);
    const Bytes bytes = some_bytes(2000);
    const auto up = write(one, a, bytes);
    const auto side = write(two, c, some_bytes(10));
    const auto across = copy(two, a, b, 2000, {up, side});
    CHECK(times_of(across).start == times_of(up).end);
    CHECK(read(two, b, 2000) == bytes);
}

TEST_CASE("a short transfer uses an idle gap of a link", "[sim]") {
    const Simulation machine(two_gpus());
    const auto one = machine.queue(0), two = machine.queue(0), kernel = machine.queue(1);
    const auto a = machine.buffer(0, 4000), b = machine.buffer(0, 4000),
               c = machine.buffer(1, 4000);
    const Bytes bytes = some_bytes(1000), few = some_bytes(100);
    const uint64_t begin = machine.now();
    const auto slow = write(kernel, c, some_bytes(4000)); // on another link
    const auto late = write(one, a, bytes, {slow});
    const auto early = write(two, b, few);
    CHECK(times_of(late).start == begin + 4100);
    CHECK(times_of(early).start == begin);
}

TEST_CASE("a clock whose commands take centuries advances, and stops at its end", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "slow", "devices": [
        {"name": "a", "type": "gpu", "latency": 9e18, "kernel": {"item_time": 9e18},
         "scopes": [{"name": "global", "capacity": "2 MiB"}]}],
        "links": [{"from": "host", "to": "a", "latency": 9e18, "bandwidth": 1}],
        "faults": [{"function": "piEnqueueMemBufferCopy", "call": 2, "delay": 9e18}]})");
    const auto queue = machine.queue();
    const auto a = machine.buffer(0, 1 << 20), b = machine.buffer(0, 1 << 20);
    const auto kernel = make_add_one(machine.context);
    std::vector<Owned<pi_event>> commands;
    for (int i = 0; i < 3; ++i)
        commands.push_back(copy(queue, a, b, 1000));
    commands.push_back(launch(queue, kernel, a, 1 << 20));
    commands.push_back(write(queue, a, some_bytes(1 << 20)));
    uint64_t before = 0;
    for (const auto &command : commands) {
        const Times times = times_of(command);
        CHECK(before <= times.start);
        CHECK(times.start <= times.end);
        before = times.end;
    }
    CHECK(machine.now() == before);
    CHECK(before == UINT64_MAX - 1);
}

TEST_CASE("the host's time advances when the host waits, and not before", "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 4000);
    const uint64_t begin = machine.now();
    const auto event = write(queue, mem, some_bytes(1000));
    CHECK(machine.now() == begin);
    OK(piEventWait(event, patience));
    CHECK(machine.now() == begin + 1100);
    const Times next = times_of(write(queue, mem, some_bytes(1000)));
    CHECK(next.submit == begin + 1100);
    CHECK(next.start == begin + 1100);
    const auto last = write(queue, mem, some_bytes(1000));
    OK(piQueueFinish(queue));
    CHECK(machine.now() == begin + 3 * 1100);
}

TEST_CASE("a blocking command and a complete status advance the host's time", "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 4000);
    const uint64_t begin = machine.now();
    read(queue, mem, 400);
    CHECK(machine.now() == begin + 500);
    const auto event = write(queue, mem, some_bytes(100));
    while (status(event) != PI_EVENT_COMPLETE) {
    }
    CHECK(machine.now() == begin + 700);
}

TEST_CASE("a command behind a host event starts when that was signalled", "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue(0), other = machine.queue(1);
    const auto mem = machine.buffer(0, 4000), far = machine.buffer(1, 4000);
    Owned<pi_event> gate;
    OK(piEventCreateHost(machine.context, nullptr, gate.out()));
    const Bytes bytes = some_bytes(1000);
    const auto held = write(queue, mem, bytes, {gate});
    OK(piEventWait(write(other, far, some_bytes(3000)), patience));
    // A refused signal has no effect.
    REFUSED(PI_ERROR_INVALID_VALUE, "result is", piEventSignalHost(gate, PI_ERROR_TIMEOUT));
    OK(piEventWait(write(other, far, some_bytes(3000)), patience));
    const uint64_t now = machine.now();
    OK(piEventSignalHost(gate, PI_SUCCESS));
    CHECK(times_of(held).start == now);
}

TEST_CASE("a callback's time is that of its event", "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue(0), other = machine.queue(1);
    const auto mem = machine.buffer(0, 4000), far = machine.buffer(1, 4000);
    Owned<pi_event> gate;
    OK(piEventCreateHost(machine.context, nullptr, gate.out()));
    const uint64_t begin = machine.now();
    const Bytes bytes = some_bytes(1000);
    const auto first = write(queue, mem, bytes);
    const auto held = write(other, far, bytes, {gate});
    OK(piEventSetCallback(
        first,
        [](pi_event, pi_result, void *user_data) {
            piEventSignalHost(static_cast<pi_event>(user_data), PI_SUCCESS);
        },
        static_cast<pi_event>(gate)));
    CHECK(times_of(held).start == begin + 1100);
}

TEST_CASE("commands from the callback of an old event use the link when it was free then",
          "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue(0), next = machine.queue(0), far = machine.queue(1);
    const auto mem = machine.buffer(0, 4000), other = machine.buffer(0, 4000),
               elsewhere = machine.buffer(1, 4000);
    const Bytes bytes = some_bytes(1000);
    const uint64_t begin = machine.now();
    const auto first = write(queue, mem, bytes), second = write(next, other, bytes);
    CHECK(times_of(second).end == begin + 2200);
    for (int i = 0; i < 3; ++i) { // time goes on
        write(far, elsewhere, some_bytes(3000));
        OK(piQueueFinish(far));
        times_of(write(next, other, bytes));
    }
    struct Enqueue {
        const Simulation &machine;
        const Bytes &bytes;
        pi_mem mem;
        Owned<pi_queue> queue;
        Owned<pi_event> written;
    } enqueue{machine, bytes, mem, machine.queue(0), {}};
    OK(piEventSetCallback(
        first,
        [](pi_event, pi_result, void *user_data) {
            auto &what = *static_cast<Enqueue *>(user_data);
            what.written = write(what.queue, what.mem, what.bytes);
        },
        &enqueue));
    OK(piQueueFinish(enqueue.queue));
    CHECK(times_of(enqueue.written).start ==
          begin + 2200); // it was ready at 1100, in the middle of the second
}

namespace {

void PI_CALL add_one(const pi_native_group *group, void *const *arguments) {
    auto *numbers = static_cast<uint32_t *>(arguments[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        ++numbers[i];
}

constexpr pi_native_kernel kernels[] = {{"fast", add_one, 1, 0}, {"slow", add_one, 1, 0}};
constexpr pi_native_program program = {sizeof program, 2, kernels};

} // namespace

TEST_CASE("a kernel takes the time in the file, and a device runs one at a time", "[sim]") {
    const Simulation machine(two_gpus());
    const auto one = machine.queue(0), two = machine.queue(0);
    const auto a = machine.buffer(0, 400), b = machine.buffer(0, 400);
    const auto slow = make_kernel(make_program(machine.context, program), "slow"),
               fast = make_kernel(make_program(machine.context, program), "fast");
    const uint64_t begin = machine.now();
    const auto first = launch(one, slow, a, 100), second = launch(two, fast, b, 100);
    CHECK(times_of(first).end == begin + 200 + 100 * 2);
    CHECK(times_of(second).start == begin + 400);
    CHECK(times_of(second).end == begin + 400 + 7);
    const Bytes bytes = read(one, a, 4);
    CHECK(bytes[0] == std::byte{1});
}

namespace {

/// The times of some hundred commands in four queues that sometimes wait for each other.
std::vector<Times> run_program(unsigned seed) {
    const Simulation machine(two_gpus());
    std::mt19937 random(seed);
    const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
    const Owned<pi_queue> queues[] = {machine.queue(0), machine.queue(1),
                                      machine.queue(0, PI_QUEUE_PROFILING | PI_QUEUE_OUT_OF_ORDER),
                                      machine.queue(1, PI_QUEUE_PROFILING | PI_QUEUE_OUT_OF_ORDER)};
    const Owned<pi_mem> mems[] = {machine.buffer(0, 4000), machine.buffer(1, 4000)};
    std::vector<Owned<pi_mem>> targets; // one for each command: their order is open
    const Bytes bytes = some_bytes(4000);
    std::vector<Owned<pi_event>> events;
    for (int i = 0; i < 200; ++i) {
        const unsigned queue = below(4), device = queue % 2;
        Waits waits;
        if (!events.empty() && below(3) == 0)
            waits.push_back(events[below(static_cast<unsigned>(events.size()))]);
        const bool copies = below(2) == 0;
        targets.push_back(machine.buffer(copies ? 1 - device : device, 4000));
        const pi_mem target = targets.back();
        events.push_back(copies ? copy(queues[queue], mems[device], target, 1 + below(4000), waits)
                                : write(queues[queue], target, bytes, waits));
        if (below(20) == 0)
            OK(piEventWait(events[below(static_cast<unsigned>(events.size()))], patience));
        if (below(30) == 0)
            OK(piQueueFinish(queues[below(4)]));
    }
    std::vector<Times> times;
    for (const auto &event : events)
        times.push_back(times_of(event));
    return times;
}

} // namespace

TEST_CASE("the same program has the same virtual times, whatever its threads do", "[sim]") {
    for (const unsigned seed : {1u, 2u, 3u}) {
        const std::vector<Times> first = run_program(seed);
        for (int again = 0; again < 3; ++again)
            CHECK((run_program(seed) == first));
    }
}

TEST_CASE("transfers complete in the order of their ends, whichever work is done first", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "order", "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "64 MiB"}]},
        {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "64 MiB"}]}],
        "links": [{"from": "host", "to": "a", "bandwidth": "1 TB/s"},
                  {"from": "host", "to": "b", "latency": "1 ms"}]})");
    const auto fast = machine.queue(0), slow = machine.queue(1);
    const auto large = machine.buffer(0, 32 << 20), small = machine.buffer(1, 1);
    const Bytes bytes = some_bytes(32 << 20);
    const pi_region all = range(0, 0, bytes.size()), one = range(0, 0, 1);
    struct Order {
        std::mutex mutex;
        std::vector<pi_event> seen;
    };
    for (int round = 0; round < 4; ++round) {
        Owned<pi_event> gate;
        OK(piEventCreateHost(machine.context, nullptr, gate.out()));
        const Waits waits{gate};
        Owned<pi_event> first, second;
        const auto long_work = write_desc(large, bytes.data(), all);
        const auto short_work = write_desc(small, bytes.data(), one);
        OK(piEnqueueMemBufferWrite(fast, &long_work, 1, waits.data(), first.out()));
        OK(piEnqueueMemBufferWrite(slow, &short_work, 1, waits.data(), second.out()));
        Order order;
        for (const pi_event event : {pi_event(first), pi_event(second)})
            OK(piEventSetCallback(
                event,
                [](pi_event final_event, pi_result, void *user_data) {
                    auto &to = *static_cast<Order *>(user_data);
                    const std::lock_guard lock(to.mutex);
                    to.seen.push_back(final_event);
                },
                &order));
        OK(piEventSignalHost(gate, PI_SUCCESS));
        OK(piQueueFinish(fast));
        OK(piQueueFinish(slow));
        CHECK(times_of(first).end < times_of(second).end);
        const auto both = [&] {
            const std::lock_guard lock(order.mutex);
            return order.seen.size() == 2;
        };
        while (!both()) // callbacks may come after the end is known
            std::this_thread::yield();
        CHECK(order.seen == std::vector<pi_event>{first, second});
    }
}
