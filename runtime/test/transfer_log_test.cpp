// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/transfer_log.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

using namespace pi::runtime;

namespace {

const auto texts =
    std::make_shared<const UpToDate::Texts>(UpToDate::Texts{"picture", "memory of its own"});

UpToDate up_to_date(uint64_t acquisition, uint64_t time) {
    return {acquisition, time, 1, 2, {16, 64}, RouteKind::migrate, false, 48};
}

TransferRecord copy_of(uint64_t acquisition, const Range &range, uint64_t end) {
    TransferRecord record;
    record.acquisition = acquisition;
    record.kind = RouteKind::host_bounce;
    record.ranges = range;
    record.bytes = range.size();
    record.begin = end - 100;
    record.end = end;
    return record;
}

std::deque<uint64_t> acquisitions(const TransferLog &log) {
    std::deque<uint64_t> found;
    for (const TransferRecord &record : log.read()) {
        found.push_back(record.acquisition);
    }
    return found;
}

} // namespace

TEST_CASE("the log keeps the newest records of both kinds, the oldest first", "[runtime]") {
    const uint64_t capacity = GENERATE(0, 1, 2, 7);
    TransferLog log(capacity);
    std::deque<uint64_t> expected;
    for (uint64_t acquisition = 1; acquisition <= 30; ++acquisition) {
        if (acquisition % 3 == 0) {
            log.add(copy_of(acquisition, {0, 8}, acquisition));
        } else {
            log.add(up_to_date(acquisition, acquisition), texts);
        }
        expected.push_back(acquisition);
        if (expected.size() > capacity) {
            expected.pop_front();
        }
        CHECK(acquisitions(log) == expected);
    }
    log.clear();
    CHECK(log.read().empty());
    log.add(up_to_date(31, 31), texts);
    CHECK(log.read().size() == std::min<uint64_t>(capacity, 1));
}

TEST_CASE("the record of an acquire that needed no copy has its places, range and reason",
          "[runtime]") {
    TransferLog log(4);
    UpToDate entry = up_to_date(5, 70);
    log.add(entry, texts);
    entry.overwritten = true;
    log.add(entry, texts);
    const std::vector<TransferRecord> records = log.read();
    REQUIRE(records.size() == 2);
    for (const TransferRecord &record : records) {
        CHECK(record.acquisition == 5);
        CHECK(record.storage == "picture");
        CHECK(record.source == 1);
        CHECK(record.destination == 2);
        CHECK(record.ranges == RangeSet({16, 64}));
        CHECK(record.kind == RouteKind::migrate);
        CHECK(record.bytes == 0);
        CHECK(record.result == PI_SUCCESS);
        CHECK(record.begin == 0);
        CHECK(record.end == 0);
        CHECK(record.bytes_copy_in_copy_out == 48);
    }
    CHECK(records[0].reason == "nothing stale; memory of its own");
    CHECK(records[1].reason == "overwritten: nothing to fetch; memory of its own");
}

TEST_CASE("the log is in the order of time, whichever threads wrote it", "[runtime]") {
    constexpr uint64_t threads = 8;
    constexpr uint64_t each = 1000;
    TransferLog log(threads * each);
    std::vector<std::thread> all;
    for (uint64_t thread = 0; thread < threads; ++thread) {
        all.emplace_back([&log, thread] {
            for (uint64_t time = thread; time < threads * each; time += threads) {
                if (time % 3 == 0) {
                    log.add(copy_of(time, {0, 8}, time));
                } else {
                    log.add(up_to_date(time, time), texts);
                }
            }
        });
    }
    bool always_in_order = true;
    std::thread reader([&] {
        for (int round = 0; round < 20; ++round) {
            const std::deque<uint64_t> found = acquisitions(log); // numbered by their times
            always_in_order &= std::is_sorted(found.begin(), found.end());
        }
    });
    for (std::thread &thread : all) {
        thread.join();
    }
    reader.join();
    CHECK(always_in_order);
    const std::deque<uint64_t> found = acquisitions(log);
    REQUIRE(found.size() == threads * each);
    CHECK(std::is_sorted(found.begin(), found.end()));
}

TEST_CASE("pieces of one copy share a line, even with other records in between", "[runtime]") {
    TransferLog log(5);
    for (uint64_t others = GENERATE(0, 3, 4); others > 0; --others) {
        log.add(copy_of(1, {0, 8}, 150)); // so the ring's end is at every later position
    }
    log.add(copy_of(2, {0, 8}, 200), true);
    log.add(up_to_date(3, 201), texts);
    log.add(copy_of(4, {0, 8}, 202), true);
    log.add(copy_of(2, {8, 24}, 224), true);
    TransferRecord failed = copy_of(2, {24, 32}, 300);
    failed.result = PI_ERROR_BACKEND;
    log.add(failed, true);
    const std::vector<TransferRecord> records = log.read();
    const auto line = std::find_if(records.begin(), records.end(), [](const TransferRecord &each) {
        return each.acquisition == 2;
    });
    REQUIRE(line != records.end());
    CHECK(line->ranges == RangeSet({0, 24}));
    CHECK(line->bytes == 24);
    CHECK(line->pieces == 2);
    CHECK(line->begin == 100);
    CHECK(line->end == 224);
    CHECK(records.back().result == PI_ERROR_BACKEND);
    CHECK(records.back().ranges == RangeSet({24, 32}));
}
