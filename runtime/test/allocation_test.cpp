// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Out-of-memory tests: each allocation of the runtime fails in turn, on any thread, from an acquire
// to the end of all its transfers; or thread creation fails.
#include "equipment.hpp"
#include "failing_allocations.hpp"
#include "failing_threads.hpp"
#include "own_code.hpp"
#include "shortage.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <thread>

using namespace runtime_test;

namespace {

pi_test::Shortage memory;
/// If set, thread creation fails instead.
bool of_threads = false;
/// The runtime's code, which is linked into this program: allocations of plugins do not fail here.
pi_test::OwnCode own_code;

/// While it exists, the application's allocations succeed.
class OfTheApplication {
public:
    OfTheApplication() { memory.pause(); }
    OfTheApplication(const OfTheApplication &) = delete;
    ~OfTheApplication() { memory.go_on(); }
};

constexpr uint64_t size = 4096;
constexpr Range used{100, 3100};
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
constexpr uint32_t stride = sanitized ? 7 : 1; // sanitizers are slow

/// Which bytes are valid where before the acquire.
enum class Before { nothing_there, all_there, in_ranges };

/// How a failing write ends.
enum class End { abandoned, event_fails, event_fails_as_lost, event_has_failed };

RuntimeOptions options_for(const Topology &topology, bool in_pieces) {
    RuntimeOptions options;
    if (in_pieces) {
        CostModel model;
        model.callback_latency = 0;
        model.smallest_chunk = model.largest_chunk = 512;
        options.costs = CostTable::estimate(topology.description(), model);
        options.bounce_limit = 0;
    }
    return options;
}

void device_write(const Machine &machine, const Buffer &buffer, PlaceIndex place, uint64_t offset,
                  const std::vector<uint8_t> &bytes) {
    Acquisition use = buffer.acquire(place, Access::discard_write, offset, bytes.size());
    const Event written = machine.write(use, bytes.data());
    use.release(written.get());
    check(wait(written), "a write at a device");
}

class Scenario {
public:
    Scenario(const Machine &machine, bool in_pieces)
        : machine_(machine),
          runtime_(machine.topology(), options_for(*machine.topology(), in_pieces)),
          storage_(runtime_, {.size = size}) {}

    void prepare(Before before) {
        host_write(buffer_, 0, bytes_);
        if (before != Before::nothing_there) {
            device_read(machine_, buffer_, 1);
            host_write(buffer_, 0, bytes_);
        }
        if (before == Before::in_ranges) {
            for (const uint32_t offset : {300U, 900U, 2500U}) {
                const std::vector<uint8_t> some = pattern(100, offset);
                std::copy(some.begin(), some.end(), bytes_.begin() + offset);
                device_write(machine_, buffer_, last(), offset, some);
            }
        }
        REQUIRE(runtime_.finish(patience));
    }

    /// Fails the N-th allocation (from 1), and all later ones if `lasts`, until no transfer is in
    /// flight. Returns false if there were fewer allocations.
    bool use(Access access, uint32_t allocation, bool lasts) {
        memory.begin(allocation, lasts);
        try {
            Acquisition use = buffer_.acquire(1, access, used.begin, used.size());
            if (access == Access::discard_write) {
                overwrite(use);
            } else {
                use.release();
            }
        } catch (const std::exception &) {
            // The checks decide whether bytes are missing.
        }
        const bool finished = runtime_.finish(patience);
        const bool failed = memory.end();
        REQUIRE(finished);
        return failed;
    }

    /// The same with a write that fails at its end; another use may wait for it.
    bool fail_write(End end, bool is_waited_for, uint32_t allocation, bool lasts) {
        Acquisition write = buffer_.acquire(1, Access::discard_write, used.begin, used.size());
        if (storage_.memory_of(1) != storage_.memory_of(host_place)) {
            REQUIRE(wait(machine_.fill(write, 0xEE)) == PI_SUCCESS);
        } // else the bytes are overwritten in every place
        Event gate;
        check(piEventCreateHost(machine_.topology()->context(1), nullptr, gate.out()), "a gate");
        Acquisition waits;
        if (is_waited_for) {
            std::thread([&] {
                waits = buffer_.acquire(1, Access::read, used.begin, used.size());
            }).join();
        }
        if (end == End::event_has_failed) {
            piEventSignalHost(gate.get(), PI_ERROR_BACKEND);
        } else if (end != End::abandoned) {
            write.release(gate.get());
        }
        memory.begin(allocation, lasts);
        if (end == End::abandoned) {
            write.abandon();
        } else if (end == End::event_has_failed) {
            release(write, gate);
        } else { // the runtime probes the device, which is not lost
            piEventSignalHost(gate.get(), end == End::event_fails_as_lost ? PI_ERROR_DEVICE_LOST
                                                                          : PI_ERROR_BACKEND);
        }
        const bool finished = runtime_.finish(patience);
        const bool failed = memory.end();
        REQUIRE(finished);
        if (is_waited_for) {
            CHECK_THROWS_AS(waits.wait(patience), Error);
            waits.release();
        }
        return failed;
    }

