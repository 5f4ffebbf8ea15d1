// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order by events, by barriers and events waits, and without either.

#include "checks.hpp"
#include "command_cases.hpp"
#include "fixture.hpp"
#include "queue_orders.hpp"
#include "registry.hpp"

#include <algorithm>
#include <deque>

namespace pi::suite {
namespace {

// ----- Random programs whose order is in their events alone -----

constexpr uint64_t size = 512;
constexpr std::size_t buffers = 5;

// Enqueues commands that events order if they touch the same buffer, and tracks the expected bytes
// of the buffers and the host. No command runs before `gate`.
class RandomProgram {
public:
    RandomProgram(Fixture &fixture, std::vector<pi_queue> queues)
        : fixture_(fixture), queues_(std::move(queues)), gate_(fixture.make_host_event()) {
        for (std::size_t i = 0; i < buffers; ++i) {
            model_.push_back(fixture.random_bytes(size));
            mems_.push_back(fixture.make_buffer(fixture.place(), model_.back()));
        }
        touched_.resize(buffers);
    }
    RandomProgram(const RandomProgram &) = delete;
    RandomProgram &operator=(const RandomProgram &) = delete;
    /// Also after a failure no command may still use the host's bytes.
    ~RandomProgram() {
        gate_.reset();
        for (const Event &event : events_)
            piEventWait(event, fixture_.patience_ns());
    }

    void add() {
        const uint64_t length = fixture_.random(1, size);
        const uint64_t from = fixture_.random(0, size - length);
        const uint64_t to = fixture_.random(0, size - length);
        const std::size_t a = fixture_.random(0, buffers - 1);
        const std::size_t b = (a + fixture_.random(1, buffers - 1)) % buffers;
        switch (fixture_.random(0, 3)) {
        case 0:
            return write(a, to, length);
        case 1:
            return copy(a, b, from, to, length);
        case 2:
            return read(a, from, length);
        default:
            return fill(a, to, length);
        }
    }

    void require_result() {
        for (const Event &event : events_)
            require(!fixture_.is_complete(event), "a command is complete before the gate is open");
        fixture_.signal(gate_);
        for (const Event &event : events_)
            fixture_.wait(event);
        for (std::size_t i = 0; i < reads_.size(); ++i)
            require_same_bytes(reads_[i].data(), expected_reads_[i].data(), reads_[i].size(),
                               join("what read ", i, " returned"));
        const Queue queue = fixture_.make_queue();
        for (std::size_t i = 0; i < buffers; ++i)
            fixture_.require_contents(queue, mems_[i], model_[i], join("buffer ", i));
    }

private:
    struct Touched {
        pi_event writer = nullptr;
        Waits readers;
    };

    pi_queue queue() { return queues_[fixture_.random(0, queues_.size() - 1)]; }

    Waits behind(std::size_t reads, std::size_t writes) {
        Waits waits{gate_};
        for (const std::size_t buffer : {reads, writes}) {
            if (buffer < buffers && touched_[buffer].writer != nullptr)
                waits.push_back(touched_[buffer].writer);
        }
        if (writes < buffers)
            waits.insert(waits.end(), touched_[writes].readers.begin(),
                         touched_[writes].readers.end());
        if (fixture_.random(0, 3) == 0)
            waits.push_back(waits.back()); // a duplicate is legal
        std::shuffle(waits.begin(), waits.end(), fixture_.random());
        return waits;
    }
    void note(Event event, std::size_t reads, std::size_t writes) {
        if (reads < buffers)
            touched_[reads].readers.push_back(event);
        if (writes < buffers)
            touched_[writes] = {event, {}};
        events_.push_back(std::move(event));
    }

    void write(std::size_t dst, uint64_t to, uint64_t length) {
        writes_.push_back(fixture_.random_bytes(length));
        note(fixture_.write(queue(), mems_[dst], to, writes_.back(), behind(none, dst)), none, dst);
        std::copy(writes_.back().begin(), writes_.back().end(), at(dst, to));
    }
    void copy(std::size_t src, std::size_t dst, uint64_t from, uint64_t to, uint64_t length) {
        note(fixture_.copy(queue(), mems_[src], from, mems_[dst], to, length, behind(src, dst)),
             src, dst);
        std::copy_n(at(src, from), length, at(dst, to));
    }
    void read(std::size_t src, uint64_t from, uint64_t length) {
        reads_.emplace_back(length);
        note(fixture_.read(queue(), mems_[src], from, reads_.back(), behind(src, none)), src, none);
        expected_reads_.emplace_back(at(src, from),
                                     at(src, from) + static_cast<std::ptrdiff_t>(length));
    }
    void fill(std::size_t dst, uint64_t to, uint64_t length) {
        const Bytes pattern = fixture_.random_bytes(1);
        note(fixture_.fill(queue(), mems_[dst], to, length, pattern, behind(none, dst)), none, dst);
        std::fill_n(at(dst, to), length, pattern[0]);
    }
    Bytes::iterator at(std::size_t buffer, uint64_t offset) {
        return model_[buffer].begin() + static_cast<std::ptrdiff_t>(offset);
    }

