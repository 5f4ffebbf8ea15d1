// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One scenario, run again and again with a fault at every call in turn that it makes of a plugin. The
// runtime may answer with an error; it may not lose a byte, or wait for ever.
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <random>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 3000;

/// The bytes as they must be, and those that a failed write may have left as anything.
struct Oracle {
    std::vector<uint8_t> bytes = std::vector<uint8_t>(size, 0);
    std::vector<bool> known = std::vector<bool>(size, true);
};

/// What is valid at another memory than the one that the place uses.
RangeSet valid_elsewhere(const Storage &storage, PlaceIndex place, uint32_t places) {
    RangeSet elsewhere;
    for (PlaceIndex other = 0; other < places; ++other) {
        if (storage.memory_of(other) && storage.memory_of(other) != storage.memory_of(place)) {
            elsewhere.add(storage.valid(other));
        }
    }
    return elsewhere;
}

class Scenario {
public:
    Scenario(const Machine &machine, RouteMask routes)
        : machine_(machine), runtime_(machine.topology(), {.pool_limit = 0}),
          storage_(runtime_, {.size = size, .routes = routes}) {}

    /// The same steps each time, whatever fails.
    void run() {
        std::mt19937 random(20261120);
        host_write(storage_.buffer(), 0, oracle_.bytes);
        const uint32_t places = machine_.topology()->size();
        for (int step = 0; step < 24; ++step) {
            const auto place = static_cast<PlaceIndex>(random() % places);
            const uint64_t begin = random() % size;
            const uint64_t length = 1 + random() % (size - begin);
            const auto value = static_cast<uint8_t>(random());
            if (random() % 2 == 0) {
                write(place, {begin, begin + length}, value);
            } else {
                read(place, {begin, begin + length});
            }
        }
        REQUIRE(runtime_.finish(patience));
        check_all();
    }

private:
    void write(PlaceIndex place, const Range &range, uint8_t value) {
        bool written = false;
        RangeSet elsewhere;
        try {
            Acquisition use =
                storage_.buffer().acquire(place, Access::discard_write, range.begin, range.size());
            REQUIRE(storage_.finish(
                patience)); // what is under way is over: then it is clear what is where
            elsewhere = valid_elsewhere(storage_, place, machine_.topology()->size());
            if (place == host_place) {
                std::fill_n(reinterpret_cast<uint8_t *>(use.pointer()), range.size(), value);
                use.release();
                written = true;
            } else {
                const Event filled = machine_.fill(use, value);
                const pi_result result = wait(filled);
                use.release(filled.get());
                written = result == PI_SUCCESS;
            }
        } catch (const Error &) {
        }
        REQUIRE(storage_.finish(patience));
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            const auto at = static_cast<ptrdiff_t>(byte);
            if (written) {
                oracle_.bytes[byte] = value;
                oracle_.known[byte] = true;
            } else if (!elsewhere.contains(Range{byte, byte + 1})) {
                *(oracle_.known.begin() + at) = false;
            }
        }
    }

    void read(PlaceIndex place, const Range &range) {
        std::vector<uint8_t> seen(range.size());
        try {
            Acquisition use =
                storage_.buffer().acquire(place, Access::read, range.begin, range.size());
            if (place == host_place) {
                use.wait(patience);
                std::copy_n(reinterpret_cast<const uint8_t *>(use.pointer()), range.size(),
                            seen.begin());
                use.release();
            } else {
                const Event done = machine_.read(use, seen.data());
                const pi_result result = wait(done);
                use.release(done.get());
                if (result != PI_SUCCESS) {
                    return;
                }
            }
        } catch (const Error &error) {
            REQUIRE(error.code() != PI_ERROR_TIMEOUT);
            return;
        }
        compare(seen, range);
    }

    void compare(const std::vector<uint8_t> &seen, const Range &range) const {
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            if (oracle_.known[byte] && seen[byte - range.begin] != oracle_.bytes[byte]) {
                INFO("byte " << byte);
                REQUIRE(int{seen[byte - range.begin]} == int{oracle_.bytes[byte]});
            }
        }
    }

    /// Every byte can be read, at the latest the second time: one call in all fails.
    void check_all() {
        std::vector<uint8_t> seen;
        try {
            seen = host_read(storage_.buffer());
        } catch (const Error &) {
            seen = host_read(storage_.buffer());
        }
        REQUIRE(runtime_.finish(patience)); // before the loader goes
        compare(seen, {0, size});
    }

    const Machine &machine_;
    Runtime runtime_;
    Storage storage_;
    Oracle oracle_;
};

/// False if the fault hits what the test itself sets up.
bool run_with(const std::string &fault, RouteMask routes) {
    INFO(fault);
    std::unique_ptr<Machine> machine;
    try {
        machine = std::make_unique<Machine>(2, fault);
    } catch (const Error &) {
        return false;
    }
    Scenario(*machine, routes).run();
    return true;
}

} // namespace

TEST_CASE("a fault at any call loses no byte and holds nobody up", "[runtime]") {
    const RouteMask routes =
        GENERATE(values<RouteMask>({mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce),
                                    RouteMask{mask_of(RouteKind::host_bounce)}, all_routes}));
    const std::vector<std::string> functions{"piMemBufferCreate",
                                             "piMemImport",
                                             "piQueueCreate",
                                             "piEnqueueMemBufferRead",
                                             "piEnqueueMemBufferWrite",
                                             "piEnqueueMemBufferCopy",
                                             "piEnqueueMemBufferMap",
                                             "piEnqueueMemUnmap",
                                             "piEnqueueMemBufferFill",
                                             "piEventCreateHost",
                                             "piEventSetCallback",
                                             "piQueueFlush",
                                             "piMemFlush",
                                             "piMemInvalidate"};
    // Counted once, in a run whose fault is never reached.
    std::vector<uint64_t> calls;
    {
        const Machine machine(2, "piQueueFinish:1000000=fail(BACKEND)");
        Scenario(machine, routes).run();
        for (const std::string &function : functions) {
            calls.push_back(machine.calls_of(function));
        }
    }
    uint64_t runs = 0;
    for (size_t index = 0; index < functions.size(); ++index) {
        const bool command = functions[index].rfind("piEnqueue", 0) == 0;
        for (uint64_t call = 1; call <= calls[index]; ++call) {
            runs +=
                run_with(functions[index] + ":" + std::to_string(call) + "=fail(BACKEND)", routes);
            if (command) {
                runs += run_with(
                    functions[index] + ":" + std::to_string(call) + "=fail_event(BACKEND)", routes);
            }
        }
    }
    CHECK(runs > 50); // the law was put to the test
}
