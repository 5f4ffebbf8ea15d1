// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers of buffers and accessors, on a simulated device with its own memory.
#include <minisycl/minisycl.hpp>

#include <catch2/catch.hpp>

#include <numeric>

using namespace minisycl;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t count = 1000;
constexpr uint64_t all_bytes = count * sizeof(int);

struct Machine {
    context devices{"sim:0:0"};
    queue device{devices};
    std::vector<int> data = std::vector<int>(count);

    Machine() { std::iota(data.begin(), data.end(), 0); }
    /// Bytes that have moved since the last call.
    uint64_t moved() {
        device.wait_and_throw();
        REQUIRE(devices.runtime().finish(std::chrono::seconds(60)));
        const uint64_t all = devices.runtime().counters().bytes_delivered;
        return all - std::exchange(known_, all);
    }

private:
    uint64_t known_ = 0;
};

/// Adds all numbers that a kernel sees through an accessor of the mode.
template <class... Mode>
void touch(queue &device, buffer<int> &numbers, Mode... mode) {
    device.submit([&](handler &group) {
        accessor x(numbers, group, mode...);
        group.parallel_for(range(1), [=](id<1>) { static_cast<void>(x[0]); });
    });
}

} // namespace

TEST_CASE("a read moves its bytes to the device once, a second read none") {
    Machine machine;
    buffer numbers(machine.devices, machine.data.data(), range(count));
    CHECK(machine.moved() == 0);
    touch(machine.device, numbers, read_only);
    CHECK(machine.moved() == all_bytes);
    touch(machine.device, numbers, read_only);
    CHECK(machine.moved() == 0);
    const host_accessor here(numbers, read_only); // the host's bytes are still valid
    CHECK(machine.moved() == 0);
}

TEST_CASE("a write moves the bytes that it may not overwrite, and with no_init none") {
    Machine machine;
    buffer numbers(machine.devices, machine.data.data(), range(count));
    SECTION("write_only") {
        touch(machine.device, numbers, write_only);
        CHECK(machine.moved() == all_bytes);
    }
    SECTION("read_write") {
        touch(machine.device, numbers, read_write);
        CHECK(machine.moved() == all_bytes);
    }
    SECTION("write_only, no_init") {
        touch(machine.device, numbers, write_only, no_init);
        CHECK(machine.moved() == 0);
    }
    // Either way the device alone has the bytes.
    {
        const host_accessor here(numbers, read_only);
        CHECK(machine.moved() == all_bytes);
    }
}

TEST_CASE("at the host a write with no_init moves no bytes, too") {
    Machine machine;
    buffer numbers(machine.devices, machine.data.data(), range(count));
    touch(machine.device, numbers, read_write);
    CHECK(machine.moved() == all_bytes);
    {
        const host_accessor here(numbers, write_only, no_init);
        std::fill(here.begin(), here.end(), 5);
    }
    CHECK(machine.moved() == 0);
    touch(machine.device, numbers, read_only);
    CHECK(machine.moved() == all_bytes);
}

TEST_CASE("an accessor of a part moves only the part, and uses the buffer's ids") {
    Machine machine;
    buffer numbers(machine.devices, machine.data.data(), range(count));
    machine.device.submit([&](handler &group) {
        accessor some(numbers, group, range(100), id(300), read_write);
        group.parallel_for(range(100), [=](id<1> i) { some[300 + i] += 1000; });
    });
    CHECK(machine.moved() == 100 * sizeof(int));
    const host_accessor here(numbers, read_only);
    CHECK(machine.moved() == 100 * sizeof(int));
    CHECK(here[299] == 299);
    CHECK(here[300] == 1300);
    CHECK(here[399] == 1399);
    CHECK(here[400] == 400);
}

TEST_CASE("rows of a grid are a part, columns are refused with the right number") {
    Machine machine;
    buffer grid(machine.devices, machine.data.data(), range(20, 50));
    machine.device.submit([&](handler &group) {
        accessor rows(grid, group, range(2, 50), id(7, 0), write_only, no_init);
        group.parallel_for(range(2, 50), [=](id<2> i) {
            rows[{7 + i[0], i[1]}] = static_cast<int>(1000 * i[0] + i[1]);
        });
    });
    CHECK(machine.moved() == 0);
    {
        const host_accessor here(grid, read_only);
        CHECK(machine.moved() == 2 * 50 * sizeof(int));
        CHECK(here[{6, 49}] == 349);
        CHECK(here[{7, 3}] == 3);
        CHECK(here[{8, 49}] == 1049);
        CHECK(here[{9, 0}] == 450);
    }
    const auto columns = [&](handler &group) {
        accessor some(grid, group, range(20, 10), id(0, 5), read_only);
        group.parallel_for(range(1), [=](id<1>) { static_cast<void>(some[{0, 5}]); });
    };
    CHECK_THROWS_WITH(machine.device.submit(columns),
                      Contains("dimension 1 has 10 elements from 5 on; all 50 are needed"));
}

