// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer trace: where commands are shown, and which slices its arrows connect.

#include "trace.hpp"

#include <set>

using namespace layer_test;

namespace {

/// The slice to which Perfetto attaches an arrow's end: the innermost open slice of its track at
/// that time.
json slice_at(const std::vector<json> &events, const json &end) {
    const int64_t time = nanoseconds(end.at("ts"));
    json innermost;
    for (const json &event : events) {
        if (event.at("ph") != "X" || !on_one_track(event, end))
            continue;
        const int64_t begin = nanoseconds(event.at("ts"));
        if (begin <= time && time < begin + nanoseconds(event.at("dur")) &&
            (innermost.is_null() || begin >= nanoseconds(innermost.at("ts"))))
            innermost = event;
    }
    INFO("no slice: " << end.dump());
    REQUIRE(!innermost.is_null());
    return innermost;
}

/// The slices at both ends of each arrow of a category.
std::vector<std::pair<json, json>> arrows(const std::vector<json> &events,
                                          const std::string &category) {
    std::map<uint64_t, std::pair<json, json>> found;
    for (const json &end : of_category(events, category)) {
        auto &[from, to] = found[end.at("id").get<uint64_t>()];
        json &own = end.at("ph") == "s" ? from : to;
        CHECK(own.is_null());
        if (end.at("ph") == "f") {
            CHECK(end.at("bp") == "e"); // otherwise it would attach to the next slice
            CHECK(!from.is_null());
        }
        own = slice_at(events, end);
    }
    std::vector<std::pair<json, json>> all;
    for (const auto &[id, both] : found) {
        REQUIRE(!both.first.is_null());
        REQUIRE(!both.second.is_null());
        all.push_back(both);
    }
    return all;
}

/// Larger than all sizes.
constexpr uint64_t row = 320;

/// Fills `size` bytes, which identify the command, in a separate row, since not all commands here
/// are ordered.
pi_event fill(pi_queue queue, pi_mem mem, uint64_t size, std::vector<pi_event> waits = {}) {
    const unsigned char byte = 1;
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = mem;
    desc.pattern = &byte;
    desc.pattern_size = 1;
    desc.offset = size * row;
    desc.size = size;
    pi_event event = nullptr;
    OK(piEnqueueMemBufferFill(queue, &desc, static_cast<uint32_t>(waits.size()), waits.data(),
                              &event));
    return event;
}

} // namespace

TEST_CASE("each arrow connects its two slices, however the queues run") {
    const uint64_t flags =
        GENERATE(uint64_t{0}, uint64_t{PI_QUEUE_PROFILING}, uint64_t{PI_QUEUE_OUT_OF_ORDER},
                 uint64_t{PI_QUEUE_PROFILING | PI_QUEUE_OUT_OF_ORDER});
    const uint64_t second_flags = GENERATE(uint64_t{0}, uint64_t{PI_QUEUE_PROFILING});
    INFO("flags " << flags << " and " << second_flags);
    constexpr uint64_t rounds = 30;
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    std::set<std::pair<uint64_t, uint64_t>> wanted;
    {
        const Machine machine(traced(file), flags);
        const pi_queue second = machine.make_queue(second_flags);
        const pi_mem mem = machine.make_buffer(rounds * 10 * row);
        for (uint64_t round = 0; round < rounds; ++round) {
            // All are enqueued while the first one runs or waits.
            const uint64_t size = round * 10;
            const pi_event gate = machine.make_host_event();
            std::vector<pi_event> events(6);
            events[1] = fill(machine.queue, mem, size + 1, {gate});
            events[2] = fill(second, mem, size + 2, {events[1]});
            events[3] = fill(machine.queue, mem, size + 3);
            events[4] = fill(machine.queue, mem, size + 4, {events[2], events[1]});
            events[5] = fill(second, mem, size + 5, {events[3], gate, events[4]});
            for (const auto &[from, to] :
                 std::vector<std::pair<uint64_t, uint64_t>>{{1, 2}, {2, 4}, {1, 4}, {3, 5}, {4, 5}})
                wanted.emplace(size + from, size + to);
            OK(piEventSignalHost(gate, PI_SUCCESS));
            events[0] = gate;
            for (const pi_event event : events)
                OK(piEventRelease(event));
        }
        OK(piQueueFinish(machine.queue));
        OK(piQueueFinish(second));
        OK(piQueueRelease(second));
        OK(piMemRelease(mem));
    }
    const std::vector<json> events = read_events(file);
    check_in_order(commands(events));
    CHECK(commands(events).size() == rounds * 5);
    std::set<std::pair<uint64_t, uint64_t>> shown;
    const auto waits = arrows(events, "wait");
    for (const auto &[from, to] : waits)
        shown.emplace(from.at("args").at("bytes"), to.at("args").at("bytes"));
    CHECK(shown == wanted);
    CHECK(waits.size() == wanted.size());
    const auto submits = arrows(events, "submit");
    CHECK(submits.size() == rounds * 5);
    for (const auto &[from, to] : submits) {
        CHECK(from.at("name") == "piEnqueueMemBufferFill");
        CHECK(to.at("cat") == "command");
    }
    for (const json &end : of_category(events, "submit")) {
        if (end.at("ph") == "f")
            CHECK(slice_at(events, end).at("args").at("command") == end.at("id"));
    }
}

