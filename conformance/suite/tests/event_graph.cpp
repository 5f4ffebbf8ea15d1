// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many events: errors and order along wait lists, across queues, contexts and devices.

#include "checks.hpp"
#include "command_cases.hpp"
#include "fixture.hpp"
#include "platforms.hpp"
#include "registry.hpp"
#include "second_loader.hpp"

#include <algorithm>

namespace pi::suite {
namespace {

std::string text_of(pi_event event) {
    return get_info_list<char>(&piEventGetInfo, event, PI_EVENT_INFO_ERROR_TEXT).data();
}

// Two contexts of the device and one of each other device, with queues in all of them.
struct Everywhere {
    std::vector<Context> contexts;
    std::vector<Place> places;
    std::vector<Queue> queues; // queues[i] is of places[i % places.size()]

    Everywhere(Fixture &fixture, std::size_t rounds) {
        const std::vector<pi_device> devices = fixture.devices();
        add(fixture, devices[0]);
        for (const pi_device device : devices)
            add(fixture, device);
        for (std::size_t round = 0; round < rounds; ++round) {
            for (const Place &place : places)
                queues.push_back(fixture.make_queue(place));
        }
    }
    void add(Fixture &fixture, pi_device device) {
        contexts.push_back(fixture.make_context({device}));
        places.push_back({device, contexts.back()});
    }
    pi_context random_context(Fixture &fixture) const {
        return contexts[fixture.random(0, contexts.size() - 1)];
    }
};

// Flushes every queue, and lets some time pass.
void give_time(Fixture &fixture, const std::vector<Queue> &queues) {
    for (const Queue &queue : queues)
        require_success(piQueueFlush(queue), "piQueueFlush");
    fixture.wait(fixture.barrier(fixture.make_queue()));
}

CONFORMANCE_TEST("event", "commands of other contexts and devices wait for a host event") {
    const Everywhere all(fixture, 1);
    for (const Context &context : all.contexts) {
        const Event gate = fixture.make_host_event(context);
        std::vector<Bytes> bytes;
        std::vector<Mem> mems;
        std::vector<Event> events;
        for (const Place &place : all.places) {
            bytes.push_back(fixture.random_bytes(256));
            mems.push_back(fixture.make_buffer(place, Bytes(256)));
        }
        for (std::size_t i = 0; i < all.places.size(); ++i)
            events.push_back(fixture.write(all.queues[i], mems[i], 0, bytes[i], {gate}));
        give_time(fixture, all.queues);
        for (const Event &event : events)
            require(!fixture.is_complete(event),
                    "a command is complete before another context's event");
        fixture.signal(gate);
        for (std::size_t i = 0; i < events.size(); ++i) {
            fixture.wait(events[i]);
            fixture.require_contents(all.queues[i], mems[i], bytes[i],
                                     join("what place ", i, " has written"));
        }
    }
}

CONFORMANCE_TEST("event", "a command waits for commands of other contexts and devices") {
    const Everywhere all(fixture, 1);
    const Event gate = fixture.make_host_event(all.contexts.back());
    Event last = fixture.barrier(all.queues.front(), {gate});
    std::vector<Event> chain;
    for (int round = 0; round < 5; ++round) {
        for (const Queue &queue : all.queues) {
            Event next = fixture.events_wait(queue, {last});
            chain.push_back(std::move(last));
            last = std::move(next);
        }
    }
    give_time(fixture, all.queues);
    require(!fixture.is_complete(last), "the end of a chain is complete before its begin");
    fixture.signal(gate);
    fixture.wait(last, "a chain over contexts and devices");
    for (const Event &event : chain)
        require(fixture.is_complete(event), "a chain's end is complete before another link of it");
}

CONFORMANCE_TEST("event", "a command waits for commands of another platform of the plugin") {
    const pi_device another = need_device_of_another_platform(fixture);
    const Context context = fixture.make_context({another});
    const Place places[] = {fixture.place(), {another, context}};
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
        const Queue before = fixture.make_queue(places[first]);
        const Queue behind = fixture.make_queue(places[1 - first]);
        const Mem mem = fixture.make_buffer(places[1 - first], Bytes(64));
        for (const pi_result result : {PI_ERROR_BACKEND + 0, PI_SUCCESS + 0}) {
            const Event gate = fixture.make_host_event(places[first].context);
            const Event held = fixture.events_wait(before, {gate});
            const Event filled = fixture.fill(behind, mem, 0, 64, Bytes(1, std::byte{1}), {held});
            require_success(piQueueFlush(before), "piQueueFlush");
            require_success(piQueueFlush(behind), "piQueueFlush");
            fixture.require_contents(fixture.make_queue(places[1 - first]), mem, Bytes(64),
                                     "what waits for another platform's command");
            require(!fixture.is_complete(filled),
                    "a command is complete before another platform's event");
            fixture.signal(gate, result);
            fixture.require_result(filled,
                                   result == PI_SUCCESS ? PI_SUCCESS : PI_ERROR_DEPENDENCY_FAILED,
                                   "the result behind another platform's command");
        }
        fixture.require_contents(behind, mem, Bytes(64, std::byte{1}),
                                 "what has waited for another platform's command");
    }
}

CONFORMANCE_TEST(
    "event",
    "an error reaches dependents at every depth, with the root's text, and none of them runs") {
    const Everywhere all(fixture, 1);
    for (const std::size_t depth : {std::size_t{1}, std::size_t{2}, std::size_t{60}}) {
        const Mem mem = fixture.make_buffer(all.places[0], Bytes(64));
        const Event root = fixture.make_host_event(all.contexts[0]);
        std::vector<Event> chain;
        for (std::size_t i = 0; i < depth; ++i)
            chain.push_back(fixture.events_wait(all.queues[i % all.queues.size()],
                                                {i == 0 ? root.get() : chain.back().get()}));
        const Event write =
            fixture.fill(all.queues[0], mem, 0, 64, Bytes(1, std::byte{1}), {chain.back()});
        const Event independent = fixture.fill(fixture.make_queue(), fixture.make_buffer(64), 0, 64,
                                               Bytes(1, std::byte{2}));
        fixture.signal(root, -4242); // a code of the application's own
        const std::string text = text_of(root);
        require(!text.empty(), "a host event signalled with -4242 has no text");
        chain.push_back(fixture.events_wait(all.queues[0], {write}));
        for (std::size_t i = 0; i < chain.size(); ++i) {
            fixture.require_result(chain[i], PI_ERROR_DEPENDENCY_FAILED,
                                   join("the result at depth ", i + 1));
            require(text_of(chain[i]).find(text) != std::string::npos, "the text at depth ", i + 1,
                    " is \"", text_of(chain[i]), "\", the root's is \"", text, "\"");
        }
        fixture.wait(independent, "a command that has nothing to do with the failed ones");
        fixture.require_contents(all.queues[0], mem, Bytes(64), "the buffer of a failed fill");
    }
}

CONFORMANCE_TEST("event",
                 "an event that fails late fails its waiters, whatever else they wait for") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Event bad = fixture.make_host_event();
    const Event good = fixture.make_host_event();
    const Event waiting = fixture.barrier(queue, {good, bad});
    fixture.signal(good);
    give_time(fixture, {});
    require(!fixture.is_complete(waiting), "a command is complete before its second event");
    fixture.signal(bad, PI_ERROR_DEVICE_LOST);
    fixture.require_result(waiting, PI_ERROR_DEPENDENCY_FAILED,
                           "the result behind a good and a failed event");
    // Behind an event that has failed long ago, too.
    fixture.require_result(fixture.barrier(other, {good, waiting, good}),
                           PI_ERROR_DEPENDENCY_FAILED,
                           "the result behind an event that has failed before");
    // Order alone carries no error.
    fixture.wait(fixture.barrier(queue), "a barrier without a list behind a failed command");
    fixture.wait(fixture.events_wait(queue),
                 "an events wait without a list behind a failed command");
}