TEST_CASE("the memory of a buffer has the results when the buffer is destroyed") {
    Machine machine;
    {
        buffer numbers(machine.devices, machine.data.data(), range(count));
        machine.device.submit([&](handler &group) {
            accessor x(numbers, group, read_write);
            group.parallel_for(range(count), [=](id<1> i) { x[i] *= 3; });
        });
    } // without a wait
    for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(machine.data[i] == static_cast<int>(3 * i));
    }
}

TEST_CASE("each id of three dimensions occurs once, the last dimension is the fastest in memory") {
    Machine machine;
    buffer<int, 3> box(machine.devices, range(3, 4, 5));
    machine.device.submit([&](handler &group) {
        accessor x(box, group, write_only, no_init);
        group.parallel_for(range(3, 4, 5), [=](id<3> i) {
            x[i] = static_cast<int>(100 * i[0] + 10 * i[1] + i[2]);
        });
    });
    const host_accessor here(box, read_only);
    const int *next = here.begin();
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            for (int k = 0; k < 5; ++k) {
                REQUIRE(*next++ == 100 * i + 10 * j + k);
            }
        }
    }
}

TEST_CASE("a kernel finds its accessors at any offset, and its values are unchanged") {
    Machine machine;
    buffer numbers(machine.devices, machine.data.data(), range(count), "numbers");
    buffer<int> result(machine.devices, range(count), "result");
    machine.device.submit([&](handler &group) {
        accessor out(result, group, write_only, no_init);
        accessor in(numbers, group, read_only);
        const struct {
            char small;
            decltype(in) first;
            short number;
            decltype(in) again;
        } mine{'x', in, 7, in};
        group.parallel_for(range(count), [=](id<1> i) {
            out[i] = mine.first[i] + mine.again[count - 1 - i] + mine.number + (mine.small == 'x');
        });
    });
    const host_accessor here(result, read_only);
    for (const int one : here) {
        REQUIRE(one == static_cast<int>(count) - 1 + 8);
    }
}

TEST_CASE("two accessors of one element in a group, one of them writing, are refused") {
    Machine machine;
    buffer numbers(machine.devices, machine.data.data(), range(count));
    const auto both = [&](handler &group) {
        accessor in(numbers, group, read_only);
        accessor out(numbers, group, write_only, no_init);
        group.parallel_for(range(count), [=](id<1> i) { out[i] = in[i]; });
    };
    CHECK_THROWS_AS(machine.device.submit(both), minisycl::exception);
    touch(machine.device, numbers, read_write); // and nothing is held
    machine.device.wait_and_throw();
}

TEST_CASE("a launch that fails leaves the bytes as they were") {
    Machine machine;
    buffer numbers(machine.devices, machine.data.data(), range(count));
    const auto nothing = [&](handler &group) {
        accessor x(numbers, group, write_only, no_init);
        group.parallel_for(range(0), [=](id<1> i) { x[i] = 0; });
    };
    CHECK_THROWS_WITH(machine.device.submit(nothing), Contains("PI_ERROR_INVALID_WORK_SIZE"));
    const host_accessor here(numbers, read_only);
    CHECK(here[999] == 999);
}

TEST_CASE("a command group has one kernel, neither none nor two") {
    Machine machine;
    CHECK_THROWS_WITH(machine.device.submit([](handler &) {}), Contains("without parallel_for"));
    CHECK_THROWS_WITH(machine.device.submit([](handler &group) {
        group.parallel_for(range(1), [](id<1>) {});
        group.parallel_for(range(1), [](id<1>) {});
    }),
                      Contains("has one parallel_for"));
}

TEST_CASE("a missing device is refused with the number of devices") {
    context devices("sim:0:0");
    CHECK_THROWS_WITH(queue(devices, 1), Contains("device 1 of a context with 1"));
}
