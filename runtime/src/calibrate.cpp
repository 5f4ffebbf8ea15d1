// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/describe/descriptor.hpp>
#include <pi/runtime/calibrate.hpp>

#include "transfer/commands.hpp"
#include "transfer/host_bytes.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <chrono>
#include <future>

namespace pi::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t page = 4096;

/// Two buffers at one place: copies read the first and write the second.
struct Ends {
    std::vector<HostBytes> bytes;
    std::vector<Mem> mems;
    Endpoint from;
    Endpoint to;
};

class Bench {
public:
    Bench(const std::shared_ptr<const Topology> &topology, const CalibrateOptions &options)
        : topology_(topology), options_(options),
          commands_(std::make_shared<Commands>(topology, std::make_shared<Continuations>())),
          ends_(topology->size()) {}

    /// Throws the error of a copy that fails.
    CostTable::Link measure(PlaceIndex from, PlaceIndex to,
                            std::vector<LinkMeasurement> &measurements) {
        CostTable::Link link;
        for (uint32_t index = 0; index < size_class_limits.size(); ++index) {
            const uint64_t large = std::min(size_class_limits[index], options_.largest_bytes);
            const uint64_t small = large / 8;
            const double small_seconds = median_seconds(from, to, small);
            const double large_seconds = median_seconds(from, to, large);
            measurements.push_back({from, to, small, small_seconds});
            measurements.push_back({from, to, large, large_seconds});
            link[index] = fit(small, small_seconds, large, large_seconds);
        }
        // Larger sizes than measured take longer, even if noise hides the influence of the size.
        LinkCost &largest = link.back();
        if (largest.latency >= measurements.back().seconds) {
            largest = {0, static_cast<double>(options_.largest_bytes) / largest.latency};
        }
        return link;
    }

private:
    const Ends &ends_at(PlaceIndex place) {
        Ends &ends = ends_[place];
        if (!ends.bytes.empty() || !ends.mems.empty()) {
            return ends;
        }
        for (Endpoint *end : {&ends.from, &ends.to}) {
            *end = {place, nullptr, nullptr, 0, false};
            if (place == host_place) {
                ends.bytes.emplace_back(options_.largest_bytes, page);
                end->host = ends.bytes.back().data();
                std::fill_n(ends.bytes.back().data(), ends.bytes.back().size(), std::byte{1});
                continue;
            }
            auto desc = pi::desc<pi_mem_buffer_desc>();
            desc.size = options_.largest_bytes;
            ends.mems.emplace_back();
            check(piMemBufferCreate(topology_->context(place), topology_->device(place), &desc,
                                    ends.mems.back().out()),
                  "piMemBufferCreate");
            end->mem = ends.mems.back().get();
        }
        if (place != host_place) {
            // Memory that was never written may be one page of zeros, which is read from the cache.
            one_copy(ends_at(host_place).from, ends.from, {0, options_.largest_bytes});
        }
        return ends;
    }

    double one_copy(const Endpoint &source, const Endpoint &destination, const Range &range) {
        struct Answer {
            pi_result result;
            std::string text;
            Clock::time_point time;
        };
        // Shared: the callback's thread may still use it when this one goes on.
        const auto over = std::make_shared<std::promise<Answer>>();
        const Clock::time_point begin = Clock::now();
        commands_->move(source, destination, range,
                        [over](pi_result result, const std::string &text) {
                            over->set_value({result, text, Clock::now()});
                        });
        const Answer answer = over->get_future().get();
        if (answer.result != PI_SUCCESS) {
            throw Error(answer.result, answer.text);
        }
        return std::chrono::duration<double>(answer.time - begin).count();
    }

    double median_seconds(PlaceIndex from, PlaceIndex to, uint64_t bytes) {
        Endpoint source = ends_at(from).from;
        Endpoint destination = ends_at(to).to;
        // One buffer at the host, as in a pipeline; but other bytes of the device each time: a
        // cache has none of the bytes that a transfer fetches.
        const uint64_t repetitions = std::max<uint64_t>(1, options_.repetitions);
        const uint64_t step = (options_.largest_bytes - bytes) / repetitions / page * page;
        const auto copy = [&](uint64_t begin) {
            for (Endpoint *end : {&source, &destination}) {
                end->begin = end->place == host_place ? begin : 0;
            }
            return one_copy(source, destination, {begin, begin + bytes});
        };
        copy(repetitions * step); // for one-time costs
        std::vector<double> seconds;
        for (uint64_t count = 0; count < repetitions; ++count) {
            seconds.push_back(copy(count * step));
        }
        const auto middle = seconds.begin() + static_cast<ptrdiff_t>(seconds.size() / 2);
        std::nth_element(seconds.begin(), middle, seconds.end());
        return *middle;
    }

    const std::shared_ptr<const Topology> topology_;
    const CalibrateOptions options_;
    const std::shared_ptr<Commands> commands_;
    std::vector<Ends> ends_; // by place
};

} // namespace

LinkCost fit(uint64_t small_bytes, double small_seconds, uint64_t large_bytes,
             double large_seconds) {
    const auto small = static_cast<double>(small_bytes);
    const auto large = static_cast<double>(large_bytes);
    const double smallest_seconds = 1e-9; // a clock's tick: a bandwidth is never infinite
    large_seconds = std::max(large_seconds, smallest_seconds);
    const double slope = large > small ? (large_seconds - small_seconds) / (large - small) : 0;
    const double latency = small_seconds - slope * small;
    if (slope <= 0) { // the size matters less than noise: all time is latency
        return {large_seconds, large / smallest_seconds};
    }
    if (latency < 0) { // noise: all time counts as bandwidth
        return {0, large / large_seconds};
    }
    return {latency, 1 / slope};
}

Calibration calibrate(const std::shared_ptr<const Topology> &topology,
                      const CalibrateOptions &options) {
    if (topology == nullptr) {
        throw Error(PI_ERROR_INVALID_NULL_POINTER, "calibrate: the topology is NULL");
    }
    if (options.largest_bytes < size_class_limits[0]) {
        throw Error(PI_ERROR_INVALID_SIZE,
                    "calibrate: largest_bytes is " + std::to_string(options.largest_bytes) +
                        ": at least " + std::to_string(size_class_limits[0]) + " are needed");
    }
    const TopologyDescription &places = topology->description();
    Calibration result;
    CostModel model;
    model.callback_latency = 0;
    result.costs = CostTable::estimate(places, model);
    // Measured until the callback that starts a pipeline's next piece.
    for (PlaceIndex place = 0; place < topology->size(); ++place) {
        result.costs.set_callback_seconds(place, 0);
    }
    Bench bench(topology, options);
    for (PlaceIndex from = 0; from < topology->size(); ++from) {
        for (PlaceIndex to = 0; to < topology->size(); ++to) {
            if (!result.costs.linked(from, to)) {
                continue;
            }
            try {
                result.costs.set_classes(from, to, bench.measure(from, to, result.measurements));
            } catch (const Error &error) {
                result.failures.push_back(places.place(from).name + " -> " + places.place(to).name +
                                          ": " + error.what());
            }
        }
    }
    return result;
}

} // namespace pi::runtime
