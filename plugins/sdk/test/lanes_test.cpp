// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several threads that share one piece of work.
#include <pi/sdk/lanes.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

using pi::sdk::run_in_lanes;
using pi::sdk::Workers;

namespace {

/// Calls that wait until so many of them are running at the same time.
class Meeting {
public:
    explicit Meeting(unsigned expected) : expected_(expected) {}
    void join() {
        ++arrived_;
        while (arrived_ < expected_)
            std::this_thread::yield();
    }

private:
    const unsigned expected_;
    std::atomic<unsigned> arrived_{0};
};

} // namespace

TEST_CASE(
    "the caller and its helpers work at the same time, and the call returns after all of them") {
    for (int round = 0; round < 100; ++round) {
        Workers workers(3);
        Meeting meeting(4);
        std::atomic<unsigned> done{0};
        run_in_lanes(workers, 3, [&] {
            meeting.join();
            std::this_thread::yield();
            ++done;
        });
        CHECK(done == 4);
    }
}

TEST_CASE("without helpers the caller does all the work") {
    Workers workers(3);
    const auto caller = std::this_thread::get_id();
    unsigned calls = 0;
    run_in_lanes(workers, 0, [&] {
        CHECK(std::this_thread::get_id() == caller);
        ++calls;
    });
    CHECK(calls == 1);
}

TEST_CASE("the call does not wait for workers that are busy with something else") {
    Workers workers(1);
    std::promise<void> let_go, reached;
    workers.post([&, until = let_go.get_future().share()] { until.wait(); });
    std::atomic<unsigned> calls{0};
    run_in_lanes(workers, 1, [&] { ++calls; });
    CHECK(calls == 1);
    let_go.set_value();
    workers.post([&] { reached.set_value(); });
    reached.get_future().wait(); // comes after the helper that came too late
    CHECK(calls == 1);
}

TEST_CASE("a failure of any thread reaches the caller, after all have ended") {
    for (const bool of_a_helper : {false, true}) {
        Workers workers(2);
        Meeting meeting(3);
        std::atomic<unsigned> ended{0};
        std::atomic<bool> failed{false};
        const auto caller = std::this_thread::get_id();
        std::string seen;
        try {
            run_in_lanes(workers, 2, [&] {
                meeting.join();
                const bool helper = std::this_thread::get_id() != caller;
                if (helper == of_a_helper && !failed.exchange(true))
                    throw std::runtime_error("the first");
                while (!failed)
                    std::this_thread::yield();
                ++ended;
            });
        } catch (const std::runtime_error &error) {
            seen = error.what();
        }
        CHECK(seen == "the first");
        CHECK(ended == 2);
    }
}

TEST_CASE("of many failures the caller gets one") {
    Workers workers(3);
    Meeting meeting(4);
    CHECK_THROWS_AS(run_in_lanes(workers, 3,
                                 [&] {
                                     meeting.join();
                                     throw std::runtime_error("each");
                                 }),
                    std::runtime_error);
}

TEST_CASE("two callers share the workers") {
    Workers workers(3);
    std::atomic<unsigned> sum{0};
    const auto add_up = [&] {
        for (int round = 0; round < 200; ++round) {
            std::atomic<unsigned> left{100};
            run_in_lanes(workers, 3, [&] {
                for (unsigned now = left; now;)
                    if (left.compare_exchange_weak(now, now - 1))
                        ++sum;
            });
        }
    };
    {
        const std::jthread other(add_up);
        add_up();
    }
    CHECK(sum == 2 * 200 * 100);
}