    void check_bytes() const {
        CHECK(device_read(machine_, buffer_, 1) == bytes_);
        CHECK(host_read(buffer_) == bytes_);
        CHECK(device_read(machine_, buffer_, last()) == bytes_);
        CHECK(runtime_.finish(patience));
    }

private:
    PlaceIndex last() const { return machine_.places().back(); }

    static void release(Acquisition &use, const Event &event) {
        try {
            use.release(event.get());
        } catch (const std::exception &) {
            memory.end_lasting(); // a failed release may be retried
            REQUIRE(use.held());
            use.release(event.get());
        }
    }

    void overwrite(Acquisition &use) {
        std::vector<uint8_t> zeros;
        Event written;
        {
            const OfTheApplication plenty;
            zeros.resize(used.size());
            written = machine_.write(use, zeros.data());
        }
        release(use, written);
        const OfTheApplication plenty;
        const pi_result result = wait(written);
        if (result == PI_SUCCESS) {
            std::fill_n(bytes_.begin() + used.begin, used.size(), uint8_t{0});
        } else {
            REQUIRE(result == PI_ERROR_DEPENDENCY_FAILED); // an earlier operation failed
        }
    }

    const Machine &machine_;
    const Runtime runtime_;
    const Storage storage_;
    const Buffer buffer_ = storage_.buffer();
    std::vector<uint8_t> bytes_ = pattern(size, 1);
};

} // namespace

bool allocation_fails(const void *caller) {
    return !of_threads && memory.active() && own_code.calls(caller) && memory.takes_one();
}
bool thread_fails(const void *caller) {
    return of_threads && memory.active() && own_code.calls(caller) && memory.takes_one();
}

TEST_CASE("whichever allocation fails in an acquire and its work, no byte is lost, nothing waits "
          "for ever, and the next acquire succeeds") {
    const Access access = GENERATE(Access::read, Access::read_write, Access::discard_write);
    const Before before = GENERATE(Before::nothing_there, Before::all_there, Before::in_ranges);
    const bool in_pieces = GENERATE(false, true);
    const bool lasts = GENERATE(false, true);
    const Machine machine(1);
    own_code.find(std::array{std::string_view()});
    bool failed = true;
    for (uint32_t allocation = 1; failed; allocation += stride) {
        CAPTURE(to_string(access), static_cast<int>(before), in_pieces, lasts, allocation);
        Scenario scenario(machine, in_pieces);
        scenario.prepare(before);
        failed = scenario.use(access, allocation, lasts);
        scenario.check_bytes();
        REQUIRE(allocation < 10000);
    }
}

TEST_CASE("whichever thread cannot start where events refuse callbacks, no byte is lost, nothing "
          "waits for ever, and the next acquire succeeds") {
    const Access access = GENERATE(Access::read, Access::read_write, Access::discard_write);
    const Before before = GENERATE(Before::nothing_there, Before::all_there, Before::in_ranges);
    const bool in_pieces = GENERATE(false, true);
    const bool lasts = GENERATE(false, true);
    const Machine machine(1, "piEventSetCallback:1..=fail(BACKEND)");
    own_code.find(std::array{std::string_view()});
    of_threads = true;
    bool failed = true, failed_once = false;
    for (uint32_t thread = 1; failed; ++thread) {
        CAPTURE(to_string(access), static_cast<int>(before), in_pieces, lasts, thread);
        Scenario scenario(machine, in_pieces);
        scenario.prepare(before);
        failed = scenario.use(access, thread, lasts);
        failed_once = failed_once || failed;
        scenario.check_bytes();
        REQUIRE(thread < 1000);
    }
    of_threads = false;
    CHECK((failed_once || access != Access::discard_write || sanitized));
}

