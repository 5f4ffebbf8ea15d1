// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that use three times the memory of a device. The simulated machine's links count the
// moved bytes; the test compares them with its own simulation of a range-LRU, which is independent
// of the runtime.
//
// The unit of eviction is a storage's whole replica, since that is one allocation: freeing half of
// it frees nothing. The unit of transfer is a range: only stale bytes are fetched, and only bytes
// that are valid nowhere else are written back.
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

using namespace runtime_test;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) // slow
const std::vector<uint32_t> seeds{7};
#else
const std::vector<uint32_t> seeds{1, 7};
#endif
constexpr PlaceIndex place = 1;
constexpr uint64_t page = 256; // all ranges begin and end at a multiple

std::string small_device(uint64_t capacity) {
    return R"({"pi_machine": 1, "name": "a small device", "devices": [{"name": "gpu", "type": "gpu",
        "scopes": [{"name": "global", "flags": ["poolable"], "capacity": )" +
           std::to_string(capacity) + R"(}]}], "links": [
        {"from": "host", "to": "gpu", "bandwidth": "10 GB/s", "latency": "1 us"},
        {"from": "gpu", "to": "host", "bandwidth": "10 GB/s", "latency": "1 us"}]})";
}

struct Step {
    size_t storage;
    Range range;
    Access access;
};
struct Trace {
    const char *name;
    std::vector<uint64_t> sizes;
    std::vector<Step> steps;
    uint64_t capacity() const {
        return std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}) / 3;
    }
};

/// Evicts the least recently used replica; with `clean_first`, prefers one without dirty bytes.
class RangeLru {
public:
    RangeLru(const Trace &trace, bool clean_first)
        : free_(trace.capacity()), clean_first_(clean_first) {
        for (const uint64_t size : trace.sizes) {
            storages_.push_back({size, std::vector<uint8_t>(size / page, at_host), 0, false});
        }
        for (const Step &step : trace.steps) {
            use(step);
        }
        for (Replica &storage : storages_) {
            write_back(storage); // the host reads everything at the end
        }
    }
    uint64_t moved() const { return moved_; }

private:
    static constexpr uint8_t at_host = 1, at_device = 2;
    struct Replica {
        uint64_t size;
        std::vector<uint8_t> valid; // by page
        uint64_t last_use;
        bool resident;
        bool dirty() const { return std::count(valid.begin(), valid.end(), at_device) != 0; }
    };

    void write_back(Replica &storage) {
        for (uint8_t &valid : storage.valid) {
            moved_ += valid == at_device ? page : 0;
            valid |= at_host;
        }
    }
    void evict_one() {
        Replica *victim = nullptr;
        const auto order = [&](const Replica &replica) {
            return std::pair(clean_first_ && replica.dirty(), replica.last_use);
        };
        for (Replica &each : storages_) {
            if (each.resident && (victim == nullptr || order(each) < order(*victim))) {
                victim = &each;
            }
        }
        REQUIRE(victim != nullptr);
        write_back(*victim);
        std::fill(victim->valid.begin(), victim->valid.end(), at_host);
        victim->resident = false;
        free_ += victim->size;
    }
    void use(const Step &step) {
        Replica &storage = storages_[step.storage];
        if (!storage.resident) {
            while (free_ < storage.size) {
                evict_one();
            }
            storage.resident = true;
            free_ -= storage.size;
        }
        storage.last_use = ++clock_;
        for (uint64_t at = step.range.begin / page; at < step.range.end / page; ++at) {
            uint8_t &valid = storage.valid[at];
            moved_ += step.access != Access::discard_write && !(valid & at_device) ? page : 0;
            valid = step.access == Access::read ? valid | at_device : at_device;
        }
    }

    std::vector<Replica> storages_;
    uint64_t free_;
    const bool clean_first_;
    uint64_t clock_ = 0, moved_ = 0;
};

