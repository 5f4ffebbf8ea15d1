// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/completion.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace pi::runtime;

namespace {

std::shared_ptr<Completion> make(const std::shared_ptr<Continuations> &continuations) {
    return std::make_shared<Completion>(continuations);
}

} // namespace

TEST_CASE("a completion calls continuations that were added before and after its end",
          "[runtime]") {
    auto continuations = std::make_shared<Continuations>();
    auto completion = make(continuations);
    int calls = 0;
    const auto count = [&](pi_result result, const std::string &text) {
        CHECK(result == PI_ERROR_DEVICE_LOST);
        CHECK(text == "gone");
        ++calls;
    };
    completion->then(count);
    CHECK(calls == 0);
    CHECK_FALSE(completion->wait_until(deadline_after(std::chrono::milliseconds(1))));
    completion->complete(PI_ERROR_DEVICE_LOST, "gone");
    completion->complete(PI_SUCCESS, "");
    completion->then(count);
    CHECK(calls == 2);
    CHECK(completion->is_over());
    CHECK(completion->wait_until(deadline_after(std::chrono::seconds(0))));
}

TEST_CASE("a completion calls all its continuations even if one throws", "[runtime]") {
    auto completion = make(std::make_shared<Continuations>());
    int calls = 0;
    completion->then([&](pi_result, const std::string &) { ++calls; });
    completion->then(
        [](pi_result, const std::string &) { throw std::runtime_error("the second"); });
    completion->then([&](pi_result, const std::string &) { ++calls; });
    completion->complete(PI_SUCCESS, {}); // the caller gets no exception
    CHECK(calls == 2);
}

TEST_CASE("a million completions in a chain need no deep stack", "[runtime]") {
    auto continuations = std::make_shared<Continuations>();
    constexpr int length = 1000000;
    int reached = 0;
    std::function<void(pi_result, const std::string &)> next;
    next = [&](pi_result, const std::string &) {
        if (++reached < length) {
            auto completion = make(continuations);
            completion->then(next);
            completion->complete(PI_SUCCESS, {});
        }
    };
    auto first = make(continuations);
    first->then(next);
    first->complete(PI_SUCCESS, {});
    CHECK(reached == length);
}

TEST_CASE("when_all waits for all, and reports the first failure of a data dependency",
          "[runtime]") {
    auto continuations = std::make_shared<Continuations>();
    auto order = make(continuations);
    auto data = make(continuations);
    int calls = 0;
    pi_result seen = PI_SUCCESS;
    std::string why;
    when_all({{order, false}, {data, true}}, continuations,
             [&](pi_result result, const std::string &text) {
                 ++calls;
                 seen = result;
                 why = text;
             });
    order->complete(PI_ERROR_DEVICE_LOST, "a reader failed");
    CHECK(calls == 0);
    SECTION("a failure of data") {
        data->complete(PI_ERROR_OUT_OF_RESOURCES, "a copy failed");
        CHECK(calls == 1);
        CHECK(seen == PI_ERROR_DEPENDENCY_FAILED);
        CHECK(why == "a copy failed");
    }
    SECTION("only a failure of order") {
        data->complete(PI_SUCCESS, {});
        CHECK(calls == 1);
        CHECK(seen == PI_SUCCESS);
    }
}

TEST_CASE("completions from many threads each arrive", "[runtime]") {
    auto continuations = std::make_shared<Continuations>();
    constexpr int each = 2000;
    std::vector<Dependency> all;
    for (int index = 0; index < 4 * each; ++index) {
        all.push_back({make(continuations), true});
    }
    std::atomic<int> calls{0};
    when_all(all, continuations, [&](pi_result, const std::string &) { ++calls; });
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int index = 0; index < each; ++index) {
                all[thread * each + index].completion->complete(PI_SUCCESS, {});
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    const auto deadline = deadline_after(std::chrono::seconds(10));
    while (calls == 0 && Completion::Clock::now() < deadline) {
        std::this_thread::yield();
    }
    CHECK(calls == 1);
}