// ----- Diamonds -----

// Each level is two commands that wait for both of the level before: 2^64 paths.
std::vector<Event> make_diamonds(Fixture &fixture, pi_queue left, pi_queue right, pi_event root) {
    std::vector<Event> events;
    for (int level = 0; level < 64; ++level) {
        Waits waits{root};
        if (level != 0)
            waits = {events[events.size() - 2], events[events.size() - 1]};
        events.push_back(fixture.events_wait(left, waits));
        events.push_back(fixture.events_wait(right, waits));
    }
    return events;
}

CONFORMANCE_TEST("event", "diamonds of 64 levels complete in time, or fail as one") {
    const Queue left = fixture.make_queue();
    const Queue right = fixture.make_queue();
    for (const pi_result result : {PI_SUCCESS + 0, PI_ERROR_BACKEND + 0}) {
        const Event root = fixture.make_host_event();
        const std::vector<Event> events = make_diamonds(fixture, left, right, root);
        require(!fixture.is_complete(events.back()), "the last level is complete before the root");
        fixture.signal(root, result);
        const pi_result expected = result == PI_SUCCESS ? PI_SUCCESS : PI_ERROR_DEPENDENCY_FAILED;
        for (const Event &event : events)
            fixture.require_result(event, expected, "the result in a diamond");
    }
}