TEST_CASE("without profiling a command begins when its wait list has ended") {
    const uint64_t flags = GENERATE(uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER});
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    {
        const Machine machine(traced(file), flags);
        const pi_queue second = machine.make_queue(flags);
        const pi_mem mem = machine.make_buffer(3 * row);
        const pi_event gate = machine.make_host_event();
        const pi_event first = fill(machine.queue, mem, 1, {gate});
        const pi_event behind = fill(second, mem, 2, {first});
        OK(piEventSignalHost(gate, PI_SUCCESS));
        OK(piEventWait(behind, patience));
        for (const pi_event event : {gate, first, behind})
            OK(piEventRelease(event));
        OK(piQueueRelease(second));
        OK(piMemRelease(mem));
    }
    const std::vector<json> all = commands(read_events(file));
    REQUIRE(all.size() == 2);
    CHECK(sum_of_bytes({all[0]}) == 1);
    CHECK(nanoseconds(all[1].at("ts")) >=
          nanoseconds(all[0].at("ts")) + nanoseconds(all[0].at("dur")));
}

TEST_CASE("commands of an out-of-order queue that overlap are on tracks of the queue's name") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    {
        const Machine machine(traced(file), PI_QUEUE_OUT_OF_ORDER);
        const pi_mem mem = machine.make_buffer(51 * row);
        const pi_event gate = machine.make_host_event();
        std::vector<pi_event> events = {fill(machine.queue, mem, 50, {gate})};
        for (uint64_t i = 1; i <= 20; ++i) {
            events.push_back(fill(machine.queue, mem, i));
            OK(piEventWait(events.back(), patience));
        }
        OK(piEventSignalHost(gate, PI_SUCCESS));
        OK(piQueueFinish(machine.queue));
        for (const pi_event event : events)
            OK(piEventRelease(event));
        OK(piEventRelease(gate));
        OK(piMemRelease(mem));
    }
    const std::vector<json> events = read_events(file);
    const std::vector<json> all = commands(events);
    check_in_order(all);
    REQUIRE(all.size() == 21);
    const json &around = all.back();
    CHECK(sum_of_bytes({around}) == 50);
    for (const json &command : all) {
        CHECK(on_one_track(command, around) == (sum_of_bytes({command}) == 50));
        const std::string track =
            name_of(events, "thread_name", command.at("pid"), command.at("tid"));
        CHECK_THAT(track, Catch::StartsWith("queue 1 of ") && Catch::EndsWith(", out of order"));
    }
}