    static constexpr std::size_t none = buffers;
    Fixture &fixture_;
    std::deque<Bytes> writes_;
    std::deque<Bytes> reads_;
    std::vector<pi_queue> queues_;
    Event gate_;
    std::vector<Bytes> expected_reads_;
    std::vector<Bytes> model_;
    std::vector<Mem> mems_;
    std::vector<Touched> touched_;
    std::vector<Event> events_;
};

CONFORMANCE_TEST("enqueue",
                 "commands of many queues, ordered by events, have the same effect as one by one") {
    const Queue queues[] = {fixture.make_queue(), fixture.make_queue(), fixture.make_queue(),
                            fixture.make_queue()};
    for (int round = 0; round < 3; ++round) {
        RandomProgram program(fixture, {queues[0], queues[1], queues[2], queues[3]});
        for (int i = 0; i < 80; ++i)
            program.add();
        program.require_result();
    }
}

CONFORMANCE_TEST(
    "enqueue",
    "commands of an out-of-order queue, ordered by events, have the same effect as one by one") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Queue other = fixture.make_out_of_order_queue();
    for (int round = 0; round < 3; ++round) {
        RandomProgram program(fixture, {queue, queue, other});
        for (int i = 0; i < 80; ++i)
            program.add();
        program.require_result();
    }
}

// ----- Events waits and barriers -----

// Flushes the queue, and waits for a command of another queue.
void give_time(Fixture &fixture, pi_queue queue) {
    require_success(piQueueFlush(queue), "piQueueFlush");
    const Queue other = fixture.make_queue();
    const Mem scratch = fixture.make_buffer(1 << 16);
    for (int i = 0; i < 3; ++i)
        fixture.wait(fixture.fill(other, scratch, 0, 1 << 16, Bytes(1, std::byte{1})));
}

CONFORMANCE_TEST("enqueue",
                 "an events wait without a list is complete when all commands before it are") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Event gates[] = {fixture.make_host_event(), fixture.make_host_event()};
    const Event first = fixture.barrier(fixture.make_queue(), {gates[0]});
    const Event held = fixture.events_wait(queue, {gates[1]});
    const Event behind = fixture.events_wait(queue, {first});
    Event all;
    require_success(piEnqueueEventsWait(queue, nullptr, 0, nullptr, all.out()),
                    "piEnqueueEventsWait with desc NULL and no list");
    const Event later = fixture.events_wait(queue, {gates[1]});
    give_time(fixture, queue);
    require(!fixture.is_complete(all), "it is complete before what was enqueued before it");
    fixture.signal(gates[1]);
    fixture.wait(held);
    fixture.wait(later, "a later command, which does not wait for an events wait");
    give_time(fixture, queue);
    require(!fixture.is_complete(all), "it is complete before the other command before it");
    fixture.signal(gates[0]);
    fixture.wait(behind);
    fixture.wait(all);
}

CONFORMANCE_TEST(
    "enqueue", "an events wait with a list waits for the list only, and no command waits for it") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Event gates[] = {fixture.make_host_event(), fixture.make_host_event()};
    const Event held = fixture.events_wait(queue, {gates[0]});
    const Event listed = fixture.events_wait(queue, {gates[1]});
    const Mem mem = fixture.make_buffer(64);
    fixture.wait(fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{1})),
                 "a command behind events waits");
    require(!fixture.is_complete(listed), "an events wait is complete before its list");
    fixture.signal(gates[1]);
    fixture.wait(listed, "an events wait behind a command that it does not list");
    require(!fixture.is_complete(held), "the held command is complete before its event");
    fixture.signal(gates[0]);
    fixture.wait(held);
}

CONFORMANCE_TEST("enqueue",
                 "later commands wait for a barrier with a list, which waits for its list only") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Event gates[] = {fixture.make_host_event(), fixture.make_host_event()};
    const Event held = fixture.events_wait(queue, {gates[0]});
    const Event barrier = fixture.barrier(queue, {gates[1]});
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64));
    const Event later = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{1}));
    const Event listed = fixture.events_wait(queue, {gates[0]});
    give_time(fixture, queue);
    require(!fixture.is_complete(barrier), "the barrier is complete before its list");
    require(!fixture.is_complete(later), "a command has passed the barrier");
    fixture.signal(gates[1]);
    fixture.wait(barrier, "a barrier whose list is complete");
    fixture.wait(later, "a command behind a barrier");
    require(!fixture.is_complete(held), "the held command is complete before its event");
    fixture.signal(gates[0]);
    fixture.wait(listed);
}