CONFORMANCE_TEST("event",
                 "a thousand commands may wait for one event, and one command for all of them") {
    const Queue queues[] = {fixture.make_queue(), fixture.make_queue(), fixture.make_queue()};
    const Event root = fixture.make_host_event();
    std::vector<Event> events;
    Waits waits;
    for (std::size_t i = 0; i < 1000; ++i) {
        events.push_back(fixture.events_wait(queues[i % 3], {root}));
        waits.push_back(events.back());
    }
    const Event all = fixture.events_wait(queues[0], waits);
    require(!fixture.is_complete(all), "it is complete before the root");
    fixture.signal(root);
    fixture.wait(all, "a command behind a thousand others");
    for (const Event &event : events)
        require(fixture.is_complete(event),
                "one of a thousand is not complete when their successor is");
}

// ----- Random graphs -----

// A thousand events over many queues: host events and commands, some of which fail. Each fill
// has a buffer of its own that shows whether it has run.
class Graph {
public:
    Graph(Fixture &fixture, const Everywhere &all) : fixture_(fixture), all_(all) {}

    void add_host() {
        nodes_.push_back({fixture_.make_host_event(all_.random_context(fixture_)), true,
                          fixture_.random(0, 9) == 0, nullptr, 0});
        hosts_.push_back(nodes_.size() - 1);
    }
    void add_command() {
        const std::size_t queue = fixture_.random(0, all_.queues.size() - 1);
        Node node{{}, false, false, nullptr, queue};
        Waits waits;
        for (uint64_t count = fixture_.random(0, 3); count-- > 0;) {
            const Node &before = nodes_[random_recent()];
            waits.push_back(before.event);
            node.fails = node.fails || before.fails;
        }
        if (fixture_.random(0, 4) == 0) {
            const Place &place = all_.places[queue % all_.places.size()];
            node.mem = std::make_unique<Mem>(fixture_.make_buffer(place, Bytes(16)));
            node.event =
                fixture_.fill(all_.queues[queue], *node.mem, 0, 16, Bytes(1, std::byte{1}), waits);
        } else {
            node.event = fixture_.events_wait(all_.queues[queue], waits);
        }
        // Without a list it waits for all commands before it in the queue, also for failed ones.
        nodes_.push_back(std::move(node));
    }

