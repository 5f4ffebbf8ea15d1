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
    /// No copy is larger. Each place needs memory of this size, twice.
    uint64_t largest_bytes = uint64_t{64} << 20;
};

/// The median time of one copy over one link, from its submission to the callback that tells its end. A device's bytes
/// have been written before and are others each time; the host's lie in one buffer, as staging memory does.
struct LinkMeasurement {
    PlaceIndex from = host_place;
    PlaceIndex to = host_place;
    uint64_t bytes = 0;
    double seconds = 0;
};

struct Calibration {
    CostTable costs; ///< measured; estimated where a link could not be measured
    std::vector<LinkMeasurement> measurements;
    std::vector<std::string> failures; ///< "opencl:0:0 -> host: ...": links that could not be
};

/// Measures every link of a topology, two sizes in each class of sizes: takes seconds to minutes, uses
/// queues and memory of its own, and should have the machine for itself.
PI_RUNTIME_EXPORT Calibration calibrate(const std::shared_ptr<const Topology> &topology,
                                        const CalibrateOptions &options = {});

/// The line through two measured points of a class: latency and bandwidth. Neither is ever negative: where the larger copy took no
/// longer all is latency, and the bandwidth so large that bytes count for nothing; where it took longer by more than its bytes all is
/// bandwidth.
PI_RUNTIME_EXPORT LinkCost fit(uint64_t small_bytes, double small_seconds, uint64_t large_bytes,
                               double large_seconds);

/// Writes the costs as JSON that people can read and correct:
///
///     {"format": "pi costs", "version": 1, "callback_latency": s,
///      "callback_latencies": {key: s, ...}, "places": [key, ...],
///      "links": [{"from": key, "to": key,
///                 "costs": [{"up_to": bytes, "latency": s, "bandwidth": bytes/s}, ...]}]}
///
/// with PlaceInfo::key; callback_latencies has the places whose latency is another one. Throws
/// Error(PI_ERROR_INVALID_VALUE) if the file cannot be written.
PI_RUNTIME_EXPORT void save_costs(const CostTable &costs, const TopologyDescription &topology,
                                  const std::string &path);

struct LoadedCosts {
    std::optional<CostTable> costs; ///< nothing: see message
    std::string message;            ///< why the file is not used, or which links it does not know
};
/// Reads such a file for this topology. A file that is missing, broken, or of another machine (without
/// figures for a place's device) is not used, and the message says what is wrong; never throws for that.
/// Links that the file leaves out are estimated.
PI_RUNTIME_EXPORT LoadedCosts load_costs(const std::string &path,
                                         const TopologyDescription &topology);

} // namespace pi::runtime