CONFORMANCE_TEST("enqueue", "every command behind a barrier begins after it") {
    const Queue queue = fixture.make_out_of_order_queue();
    constexpr std::size_t count = 16;
    std::vector<Mem> mems;
    for (std::size_t i = 0; i < count; ++i)
        mems.push_back(fixture.make_buffer(fixture.place(), Bytes(size)));
    const Event gate = fixture.make_host_event();
    std::vector<Event> events;
    // Each buffer is written before the first barrier, between the two, and behind the second.
    for (int step = 1; step <= 3; ++step) {
        for (const Mem &mem : mems) {
            const Bytes pattern(1, static_cast<std::byte>(step));
            events.push_back(step == 1 ? fixture.fill(queue, mem, 0, size, pattern, {gate})
                                       : fixture.fill(queue, mem, 0, size, pattern));
        }
        if (step == 1)
            require_success(piEnqueueBarrier(queue, nullptr, 0, nullptr, nullptr),
                            "piEnqueueBarrier with desc and out_event NULL");
        else if (step == 2)
            events.push_back(fixture.barrier(queue));
    }
    give_time(fixture, queue);
    for (const Event &event : events)
        require(!fixture.is_complete(event),
                "a command has passed the first, or the second barrier");
    fixture.signal(gate);
    for (const Event &event : events)
        fixture.wait(event);
    for (const Mem &mem : mems)
        fixture.require_contents(queue, mem, Bytes(size, std::byte{3}),
                                 "what was written behind two barriers");
}

CONFORMANCE_TEST("enqueue", "every kind of command begins after a barrier of its queue") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Queue other = fixture.make_queue();
    const CommandCases commands = make_command_cases(fixture);
    const Event gate = fixture.make_host_event();
    std::vector<Event> events;
    events.push_back(fixture.barrier(queue, {gate}));
    for (const auto &command : commands)
        events.push_back(command->start(queue));
    give_time(fixture, queue);
    for (const Event &event : events)
        require(!fixture.is_complete(event), "a command has passed a barrier");
    for (const auto &command : commands) {
        command->require_undone(other);
        command->disturb(other);
    }
    fixture.signal(gate);
    for (const Event &event : events)
        fixture.wait(event, "a command behind a barrier");
    for (const auto &command : commands) {
        command->require_done(other);
        command->clean_up(other);
    }
}

CONFORMANCE_TEST("enqueue", "a command begins after all barriers before it, each with its list") {
    for (const std::size_t first : {0, 1}) {
        const Queue queue = fixture.make_out_of_order_queue();
        const Event gates[] = {fixture.make_host_event(), fixture.make_host_event()};
        std::vector<Event> barriers, behind;
        std::vector<Mem> mems;
        for (const Event &gate : gates) {
            barriers.push_back(fixture.barrier(queue, {gate}));
            mems.push_back(fixture.make_buffer(fixture.place(), Bytes(size)));
            behind.push_back(fixture.fill(queue, mems.back(), 0, size, Bytes(1, std::byte{1})));
        }
        give_time(fixture, queue);
        for (const std::size_t i : {0, 1})
            require(!fixture.is_complete(barriers[i]) && !fixture.is_complete(behind[i]),
                    "a barrier is complete before its list, or a command before a barrier");
        fixture.signal(gates[first]);
        if (first == 0)
            fixture.wait({barriers[0], behind[0]}, "the first barrier and what is behind it");
        give_time(fixture, queue);
        for (std::size_t i = 1 - first; i < 2; ++i)
            require(!fixture.is_complete(barriers[i]) && !fixture.is_complete(behind[i]),
                    "a command is complete before a barrier before it");
        fixture.signal(gates[1 - first]);
        for (const std::size_t i : {0, 1})
            fixture.wait({barriers[i], behind[i]}, "a barrier and what is behind it");
    }
}