/// Runs a trace on the machine; checks every byte that the trace reads and all bytes at the end.
class Run {
public:
    explicit Run(const Trace &trace)
        : file_(small_device(trace.capacity())), machine_(file_.path()),
          runtime_(machine_.topology()) {
        for (size_t index = 0; index < trace.sizes.size(); ++index) {
            storages_.emplace_back(runtime_, StorageDescriptor{.size = trace.sizes[index]});
            contents_.push_back(pattern(trace.sizes[index], static_cast<uint32_t>(index)));
            host_write(storages_.back().buffer(), 0, contents_.back());
        }
    }

    /// `together`: the number of uses in flight before it waits for the oldest.
    void steps(const Trace &trace, size_t together) {
        struct Under {
            Event event;
            std::vector<uint8_t> seen, expected;
        };
        std::deque<Under> under_way;
        uint8_t value = 0;
        for (const Step &step : trace.steps) {
            const Buffer buffer = storages_[step.storage].buffer();
            Acquisition use =
                buffer.acquire(place, step.access, step.range.begin, step.range.size());
            std::vector<uint8_t> &content = contents_[step.storage];
            const auto begin = content.begin() + static_cast<ptrdiff_t>(step.range.begin);
            Under &now = under_way.emplace_back();
            if (step.access == Access::read) {
                now.expected.assign(begin, begin + static_cast<ptrdiff_t>(step.range.size()));
                now.seen.resize(step.range.size());
                now.event = machine_.read(use, now.seen.data());
                read_ += step.range.size();
            } else {
                now.event = machine_.fill(use, ++value);
                std::fill_n(begin, step.range.size(), value);
            }
            use.release(now.event.get());
            while (under_way.size() >= std::max<size_t>(1, together)) {
                REQUIRE(wait(under_way.front().event) == PI_SUCCESS);
                REQUIRE(under_way.front().seen == under_way.front().expected);
                if (together <= 1) {
                    REQUIRE(runtime_.finish(patience));
                }
                under_way.pop_front();
            }
        }
        for (Under &each : under_way) {
            REQUIRE(wait(each.event) == PI_SUCCESS);
            REQUIRE(each.seen == each.expected);
        }
        for (size_t index = 0; index < storages_.size(); ++index) {
            REQUIRE(host_read(storages_[index].buffer()) == contents_[index]);
        }
        REQUIRE(runtime_.finish(patience));
    }
    /// The runtime's transfers, without the program's own reads.
    uint64_t moved() const { return machine_.moved() - read_; }
    const Runtime &runtime() const { return runtime_; }

private:
    TextFile file_;
    Simulated machine_;
    Runtime runtime_;
    std::vector<Storage> storages_;
    std::vector<std::vector<uint8_t>> contents_;
    uint64_t read_ = 0;
};

/// Traces with the same order of storages: whole uses or parts, and equal or different sizes.
std::vector<Trace> traces(uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint64_t limit) { return random() % limit; };
    constexpr size_t count = 24;
    constexpr size_t length = 2000;
    std::vector<uint64_t> equal(count, 16 * page);
    std::vector<uint64_t> different;
    for (size_t index = 0; index < count; ++index) {
        different.push_back((4 + below(25)) * page);
    }
    const auto often = [&](size_t hot) { return below(5) != 0 ? below(hot) : below(count); };
    const std::vector<std::pair<const char *, std::function<size_t(size_t)>>> orders{
        {"in a circle", [](size_t step) { return step % count; }},
        {"at random", [&](size_t) { return below(count); }},
        {"a hot set", [&](size_t) { return often(4); }},
        {"phases", [&](size_t step) { return (step / 100 * 5 + below(6)) % count; }},
    };
    const auto part = [&](uint64_t size) {
        const uint64_t begin = below(size / page);
        return Range{begin * page, (begin + 1 + below(size / page - begin)) * page};
    };
    constexpr std::array mixed{Access::read, Access::read, Access::write, Access::read_write,
                               Access::discard_write};
    std::vector<Trace> result;
    for (const auto &sizes : {equal, different}) {
        for (const auto &[name, order] : orders) {
            Trace reads{name, sizes, {}};
            Trace all{name, sizes, {}};
            Trace parts{name, sizes, {}};
            for (size_t step = 0; step < length; ++step) {
                const size_t storage = order(step);
                const Range whole{0, sizes[storage]};
                const Access access = mixed[below(mixed.size())];
                reads.steps.push_back({storage, whole, Access::read});
                all.steps.push_back({storage, whole, access});
                parts.steps.push_back({storage, part(sizes[storage]), access});
            }
            result.insert(result.end(), {reads, all, parts});
        }
        // Some storages are read repeatedly, the others written rarely: dirty bytes that nobody
        // needs soon.
        Trace cold_writes{"hot reads, cold writes", sizes, {}};
        for (size_t step = 0; step < length; ++step) {
            const bool hot = below(5) != 0;
            const size_t storage = hot ? below(6) : 6 + below(count - 6);
            cold_writes.steps.push_back(
                {storage, {0, sizes[storage]}, hot ? Access::read : Access::write});
        }
        result.push_back(cold_writes);
    }
    return result;
}

} // namespace

