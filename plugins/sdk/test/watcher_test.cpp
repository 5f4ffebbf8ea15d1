// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <pi/sdk/watcher.hpp>

#include "threads.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using pi::sdk::Watcher;
using pi::sdk::Workers;
using pi_test::count_threads;

namespace {

constexpr std::chrono::seconds patience{20};

/// Becomes ready after so many counts.
class Countdown {
public:
    explicit Countdown(size_t count) : left_(count) {}
    void count() {
        if (--left_ == 0)
            done_.set_value();
    }
    bool wait() { return done_.get_future().wait_for(patience) == std::future_status::ready; }

private:
    std::atomic<size_t> left_;
    std::promise<void> done_;
};

} // namespace

TEST_CASE("one thread watches 10,000 things, and notices each end once") {
    constexpr size_t count = 10'000;
    Watcher watcher;
    const size_t before = count_threads();
    std::vector<std::atomic<bool>> over(count);
    std::vector<std::atomic<int>> ends(count);
    Countdown all(count);
    for (size_t i = 0; i < count; ++i)
        watcher.add([&, i] {
            if (!over[i])
                return false;
            ++ends[i];
            all.count();
            return true;
        });
    CHECK(count_threads() == before + 1);
    for (size_t i = count; i-- > 0;)
        over[i] = true;
    REQUIRE(all.wait());
    for (const std::atomic<int> &noticed : ends)
        CHECK(noticed == 1);
}

TEST_CASE("a watched function may add more when it ends") {
    Watcher watcher;
    Countdown both(2);
    watcher.add([&] {
        watcher.add([&] {
            both.count();
            return true;
        });
        both.count();
        return true;
    });
    CHECK(both.wait());
}

TEST_CASE("a function that returned true is destroyed, whether others have or not") {
    Watcher watcher;
    std::promise<void> gone;
    const auto last = [&gone](int *number) {
        delete number;
        gone.set_value();
    };
    watcher.add([] { return false; });
    watcher.add([kept = std::shared_ptr<int>(new int, last)] { return true; });
    CHECK(gone.get_future().wait_for(patience) == std::future_status::ready);
}

TEST_CASE("a watcher's destructor polls once more and drops the rest") {
    std::atomic<bool> over{false};
    bool noticed = false;
    const auto open = std::make_shared<int>();
    {
        Watcher watcher;
        watcher.add([open] { return false; });
        watcher.add([&] { return noticed = over.load(); });
        over = true;
    }
    CHECK(noticed);
    CHECK(open.use_count() == 1);
}

TEST_CASE("a task is tried on an idle thread only") {
    Workers workers(1);
    std::promise<void> begun, go;
    std::function<void()> first = [&, until = go.get_future().share()] {
        begun.set_value();
        until.wait();
    };
    REQUIRE(workers.try_post(first));
    begun.get_future().wait();
    int runs = 0;
    std::function<void()> second = [&] { ++runs; };
    CHECK_FALSE(workers.try_post(second));
    REQUIRE(second);
    second(); // unchanged
    CHECK(runs == 1);
    go.set_value();
}