    void signal_all() {
        std::shuffle(hosts_.begin(), hosts_.end(), fixture_.random());
        constexpr unsigned threads = 4;
        fixture_.run_threads(threads, [&](unsigned thread) {
            for (std::size_t i = thread; i < hosts_.size(); i += threads) {
                const Node &node = nodes_[hosts_[i]];
                fixture_.signal(node.event, node.fails ? PI_ERROR_BACKEND : PI_SUCCESS);
            }
        });
    }

    void require_results() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const Node &node = nodes_[i];
            const pi_result expected = !node.fails    ? PI_SUCCESS
                                       : node.is_host ? PI_ERROR_BACKEND
                                                      : PI_ERROR_DEPENDENCY_FAILED;
            fixture_.require_result(node.event, expected, join("the result of event ", i));
            require_equal(text_of(node.event).empty(), !node.fails,
                          join("whether event ", i, " has no text"));
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const Node &node = nodes_[i];
            if (node.mem == nullptr)
                continue;
            fixture_.require_contents(all_.queues[node.queue], *node.mem,
                                      Bytes(16, node.fails ? std::byte{0} : std::byte{1}),
                                      join("the buffer of fill ", i,
                                           node.fails ? ", which fails" : ", which does not fail"));
        }
    }

private:
    struct Node {
        Event event;
        bool is_host;
        bool fails;
        std::unique_ptr<Mem> mem;
        std::size_t queue;
    };
    std::size_t random_recent() {
        const std::size_t count = nodes_.size();
        return fixture_.random(count > 100 && fixture_.random(0, 3) != 0 ? count - 100 : 0,
                               count - 1);
    }

    Fixture &fixture_;
    const Everywhere &all_;
    std::vector<Node> nodes_;
    std::vector<std::size_t> hosts_;
};

CONFORMANCE_TEST("event",
                 "a thousand random events over queues and contexts all have the right result") {
    const Everywhere all(fixture, 3);
    Graph graph(fixture, all);
    for (int i = 0; i < 1000; ++i) {
        if (i < 5 || fixture.random(0, 14) == 0)
            graph.add_host();
        else
            graph.add_command();
    }
    for (const Queue &queue : all.queues)
        require_success(piQueueFlush(queue), "piQueueFlush");
    graph.signal_all();
    graph.require_results();
    for (const Queue &queue : all.queues)
        require_success(piQueueFinish(queue), "piQueueFinish");
}

CONFORMANCE_TEST("event", "threads that enqueue behind each other's events all get through") {
    constexpr unsigned threads = 6;
    constexpr std::size_t rounds = 60;
    fixture.context(); // created here, as threads share it
    std::vector<Event> gates;
    for (unsigned i = 0; i < threads; ++i)
        gates.push_back(fixture.make_host_event());
    std::vector<Event> last(threads);
    fixture.run_threads(threads, [&](unsigned thread) {
        const Queue queue = fixture.make_queue();
        Event event = fixture.barrier(queue, {gates[thread], gates[(thread + 1) % threads]});
        for (std::size_t round = 0; round < rounds; ++round) {
            event = fixture.events_wait(queue, {event, gates[(thread + round) % threads]});
            if (round == rounds / 2)
                fixture.signal(gates[thread]);
        }
        last[thread] = std::move(event);
    });
    for (const Event &event : last)
        fixture.wait(event, "the last command of a thread");
}

// ----- Another plugin instance -----

CONFORMANCE_TEST("event", "an event of another plugin instance is refused by every command") {
    const SecondLoader second(fixture);
    const Event another = fixture.make_host_event(second.place().context);
    const Event own = fixture.make_host_event();
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const pi_event waits[] = {own, another, own};
    fixture.signal(own);
    for (const auto &command : make_command_cases(fixture)) {
        require_untouched<pi_event>(
            command->name() + " with another instance's event", {PI_ERROR_INVALID_EVENT},
            [&](pi_event *out) { return command->enqueue(queue, 0, 3, waits, out); });
        require_success(piQueueFinish(queue), "piQueueFinish");
        command->require_undone(other);
        command->clean_up(other);
    }
    fixture.signal(another);
}

} // namespace
} // namespace pi::suite