// Which simulation is better depends on the trace. Clean-first alone moves 1.9 times the necessary
// bytes where unused dirty bytes remain; the runtime weighs both and moves less than clean-first in
// total.
TEST_CASE("a working set of three times the memory moves at most 1.1 times what a range-LRU moves",
          "[runtime][evict]") {
    const uint32_t seed = GENERATE(from_range(seeds));
    double sum = 0;
    double sum_clean_first = 0;
    for (const Trace &trace : traces(seed)) {
        INFO("seed " << seed << ", " << trace.name << ", first step of "
                     << trace.steps[0].range.size() << " bytes");
        Run run(trace);
        run.steps(trace, 1);
        const auto moved = static_cast<double>(run.moved());
        const auto clean_first = static_cast<double>(RangeLru(trace, true).moved());
        CHECK(moved <= 1.1 * static_cast<double>(RangeLru(trace, false).moved()));
        // Not 1.1: with few hot storages written in parts, clean-first is better, since the bytes
        // that it drops are never needed. The runtime cannot know this and is between both.
        CHECK(moved <= 1.35 * clean_first);
        sum += moved;
        sum_clean_first += clean_first;
        const Counters counters = run.runtime().counters();
        CHECK(counters.bytes_delivered == run.moved());
        CHECK(counters.bytes_delivered == counters.bytes_required);
    }
    INFO("seed " << seed);
    CHECK(sum <= sum_clean_first);
}

TEST_CASE("a working set of three times the memory is served while earlier uses are under way",
          "[runtime][evict]") {
    const uint32_t seed = GENERATE(from_range(seeds));
    for (const Trace &trace : traces(seed)) {
        INFO("seed " << seed << ", " << trace.name);
        Run run(trace);
        run.steps(trace, 40); // more than fit: the runtime waits for uses in flight to free memory
        CHECK(run.runtime().counters().failed_attempts == 0);
    }
}

TEST_CASE("a storage larger than a device's memory evicts nothing", "[runtime][evict]") {
    const TextFile file(small_device(64 * page));
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Storage resident(runtime, {.size = 16 * page});
    host_write(resident.buffer(), 0, pattern(16 * page, 1));
    resident.buffer().acquire(place, Access::read).wait(patience);
    REQUIRE(runtime.finish(patience));
    const Storage large(runtime, {.size = 65 * page});
    CHECK(code_of([&] { large.buffer().acquire(place, Access::discard_write); }) ==
          PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(resident.valid(place) == RangeSet({0, 16 * page}));
    CHECK(runtime.counters().evictions == 0);
}

TEST_CASE("no more is evicted than is needed", "[runtime][evict]") {
    const TextFile file(small_device(64 * page));
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    std::vector<Storage> small;
    for (int index = 0; index < 3; ++index) {
        small.emplace_back(runtime, StorageDescriptor{.size = 16 * page});
        small.back().buffer().acquire(place, Access::discard_write).release();
    }
    // 16 pages are free, and 32 are needed: one replica of 16 is evicted.
    const Storage large(runtime, {.size = 32 * page});
    large.buffer().acquire(place, Access::discard_write).release();
    CHECK(runtime.counters().evictions == 1);
    CHECK_FALSE(small[0].memory_of(place));
}
