// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/staging.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <future>

using namespace pi::runtime;

namespace {

constexpr uint64_t page = 4096, limit = 4 * page;

/// The host's staging memory, and how much of it is in use.
class Staging {
public:
    /// Requests memory of these numbers of pages; keeps it when it is granted.
    void ask(const std::vector<uint64_t> &pages) {
        std::vector<StagingPool::Need> needs;
        for (const uint64_t count : pages) {
            needs.push_back({host_place, count * page, host_place, host_place});
        }
        const size_t number = granted_.size();
        granted_.emplace_back();
        sizes_.push_back(pages);
        pool_->take(std::move(needs), [this, number](std::vector<StagingPool::Lease> leases,
                                                     pi_result result, const std::string &) {
            CHECK(result == PI_SUCCESS);
            granted_[number] = std::move(leases);
            order_.push_back(number);
        });
    }
    void give_back(size_t number) {
        // Moved out first: freed memory may be granted at once.
        const std::vector<StagingPool::Lease> leases = std::move(granted_[number]);
        granted_[number].clear();
    }
    const std::shared_ptr<StagingPool> &pool() const { return pool_; }
    bool has(size_t number) const { return !granted_[number].empty(); }
    const std::vector<size_t> &order() const { return order_; }

    uint64_t pages_in_use() const {
        uint64_t sum = 0;
        for (size_t number = 0; number < granted_.size(); ++number) {
            for (size_t index = 0; index < granted_[number].size(); ++index) {
                CHECK(granted_[number][index].host() != nullptr);
                sum += sizes_[number][index];
            }
        }
        return sum;
    }

private:
    const std::shared_ptr<const Topology> topology_ = Topology::from_places({});
    const std::shared_ptr<StagingPool> pool_ =
        std::make_shared<StagingPool>(topology_, std::make_shared<Continuations>(),
                                      std::make_shared<MemoryPool>(topology_, uint64_t{0}), limit);
    std::vector<std::vector<StagingPool::Lease>> granted_;
    std::vector<std::vector<uint64_t>> sizes_;
    std::vector<size_t> order_;
};

} // namespace

TEST_CASE("staging memory in use stays within its limit, and requests are served in order",
          "[runtime]") {
    Staging staging;
    staging.ask({1, 2});
    CHECK(staging.has(0));
    staging.ask({1, 1}); // too much in addition to the first
    staging.ask({1});    // would fit, but came later
    CHECK_FALSE(staging.has(1));
    CHECK_FALSE(staging.has(2));
    CHECK(staging.pages_in_use() == 3);
    staging.give_back(0);
    CHECK(staging.has(1));
    CHECK(staging.has(2));
    CHECK(staging.pages_in_use() == 3);
    CHECK(staging.order() == std::vector<size_t>{0, 1, 2});
}

TEST_CASE("a request above the limit is granted while no other memory is in use", "[runtime]") {
    Staging staging;
    staging.ask({1});
    staging.ask({8, 8});
    staging.ask({1});
    CHECK_FALSE(staging.has(1));
    CHECK_FALSE(staging.has(2));
    staging.give_back(0);
    CHECK(staging.has(1));
    CHECK(staging.pages_in_use() == 16);
    CHECK_FALSE(staging.has(2));
    staging.give_back(1);
    CHECK(staging.has(2));
}

TEST_CASE("many requests at once are all served, within the limit", "[runtime]") {
    Staging staging;
    constexpr size_t count = 100;
    for (size_t number = 0; number < count; ++number) {
        staging.ask(std::vector<uint64_t>(1 + number % 3, 1 + number % 2));
        CHECK(staging.pages_in_use() * page <= std::max(limit, 6 * page));
    }
    for (size_t next = 0; next < count; ++next) {
        REQUIRE(staging.order().size() > next);
        staging.give_back(staging.order()[next]);
        CHECK(staging.pages_in_use() * page <= std::max(limit, 6 * page));
    }
}

TEST_CASE("during a pause no staging memory is granted, and afterwards in order", "[runtime]") {
    Staging staging;
    staging.ask({1});
    staging.ask({1});
    std::optional<StagingPool::Pause> pause(std::in_place, staging.pool(), host_place);
    staging.ask({1}); // would fit
    CHECK_FALSE(staging.has(2));
    std::future<bool> waiting =
        std::async(std::launch::async, [&] { return pause->await_release(); });
    staging.give_back(0);
    staging.give_back(1);
    waiting.get();
    CHECK_FALSE(pause->await_release());
    CHECK_FALSE(staging.has(2));
    pause.reset();
    CHECK(staging.has(2));
}
