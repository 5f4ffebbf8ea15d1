// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that migrate as a whole: of two devices that write one at the same time, one loses its
// writes.
#include "fixture.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace sim_test;

namespace {

constexpr const char *whole_object =
    R"("connection": "unified", "coherence": "coherent", "residency": "migrates_whole_object")";

/// Three devices whose kernels take 1, 2 and 3 ns per work-item, linked as given. From the host a
/// byte takes 1 ns.
std::string three_devices(const std::string &connection = whole_object) {
    std::string json = R"({"pi_machine": 1, "name": "three", "devices": [)";
    for (const char *name : {"a", "b", "c"}) {
        json += *name == 'a' ? "" : ", ";
        json += R"({"name": ")";
        json += name;
        json += R"(", "type": "gpu", "kernel": {"item_time": )";
        json += std::to_string(*name - 'a' + 1);
        json += R"(}, "scopes": [{"name": "global", "capacity": "1 MiB"}]})";
    }
    json += R"(], "links": [{"from": "host", "to": "a", "bandwidth": "1 GB/s"},
        {"between": ["a", "b", "c"], "bandwidth": "1 GB/s", )";
    json += connection;
    return json + "}]}";
}

constexpr uint64_t part = 100, size = 3 * part;

/// An object of device a, parts of which are written.
struct Object {
    explicit Object(const std::string &json)
        : machine(json), kernel(make_add_one(machine.context)) {
        for (size_t device = 0; device < 3; ++device)
            queues.push_back(machine.queue(device));
        clear();
    }

    /// A new object of zeros.
    void clear() {
        mem = machine.buffer(0, size);
        OK(piEventWait(write(queues[0], mem, Bytes(size)), patience));
    }

    /// A device adds one to the bytes of the part with its own number.
    Owned<pi_event> add(size_t device, const Waits &waits = {}) const {
        return launch(queues[device], kernel, mem, part, device * part, waits);
    }

    /// The value of each part, all of whose bytes are equal.
    std::vector<int> parts() const {
        const Bytes bytes = read(queues[0], mem, size);
        std::vector<int> found;
        for (uint64_t at = 0; at < size; at += part) {
            CHECK(std::count(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                             bytes.begin() + static_cast<std::ptrdiff_t>(at + part),
                             bytes[at]) == part);
            found.push_back(static_cast<int>(bytes[at]));
        }
        return found;
    }

    Simulation machine;
    Owned<pi_kernel> kernel;
    std::vector<Owned<pi_queue>> queues;
    Owned<pi_mem> mem;
};

void wait_for(std::initializer_list<pi_event> events) {
    for (const pi_event event : events)
        OK(piEventWait(event, patience));
}

} // namespace

TEST_CASE("if devices write an object at once, only the writes of the last to end survive",
          "[sim]") {
    Object object(three_devices());
    for (int round = 0; round < 20; ++round) {
        // Whichever is enqueued first, and whichever the threads run first.
        {
            const auto first = object.add(round % 2), second = object.add(1 - round % 2);
            wait_for({first, second});
        }
        CHECK(object.parts() == std::vector{0, 1, 0});
        object.clear();
        const auto first = object.add(round % 3), second = object.add((round + 1) % 3),
                   third = object.add((round + 2) % 3);
        wait_for({first, second, third});
        CHECK(object.parts() == std::vector{0, 0, 1});
        object.clear();
    }
}

TEST_CASE("devices that use an object in place lose nothing", "[sim]") {
    const Object object(three_devices(
        R"("connection": "unified", "coherence": "coherent", "residency": "remote_access")"));
    const auto first = object.add(0), second = object.add(1), third = object.add(2);
    wait_for({first, second, third});
    CHECK(object.parts() == std::vector{1, 1, 1});
}

TEST_CASE("writers that events, the host or a queue order lose nothing", "[sim]") {
    Object object(three_devices());
    const auto first = object.add(0), second = object.add(1, {first}),
               third = object.add(2, {second});
    wait_for({third});
    CHECK(object.parts() == std::vector{1, 1, 1});
    for (const size_t device : {2, 0, 1})
        wait_for({object.add(device)});
    CHECK(object.parts() == std::vector{2, 2, 2});
    const auto again = object.add(1), more = object.add(1);
    wait_for({again, more});
    CHECK(object.parts() == std::vector{2, 4, 2});
}

TEST_CASE("a writer enqueued after a callback has shown the other's end loses nothing", "[sim]") {
    const Object object(three_devices());
    for (int round = 1; round <= 20; ++round) {
        std::atomic<bool> seen = false;
        const auto first = object.add(1);
        OK(piEventSetCallback(
            first,
            [](pi_event, pi_result, void *flag) { *static_cast<std::atomic<bool> *>(flag) = true; },
            &seen));
        while (!seen) // the host's clock does not advance
            std::this_thread::yield();
        const auto second = object.add(0);
        wait_for({second});
        CHECK(object.parts() == std::vector{round, round, 0});
    }
}

TEST_CASE("writes before and after a collision survive", "[sim]") {
    Object object(three_devices());
    wait_for({object.add(0)});
    const auto first = object.add(0), second = object.add(1), next = object.add(0, {second});
    wait_for({first, second, next});
    CHECK(object.parts() == std::vector{2, 1, 0}); // 3 without the collision
}

TEST_CASE("copies and writes collide as kernels do, in two views of one object", "[sim]") {
    Object object(three_devices());
    const auto view = [&](uint64_t offset) {
        auto d = pi::desc<pi_mem_partition_desc>();
        d.offset = offset;
        d.size = part;
        Owned<pi_mem> mem;
        OK(piMemBufferPartition(object.mem, &d, mem.out()));
        return mem;
    };
    const auto left = view(0), right = view(part), source = object.machine.buffer(1, part);
    OK(piEventWait(write(object.queues[1], source, Bytes(part, std::byte{5})), patience));
    // 50 bytes over a link of 1 GB/s, and 100 over another one. A write has a callback, which could
    // show its end before the copy is enqueued.
    Owned<pi_event> go;
    OK(piEventCreateHost(object.machine.context, nullptr, go.out()));
    const auto first = write(object.queues[0], left, Bytes(50, std::byte{4}), {go}),
               second = copy(object.queues[1], source, right, part, {go});
    OK(piEventSignalHost(go, PI_SUCCESS));
    wait_for({first, second});
    CHECK(object.parts() == std::vector{0, 5, 0});
    const auto third = write(object.queues[0], left, Bytes(part, std::byte{6})),
               fourth = copy(object.queues[1], source, right, 50, {third});
    wait_for({third, fourth});
    CHECK(object.parts() == std::vector{6, 5, 0});
}
