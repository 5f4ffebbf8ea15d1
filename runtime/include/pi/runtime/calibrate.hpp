// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/cost.hpp>
#include <pi/runtime/export.hpp>
#include <pi/runtime/topology.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pi::runtime {

struct CalibrateOptions {
    uint32_t repetitions = 15; ///< of each copy; the median counts
    /// The largest copy, in bytes. Each place needs twice as much memory.
    uint64_t largest_bytes = uint64_t{64} << 20;
};

/// The median time of one copy over one link, from its submission to the callback at its end. A
/// device's bytes were written before and differ each time; the host's are in one buffer, as in
/// staging memory.
struct LinkMeasurement {
    PlaceIndex from = host_place;
    PlaceIndex to = host_place;
    uint64_t bytes = 0;
    double seconds = 0;
};

struct Calibration {
    CostTable costs; ///< measured; estimated where a link could not be measured
    std::vector<LinkMeasurement> measurements;
    /// Links that could not be measured: "opencl:0:0 -> host: ...".
    std::vector<std::string> failures;
};

/// Measures every link of a topology, two sizes in each size class. Takes seconds to minutes, uses
/// its own queues and memory, and needs an otherwise idle machine.
PI_RUNTIME_EXPORT Calibration calibrate(const std::shared_ptr<const Topology> &topology,
                                        const CalibrateOptions &options = {});

/// Latency and bandwidth of the line through two measured points of a size class. Neither is
/// negative: if the larger copy took no longer, all time is latency, and the bandwidth is so large
/// that the size does not matter; if it took longer than in proportion to its bytes, all time is
/// bandwidth.
PI_RUNTIME_EXPORT LinkCost fit(uint64_t small_bytes, double small_seconds, uint64_t large_bytes,
                               double large_seconds);

/// Writes the costs as JSON that people can read and edit:
///
///     {"format": "pi costs", "version": 1, "callback_latency": s,
///      "callback_latencies": {key: s, ...}, "places": [key, ...],
///      "links": [{"from": key, "to": key,
///                 "costs": [{"up_to": bytes, "latency": s, "bandwidth": bytes/s}, ...]}]}
///
/// key is PlaceInfo::key; callback_latencies contains the places whose latency differs from
/// callback_latency. Throws Error(PI_ERROR_INVALID_VALUE) if the file cannot be written.
PI_RUNTIME_EXPORT void save_costs(const CostTable &costs, const TopologyDescription &topology,
                                  const std::string &path);

struct LoadedCosts {
    std::optional<CostTable> costs; ///< empty if the file was not used: see message
    std::string message;            ///< why the file was not used, or which links it lacks
};
/// Reads a file of save_costs for this topology. A file that is missing, malformed, or from another
/// machine (without figures for a place's device) is not used; the message says why. Never throws
/// for that. Links that the file lacks are estimated.
PI_RUNTIME_EXPORT LoadedCosts load_costs(const std::string &path,
                                         const TopologyDescription &topology);

} // namespace pi::runtime
