// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program on a storage whose plugin calls may fail. The runtime may report an error; it must not
// lose a byte or hang.
#pragma once

#include "byte_model.hpp"
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace runtime_test {

inline constexpr uint64_t scenario_size = 3000;
/// Smaller than the smallest default, so that a transfer over several links has several pieces in
/// flight.
inline constexpr uint64_t scenario_piece = 512;

/// The routes that the scenario may use, and what follows from the plugins' connections.
struct Ways {
    RouteMask routes;
    StyleMask styles;
    bool in_pieces;                  ///< between devices, whatever they are
    bool stays_at_host;              ///< bytes that go over the host between devices stay there
    std::vector<uint32_t> may_share; ///< by place, as pi_test::ByteModel expects it
};

template <class Value>
Value device_info(pi_device device, pi_device_info name) {
    Value value{};
    return piDeviceGetInfo(device, name, sizeof value, &value, nullptr) == PI_SUCCESS ? value
                                                                                      : Value{};
}

/// Whether a place may use another place's memory. For the host's memory: if the place shares the
/// physical memory and accepts host pointers.
inline bool may_use(const Topology &topology, PlaceIndex place, PlaceIndex owner,
                    RouteMask routes) {
    if (place == host_place) {
        return false;
    }
    const pi_device device = topology.device(place);
    if (owner == host_place) {
        return (routes & mask_of(RouteKind::import)) != 0 &&
               device_info<uint32_t>(device, PI_DEVICE_INFO_INTEGRATED) != 0 &&
               device_info<uint32_t>(device, PI_DEVICE_INFO_HOST_POINTER_IMPORT) != 0;
    }
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    return (routes & mask_of(RouteKind::direct_use)) != 0 &&
           piGetMemoryConnection(topology.device(owner), topology.context(owner), device,
                                 topology.context(place), &connection) == PI_SUCCESS &&
           connection == PI_MEMORY_CONNECTION_UNIFIED;
}

/// For each place, the places with which it may share memory, directly or over others.
inline std::vector<uint32_t> find_may_share(const Topology &topology, RouteMask routes) {
    std::vector<uint32_t> groups(topology.size());
    for (PlaceIndex place = 0; place < topology.size(); ++place) {
        groups[place] = 1U << place;
    }
    for (PlaceIndex place = 0; place < topology.size(); ++place) {
        for (PlaceIndex owner = 0; owner < topology.size(); ++owner) {
            if (place != owner && may_use(topology, place, owner, routes)) {
                const uint32_t joined = groups[place] | groups[owner];
                for (PlaceIndex one = 0; one < topology.size(); ++one) {
                    groups[one] = (joined >> one & 1) != 0 ? joined : groups[one];
                }
            }
        }
    }
    return groups;
}

/// Copies between devices go over the host where possible: in pieces, through its staging memory.
inline RuntimeOptions scenario_options(const Topology &topology, bool stays_at_host) {
    CostModel model;
    model.callback_latency = 0;
    model.smallest_chunk = model.largest_chunk = scenario_piece;
    RuntimeOptions options;
    options.verify_connections = false; // no layer sees it, and each run would repeat it
    options.costs = CostTable::estimate(topology.description(), model);
    if (!stays_at_host) {
        options.bounce_limit = 0;
    }
    options.pool_limit = 0;
    return options;
}

template <class AnyMachine>
class Scenario {
public:
    /// `failing_calls`: the number of its calls that may fail.
    Scenario(const AnyMachine &machine, const Ways &ways, int failing_calls = 1)
        : machine_(machine), failing_calls_(failing_calls),
          runtime_(machine.topology(), scenario_options(*machine.topology(), ways.stays_at_host)),
          storage_(runtime_, {.size = scenario_size, .routes = ways.routes, .styles = ways.styles}),
          model_(scenario_size, ways.may_share) {}

    /// Executes the same steps each time, whatever fails.
    void run() {
        std::mt19937 random(20261120);
        write(host_place, {0, scenario_size}, 0);
        const uint32_t places = machine_.topology()->size();
        write(places - 1, {1, scenario_size}, 1); // then all bytes move between devices
        read(1, {0, scenario_size});
        exchange();
        for (int step = 0; step < 24; ++step) {
            const auto place = static_cast<PlaceIndex>(random() % places);
            const uint64_t begin = random() % scenario_size;
            const uint64_t length = 1 + random() % (scenario_size - begin);
            const auto value = static_cast<uint8_t>(random());
            const Range range{begin, begin + length};
            switch (random() % 5) {
            case 0:
            case 1:
                write(place, range, value);
                break;
            case 2:
            case 3:
                read(place, range);
                break;
            default:
                broadcast(range);
                read(place, range);
            }
        }
        REQUIRE(runtime_.finish(patience));
        check_all();
    }

    std::vector<TransferRecord> log() const { return runtime_.log(); }
    uint64_t known() const { return model_.known(); }

private:
    /// Moves the same bytes to the next device and back, so that what an earlier transfer left
    /// there is in the way.
    void exchange() {
        const uint32_t places = machine_.topology()->size();
        for (PlaceIndex place = 1; place < std::min(places, 3U) && places > 2; ++place) {
            const PlaceIndex next = place % (places - 1) + 1;
            const auto value = static_cast<uint8_t>(place);
            write(place, {0, scenario_size}, value);
            read(next, {0, scenario_size});
            write(next, {0, scenario_size}, static_cast<uint8_t>(value + 100));
            read(place, {0, scenario_size});
        }
    }

    void write(PlaceIndex place, const Range &range, uint8_t value) {
        bool may_have_run = false;
        pi_result result = PI_SUCCESS;
        try {
            Acquisition use =
                storage_.buffer().acquire(place, Access::discard_write, range.begin, range.size());
            if (place == host_place) {
                std::byte *const bytes = use.pointer();
                may_have_run = true;
                std::fill_n(reinterpret_cast<uint8_t *>(bytes), range.size(), value);
                use.release();
            } else {
                const Event filled = machine_.fill(use, value);
                result = wait(filled);
                may_have_run = result != PI_ERROR_DEPENDENCY_FAILED;
                use.release(filled.get());
            }
        } catch (const Error &error) {
            result = error.code();
        }
        REQUIRE(result != PI_ERROR_TIMEOUT);
        REQUIRE(storage_.finish(patience)); // then each byte's place is known
        if (result == PI_SUCCESS) {
            model_.write(place, range, std::vector<uint8_t>(range.size(), value));
        } else {
            model_.fail_write(place, range, may_have_run);
        }
    }

    /// The later reads check whether it succeeded.
    void broadcast(const Range &range) {
        const std::vector<PlaceIndex> places = machine_.places();
        try {
            storage_.buffer().broadcast(places, range.begin, range.size());
        } catch (const Error &error) {
            REQUIRE(error.code() != PI_ERROR_TIMEOUT);
        }
        REQUIRE(storage_.finish(patience));
    }

    void read(PlaceIndex place, const Range &range) {
        std::vector<uint8_t> seen(range.size());
        pi_result result = PI_SUCCESS;
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
                result = wait(done);
                use.release(done.get());
            }
        } catch (const Error &error) {
            result = error.code();
        }
        REQUIRE(result != PI_ERROR_TIMEOUT);
        if (result == PI_SUCCESS) {
            REQUIRE(model_.compare(range, seen) == "");
            model_.read(place, range);
        }
    }

    /// Checks that every byte can be read when calls no longer fail.
    void check_all() {
        std::vector<uint8_t> seen;
        for (int left = failing_calls_; seen.empty(); --left) {
            try {
                seen = host_read(storage_.buffer());
            } catch (const Error &) {
                REQUIRE(left > 0);
            }
        }
        REQUIRE(runtime_.finish(patience)); // before the loader is destroyed
        REQUIRE(storage_.lost().empty());
        REQUIRE(model_.compare({0, scenario_size}, seen) == "");
    }

    const AnyMachine &machine_;
    const int failing_calls_;
    /// Runs after the storage's end: pending unmaps are retried then.
    struct Finish {
        const Runtime &runtime;
        ~Finish() { runtime.finish(patience); }
    };
    Runtime runtime_;
    const Finish finish_{runtime_};
    Storage storage_;
    pi_test::ByteModel model_;
};

} // namespace runtime_test
