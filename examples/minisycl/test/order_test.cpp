// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command groups run in the order of their accessors, and not more: on the host plugin, where
// kernels can be delayed.
#include <minisycl/minisycl.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>

using namespace minisycl;

namespace {

struct Gate {
    std::atomic<bool> open = false;
    void pass() const {
        while (!open) {
            std::this_thread::yield();
        }
    }
};

/// Whether it ends although the gate is closed: else it never does, and half a minute goes by.
bool ends(const event &command) {
    const auto begin = std::chrono::steady_clock::now();
    while (!command.is_complete()) {
        if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(30)) {
            return false;
        }
        std::this_thread::yield();
    }
    command.wait(); // throws its error
    return true;
}

struct Two {
    Gate gate; // goes after the queues, which wait
    context devices{"host:0:0"};
    queue first{devices};
    queue second{devices};
    buffer<int> shared{devices, range(1), "shared"};
    buffer<int> copy{devices, range(1), "copy"};
    buffer<int> other{devices, range(1), "other"};

    Two() {
        for (buffer<int> *one : {&shared, &copy, &other}) {
            host_accessor(*one, write_only, no_init)[0] = 1;
        }
    }
    ~Two() { gate.open = true; }

    /// Behind the gate.
    event set_late(queue &device, buffer<int> &target, int value) {
        return device.submit([&](handler &group) {
            accessor x(target, group, write_only, no_init);
            group.parallel_for(range(1), [=, wait = &gate](id<1> i) {
                wait->pass();
                x[i] = value;
            });
        });
    }
    event set(queue &device, buffer<int> &target, int value) {
        return device.submit([&](handler &group) {
            accessor x(target, group, write_only, no_init);
            group.parallel_for(range(1), [=](id<1> i) { x[i] = value; });
        });
    }
    event copy_of(queue &device, buffer<int> &from, buffer<int> &to, bool late) {
        return device.submit([&](handler &group) {
            accessor x(from, group, read_only);
            accessor y(to, group, write_only, no_init);
            group.parallel_for(range(1), [=, wait = late ? &gate : nullptr](id<1> i) {
                if (wait != nullptr) {
                    wait->pass();
                }
                y[i] = x[i];
            });
        });
    }
    int value(buffer<int> &of) { return host_accessor(of, read_only)[0]; }
};

} // namespace

TEST_CASE(
    "a group that reads an earlier group's writes runs after it, an independent one need not") {
    Two two;
    queue &reader = GENERATE(false, true) ? two.second : two.first;
    two.set_late(two.first, two.shared, 2);
    const event read = two.copy_of(reader, two.shared, two.copy, false);
    REQUIRE(ends(two.set(reader, two.other, 3)));
    CHECK_FALSE(read.is_complete());
    two.gate.open = true;
    CHECK(two.value(two.copy) == 2);
    CHECK(two.value(two.other) == 3);
}

TEST_CASE("a group that writes an earlier group's reads runs after it") {
    Two two;
    queue &writer = GENERATE(false, true) ? two.second : two.first;
    two.copy_of(two.first, two.shared, two.copy, true);
    const event write = two.set(writer, two.shared, 2);
    REQUIRE(ends(two.set(writer, two.other, 3)));
    CHECK_FALSE(write.is_complete());
    two.gate.open = true;
    CHECK(two.value(two.copy) == 1);
    CHECK(two.value(two.shared) == 2);
}

TEST_CASE("a group that writes an earlier group's writes runs after it") {
    Two two;
    queue &writer = GENERATE(false, true) ? two.second : two.first;
    two.set_late(two.first, two.shared, 2);
    const event write = two.set(writer, two.shared, 3);
    REQUIRE(ends(two.set(writer, two.other, 3)));
    CHECK_FALSE(write.is_complete());
    two.gate.open = true;
    CHECK(two.value(two.shared) == 3);
}

TEST_CASE("groups that read the same elements run at the same time") {
    Two two;
    two.copy_of(two.first, two.shared, two.copy, true);
    REQUIRE(ends(two.copy_of(two.first, two.shared, two.other, false)));
    two.gate.open = true;
    CHECK(two.value(two.copy) == 1);
}

TEST_CASE("groups on parts of a buffer that do not touch do not wait for each other") {
    Two two;
    buffer<int> halves(two.devices, range(2), "halves");
    const auto set_half = [&](std::size_t half, const Gate *gate) {
        return two.first.submit([&](handler &group) {
            accessor x(halves, group, range(1), id(half), write_only, no_init);
            group.parallel_for(range(1), [=](id<1>) {
                if (gate != nullptr) {
                    gate->pass();
                }
                x[half] = static_cast<int>(half) + 5;
            });
        });
    };
    set_half(0, &two.gate);
    REQUIRE(ends(set_half(1, nullptr)));
    two.gate.open = true;
    const host_accessor here(halves, read_only);
    CHECK(here[0] == 5);
    CHECK(here[1] == 6);
}

TEST_CASE("a long chain over two queues has the result of sequential execution") {
    Two two;
    for (int i = 0; i < 200; ++i) {
        (i % 2 == 0 ? two.first : two.second).submit([&](handler &group) {
            accessor x(two.shared, group, read_write);
            accessor y(two.copy, group, read_write);
            group.parallel_for(range(1), [=](id<1>) {
                x[0] = 3 * x[0] + y[0] + 1;
                y[0] = x[0] % 1000;
                x[0] %= 1009;
            });
        });
    }
    int x = 1;
    int y = 1;
    for (int i = 0; i < 200; ++i) {
        x = 3 * x + y + 1;
        y = x % 1000;
        x %= 1009;
    }
    CHECK(two.value(two.shared) == x);
    CHECK(two.value(two.copy) == y);
}
