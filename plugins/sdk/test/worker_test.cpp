// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <pi/sdk/worker.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using namespace pi::sdk;

namespace {

constexpr std::chrono::seconds patience{20};

/// Posts a task, and returns a future that becomes ready when it has run.
template <class Task>
std::future<void> post(Workers &workers, Task task) {
    auto promise = std::make_shared<std::promise<void>>();
    std::future<void> done = promise->get_future();
    workers.post([promise, task] {
        task();
        promise->set_value();
    });
    return done;
}

bool is_done(const std::future<void> &future) {
    return future.wait_for(patience) == std::future_status::ready;
}

} // namespace

TEST_CASE("one worker runs tasks in the order of their posts, including those that tasks post") {
    std::vector<int> order;
    {
        Workers workers;
        std::promise<void> go;
        workers.post([&, gate = go.get_future().share()] {
            gate.wait();
            order.push_back(0);
            workers.post([&] { order.push_back(4); });
        });
        for (int number = 1; number < 4; ++number)
            workers.post([&, number] { order.push_back(number); });
        go.set_value();
    }
    CHECK(order == std::vector{0, 1, 2, 3, 4});
}

TEST_CASE("the destructor first runs all posted tasks, also those posted by the last ones") {
    for (const unsigned count : {1U, 4U}) {
        std::atomic<int> runs{0};
        {
            Workers workers(count);
            for (int i = 0; i < 100; ++i)
                workers.post([&] {
                    ++runs;
                    workers.post([&] { ++runs; });
                });
        }
        CHECK(runs == 200);
    }
}

TEST_CASE("a task never waits for one that another thread is free to run") {
    Workers workers(4);
    for (int round = 0; round < 50; ++round) {
        // All four wait for one another: each needs its own thread, a sleeping or a new one.
        std::atomic<int> here{0};
        std::promise<void> all;
        const std::shared_future<void> gate = all.get_future().share();
        std::vector<std::future<void>> done;
        for (int i = 0; i < 4; ++i)
            done.push_back(post(workers, [&, gate] {
                if (++here == 4)
                    all.set_value();
                gate.wait_for(patience);
            }));
        for (const auto &one : done)
            REQUIRE(is_done(one));
        REQUIRE(here == 4);
    }
}

TEST_CASE("no task is left behind, whichever threads post and sleep") {
    Workers workers(4);
    std::atomic<int> runs{0};
    std::atomic<bool> stuck{false};
    std::vector<std::thread> posters;
    for (int poster = 0; poster < 3; ++poster)
        posters.emplace_back([&] {
            for (int i = 0; i < 2000 && !stuck; ++i)
                if (!is_done(
                        post(workers, [&] { ++runs; }))) // nothing else may come to wake a thread
                    stuck = true;
        });
    for (std::thread &poster : posters)
        poster.join();
    CHECK_FALSE(stuck);
    CHECK(runs == 6000);
}

TEST_CASE("workers receive no signals of the application") {
    Workers workers(2);
    std::atomic<bool> blocked{false};
    REQUIRE(is_done(post(workers, [&] {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGALRM) == 1;
    })));
    CHECK(blocked);
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    CHECK(sigismember(&mine, SIGALRM) == 0);
}

TEST_CASE("workers receive the signals of their own faults") {
    sigset_t mask;
    sigfillset(&mask);
    Workers workers;
    REQUIRE(is_done(post(workers, [&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); })));
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
        INFO("signal " << fault);
        CHECK(sigismember(&mask, fault) == 0);
    }
}
