// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs on random ranges and places, compared with one array of bytes. The test counts
// the moved bytes itself.
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <list>
#include <map>
#include <random>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 20000;

/// The bytes, and which memory has which of them valid.
class Oracle {
public:
    std::vector<uint8_t> bytes = std::vector<uint8_t>(size, 0);
    uint64_t required = 0;

    void acquired(uint32_t memory, const Range &range, bool fetches, bool writes) {
        std::vector<bool> &own = valid_.try_emplace(memory, size, false).first->second;
        for (uint64_t index = range.begin; index < range.end; ++index) {
            const bool elsewhere =
                std::any_of(valid_.begin(), valid_.end(),
                            [&](const auto &entry) { return entry.second[index]; });
            if (fetches && !own[index] && elsewhere) {
                ++required;
                own[index] = true;
            }
            if (writes) {
                for (auto &[other, valid] : valid_) {
                    valid[index] = other == memory;
                }
            }
        }
    }

private:
    std::map<uint32_t, std::vector<bool>> valid_;
};

class RandomProgram {
public:
    RandomProgram(const Machine &machine, const Runtime &runtime, RouteMask routes, unsigned seed,
                  bool stays)
        : machine_(machine), storage_(runtime, {.size = size, .routes = routes}), random_(seed),
          stays_(stays) {
        // Overlapping tensors: buffers are ranges of one storage.
        buffers_.push_back(storage_.buffer());
        buffers_.push_back(storage_.buffer(0, size / 2));
        buffers_.push_back(storage_.buffer(size / 4, size / 2));
        host_write(buffers_[0], 0, oracle_.bytes);
        oracle_.acquired(*storage_.memory_of(host_place), {0, size}, false, true);
    }

    void step() {
        const Buffer &buffer = buffers_[random_() % buffers_.size()];
        const uint64_t offset = random_() % buffer.size();
        const uint64_t most = buffer.size() - offset;
        const uint64_t length =
            1 + random_() % (random_() % 4 == 0 ? most : std::min<uint64_t>(most, 500));
        const auto place = static_cast<PlaceIndex>(random_() % machine_.topology()->size());
        constexpr Access accesses[]{Access::read, Access::write, Access::read_write,
                                    Access::discard_write};
        const Access access = accesses[random_() % 4];
        const bool writes = access != Access::read;

        Acquisition use = buffer.acquire(place, access, offset, length);
        const Range range = use.range();
        oracle_.acquired(*storage_.memory_of(place), range, access != Access::discard_write,
                         writes);
        if (place == host_place) {
            at_host(use, access);
        } else {
            at_device(use, access);
        }
    }

    void finish() {
        REQUIRE(storage_.finish(patience));
        for (const Read &read : reads_) {
            REQUIRE(wait(read.event) == PI_SUCCESS);
            REQUIRE(read.seen == read.expected);
        }
        const Counters counters = storage_.counters();
        CHECK(counters.bytes_delivered == counters.bytes_required);
        // The oracle knows which places requested bytes, but not where bytes stayed on their way.
        CHECK(counters.bytes_required <= oracle_.required);
        CHECK((stays_ || counters.bytes_required == oracle_.required));
        CHECK(counters.failed_attempts == 0);
        uint64_t sum = 0;
        for (const Buffer &buffer : buffers_) {
            sum += buffer.counters().bytes_delivered;
        }
        CHECK(sum == counters.bytes_delivered);
        CHECK(host_read(buffers_[0]) == oracle_.bytes);
    }

private:
    struct Read {
        Event event;
        std::vector<uint8_t> seen;
        std::vector<uint8_t> expected;
    };

    std::vector<uint8_t> slice(const Range &range) const {
        return {oracle_.bytes.begin() + static_cast<ptrdiff_t>(range.begin),
                oracle_.bytes.begin() + static_cast<ptrdiff_t>(range.end)};
    }

    /// The bytes that the use writes: a part of them if the access is `write`.
    Range written(const Range &range, Access access) {
        if (access != Access::write) {
            return range;
        }
        const uint64_t skip = random_() % range.size();
        return {range.begin + skip, range.end};
    }

    void at_host(Acquisition &use, Access access) {
        use.wait(patience);
        auto *const bytes = reinterpret_cast<uint8_t *>(use.pointer());
        const Range range = use.range();
        if (access != Access::discard_write) {
            REQUIRE(std::equal(bytes, bytes + range.size(),
                               oracle_.bytes.begin() + static_cast<ptrdiff_t>(range.begin)));
        }
        if (access != Access::read) {
            const Range part = written(range, access);
            const auto fresh = pattern(part.size(), random_());
            std::copy(fresh.begin(), fresh.end(), bytes + (part.begin - range.begin));
            std::copy(fresh.begin(), fresh.end(),
                      oracle_.bytes.begin() + static_cast<ptrdiff_t>(part.begin));
        }
        use.release();
    }

    void at_device(Acquisition &use, Access access) {
        const Range range = use.range();
        Event event;
        if (access == Access::read) {
            Read &read = reads_.emplace_back();
            read.seen.resize(range.size());
            read.expected = slice(range);
            read.event = machine_.read(use, read.seen.data());
            event = read.event;
        } else if (random_() % 2 == 0) {
            const auto value = static_cast<uint8_t>(random_());
            event = machine_.fill(use, value);
            std::fill(oracle_.bytes.begin() + static_cast<ptrdiff_t>(range.begin),
                      oracle_.bytes.begin() + static_cast<ptrdiff_t>(range.end), value);
        } else {
            const auto &fresh = written_.emplace_back(pattern(range.size(), random_()));
            event = machine_.write(use, fresh.data());
            std::copy(fresh.begin(), fresh.end(),
                      oracle_.bytes.begin() + static_cast<ptrdiff_t>(range.begin));
        }
        use.release(event.get());
        if (random_() % 16 == 0) {
            CHECK(wait(event) == PI_SUCCESS);
        }
    }

    const Machine &machine_;
    Storage storage_;
    std::mt19937 random_;
    bool stays_; // bounced bytes may stay at the host
    std::vector<Buffer> buffers_;
    Oracle oracle_;
    std::list<Read> reads_;                   // addresses stay
    std::list<std::vector<uint8_t>> written_; // until their commands are complete
};

} // namespace

TEST_CASE("random programs over all places read what one array of bytes holds, and move only what "
          "is stale",
          "[runtime]") {
    const Machine machine;
    const unsigned seed = Catch::rngSeed();
    INFO("seed " << seed);
    const RouteMask routes = GENERATE(
        values<RouteMask>({all_routes, mask_of(RouteKind::host_bounce),
                           mask_of(RouteKind::host_bounce) | mask_of(RouteKind::migrate),
                           mask_of(RouteKind::host_bounce) | mask_of(RouteKind::direct_use),
                           mask_of(RouteKind::host_bounce) | mask_of(RouteKind::import)}));
    INFO("routes " << routes);
    const bool stays = GENERATE(false, true);
    INFO("bounces " << (stays ? "stay at the host" : "are staged"));
    RuntimeOptions options;
    if (!stays) {
        options.bounce_limit = 0;
    }
    const Runtime runtime(machine.topology(), options);
    for (unsigned program = 0; program < 2; ++program) {
        RandomProgram run(machine, runtime, routes, seed + program, stays);
        for (int step = 0; step < 300; ++step) {
            run.step();
        }
        run.finish();
    }
    REQUIRE(runtime.finish(patience));
    CHECK(runtime.counters().bytes_delivered == runtime.counters().bytes_required);
}