TEST_CASE("whichever allocation fails in the end of a failed write, its bytes are valid nowhere, "
          "and its waiters get the error") {
    const End end =
        GENERATE(End::abandoned, End::event_fails, End::event_fails_as_lost, End::event_has_failed);
    const Before before = GENERATE(Before::nothing_there, Before::all_there, Before::in_ranges);
    const bool is_waited_for = GENERATE(false, true);
    const bool lasts = GENERATE(false, true);
    const Machine machine(1);
    own_code.find(std::array{std::string_view()});
    bool failed = true;
    for (uint32_t allocation = 1; failed; allocation += stride) {
        CAPTURE(static_cast<int>(end), static_cast<int>(before), is_waited_for, lasts, allocation);
        Scenario scenario(machine, false);
        scenario.prepare(before);
        failed = scenario.fail_write(end, is_waited_for, allocation, lasts);
        scenario.check_bytes();
        REQUIRE(allocation < 10000);
    }
}

TEST_CASE(
    "whichever allocation fails in a release, its commands are not lost with the acquisition") {
    const Access access = GENERATE(Access::read, Access::read_write, Access::discard_write);
    const bool abandoned = GENERATE(false, true);
    const Machine machine(1);
    own_code.find(std::array{std::string_view()});
    bool failed = true;
    for (uint32_t allocation = 1; failed; ++allocation) {
        CAPTURE(to_string(access), abandoned, allocation);
        const Runtime runtime(machine.topology());
        const Storage storage(runtime, {.size = size});
        const Buffer buffer = storage.buffer();
        host_write(buffer, 0, pattern(size, 1));
        device_read(machine, buffer, 1);
        Event gate;
        check(piEventCreateHost(machine.topology()->context(1), nullptr, gate.out()), "a gate");
        bool threw = false;
        {
            Acquisition use = buffer.acquire(1, access);
            if (access != Access::read) {
                REQUIRE(wait(machine.fill(use, 7)) == PI_SUCCESS);
            }
            memory.begin(allocation, false);
            try {
                use.release(gate.get());
            } catch (const std::bad_alloc &) {
                threw = true;
            }
            failed = memory.end();
            REQUIRE(use.held() == threw);
            if (abandoned) {
                use.abandon();
            }
        }
        CHECK_FALSE(storage.finish(std::chrono::nanoseconds(0)));
        check(piEventSignalHost(gate.get(), PI_SUCCESS), "piEventSignalHost");
        REQUIRE(runtime.finish(patience));
        const bool is_written = access != Access::read;
        if (!is_written || !threw) {
            CHECK(host_read(buffer) ==
                  (is_written ? std::vector<uint8_t>(size, 7) : pattern(size, 1)));
        } else if (storage.memory_of(1) != storage.memory_of(host_place)) {
            CHECK(host_read(buffer) == pattern(size, 1));
        } // else the bytes may be overwritten in every place
        REQUIRE(allocation < 1000);
    }
}

TEST_CASE("a set of ranges without memory stays unchanged") {
    const auto separate = [](uint64_t count, uint64_t first) {
        RangeSet set;
        for (uint64_t index = 0; index < count; ++index) {
            set.add(Range{first + 100 * index, first + 100 * index + 40});
        }
        return set;
    };
    const uint64_t ranges = GENERATE(1, 2, 7);
    const uint64_t others = GENERATE(1, 3, 4, 5, 8);
    const uint64_t begin = GENERATE(10, 30, 50); // within, across an end, outside
    RangeSet other;
    for (uint64_t index = 0; index < others; ++index) {
        other.add(Range{begin + 100 * index, begin + 100 * index + 20});
    }
    const RangeSet before = separate(ranges, 0);
    own_code.find(std::array{std::string_view()});
    bool failed_once = false;
    for (const bool adds : {true, false}) {
        for (uint32_t allocation = 1;; ++allocation) {
            CAPTURE(ranges, others, begin, adds, allocation);
            RangeSet set = before;
            memory.begin(allocation, false);
            try {
                adds ? set.add(other) : set.remove(other);
                memory.end();
                break;
            } catch (const std::bad_alloc &) {
                failed_once = true;
                memory.end();
            }
            REQUIRE(set == before);
            REQUIRE(allocation < 100);
        }
    }
    CHECK((failed_once || others == 1));
}