CONFORMANCE_TEST("enqueue", "a barrier that fails holds commands back as long, and fails none") {
    for (const uint64_t flags : queue_orders(fixture)) {
        const Queue queue = fixture.make_queue(flags);
        const Event gates[] = {fixture.make_host_event(), fixture.make_host_event()};
        const Mem mem = fixture.make_buffer(fixture.place(), Bytes(size));
        const Event held = fixture.events_wait(fixture.make_queue(), {gates[1]});
        const Event barrier = fixture.barrier(queue, {gates[0], held});
        const Event behind = fixture.fill(queue, mem, 0, size, Bytes(1, std::byte{1}));
        const Event wait = fixture.events_wait(queue);
        fixture.signal(gates[0], PI_ERROR_BACKEND);
        fixture.signal(gates[1]);
        fixture.require_result(barrier, PI_ERROR_DEPENDENCY_FAILED, "a barrier whose list failed");
        fixture.wait({behind, wait}, "commands behind a barrier that failed");
        fixture.require_contents(queue, mem, Bytes(size, std::byte{1}),
                                 "what was filled behind a barrier that failed");
    }
}

CONFORMANCE_TEST("enqueue",
                 "events waits and barriers wait for thousands of commands before them") {
    constexpr std::size_t count = 4000;
    for (const uint64_t flags : queue_orders(fixture)) {
        const Queue queue = fixture.make_queue(flags);
        const Event gates[] = {fixture.make_host_event(), fixture.make_host_event()};
        std::vector<Event> before;
        for (std::size_t i = 0; i < count; ++i) // the oldest wait the longest
            before.push_back(fixture.events_wait(queue, {gates[i < count / 2 ? 1 : 0]}));
        const Event all[] = {fixture.events_wait(queue), fixture.barrier(queue),
                             fixture.events_wait(queue)};
        // A list of all of them, each twice.
        Waits list(before.begin(), before.end());
        list.insert(list.end(), before.begin(), before.end());
        const Event listed = fixture.events_wait(fixture.make_queue(), list);
        fixture.signal(gates[0]);
        give_time(fixture, queue);
        for (const Event &event : all)
            require(!fixture.is_complete(event), "it is complete before commands before it");
        require(!fixture.is_complete(listed), "it is complete before its list");
        fixture.signal(gates[1], PI_ERROR_BACKEND);
        for (const Event &event : all) // without a list no failure reaches them
            fixture.wait(event, "what waits for thousands of commands, some of which failed");
        for (const Event &event : before)
            require(fixture.is_complete(event), "a command is complete after what waits for it");
        fixture.require_result(listed, PI_ERROR_DEPENDENCY_FAILED,
                               "the result behind thousands of events, some of which failed");
    }
}

CONFORMANCE_TEST("enqueue", "an in-order queue orders events waits and barriers, too") {
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Event done = fixture.make_host_event();
    fixture.signal(done);
    const Event held = fixture.events_wait(queue, {gate});
    const Event behind[] = {fixture.events_wait(queue), fixture.events_wait(queue, {done}),
                            fixture.barrier(queue), fixture.barrier(queue, {done})};
    give_time(fixture, queue);
    for (const Event &event : behind)
        require(!fixture.is_complete(event), "a command is complete before the one before it");
    fixture.signal(gate);
    for (const Event &event : behind)
        fixture.wait(event);
    require(fixture.is_complete(held), "the first command is complete after its successors");
}

CONFORMANCE_TEST("enqueue",
                 "an in-order queue begins each kind of command after the one before it") {
    const Queue queue = fixture.make_queue();
    Bytes into(size);
    const Bytes from = fixture.random_bytes(size);
    const Mem a = fixture.make_buffer(fixture.place(), Bytes(size));
    const Mem b = fixture.make_buffer(fixture.place(), Bytes(size));
    for (int round = 0; round < 10; ++round) {
        const Event gate = fixture.make_host_event();
        void *pointer = nullptr;
        fixture.fill(queue, a, 0, size, Bytes(1, std::byte{1}), {gate});
        fixture.write(queue, a, 0, from);
        fixture.copy(queue, a, 0, b, 0, size);
        fixture.fill(queue, a, 0, size, Bytes(1, std::byte{2}));
        const Event mapped = fixture.map(queue, b, PI_MAP_READ, 0, size, &pointer);
        const Event read = fixture.read(queue, b, 0, into);
        fixture.signal(gate);
        fixture.wait(read);
        require(fixture.is_complete(mapped), "the map is not complete when its successor is");
        require_same_bytes(into.data(), from.data(), size, "what was read in the end");
        require_same_bytes(pointer, from.data(), size, "what was mapped");
        fixture.unmap(queue, b, pointer);
        fixture.fill(queue, b, 0, size, Bytes(1, std::byte{3}));
        fixture.require_contents(queue, b, Bytes(size, std::byte{3}), "the buffer behind an unmap");
        fixture.require_contents(queue, a, Bytes(size, std::byte{2}), "the other buffer");
    }
}

} // namespace
} // namespace pi::suite
