// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "place.hpp"
#include "session.hpp"

#include <pi/runtime/calibrate.hpp>
#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pi_bench {

using namespace pi::runtime;

/// All places, with a queue each.
struct Machine {
    explicit Machine(const std::string &costs_file) : topology(all_places(loader)) {
        if (!costs_file.empty()) {
            LoadedCosts loaded = load_costs(costs_file, topology->description());
            costs = std::move(loaded.costs);
            if (!loaded.message.empty()) {
                std::printf("%s\n", loaded.message.c_str());
            }
        }
        for (PlaceIndex place = 1; place < topology->size(); ++place) {
            places.push_back(place);
            queues.emplace_back();
            check(piQueueCreate(topology->context(place), topology->device(place), nullptr,
                                queues.back().out()),
                  "piQueueCreate");
        }
        if (places.empty()) {
            throw std::runtime_error("no device found");
        }
    }
    pi_queue queue(PlaceIndex place) const { return queues.at(place - 1).get(); }
    const std::string &name(PlaceIndex place) const { return topology->info(place).name; }
    const Connection &connection(PlaceIndex from, PlaceIndex to) const {
        return topology->description().buffer(from, to);
    }
    /// The pairs that match a predicate; the host plugin's own devices come first.
    std::vector<Hop> pairs(const std::function<bool(PlaceIndex, PlaceIndex)> &wanted) const {
        std::vector<Hop> found;
        for (PlaceIndex from : places) {
            for (PlaceIndex to : places) {
                if (from != to && wanted(from, to)) {
                    found.push_back({from, to});
                }
            }
        }
        return found;
    }

    pi::Loader loader = pi::Loader::create();
    std::shared_ptr<const Topology> topology;
    std::optional<CostTable> costs; ///< from --costs
    std::vector<PlaceIndex> places;
    std::vector<Queue> queues;
};

/// Makes the place the only one with these bytes.
inline void own(const Buffer &buffer, PlaceIndex place) {
    buffer.acquire(place, Access::discard_write).release();
}

// runtime_acquire.cpp
void bench_acquire(Session &session, const Machine &machine);
// runtime_threads.cpp
void bench_threads(Session &session, const Machine &machine);

} // namespace pi_bench
