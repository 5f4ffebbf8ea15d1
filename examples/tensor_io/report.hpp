// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "chain.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tensor_io {

/// All that happened one way.
struct WayReport {
    std::vector<StageReport> fills; ///< [frame]: the camera
    std::vector<FrameReport> frames;
    ChainCounters counters;
    /// Calls of piMemFlush and piMemInvalidate. Counted on simulated machines only, where they take no time that is told.
    uint64_t flushes = 0, invalidates = 0;
};

struct RunReport {
    Shape shape;
    uint32_t ring = 0;
    std::string memory; ///< as --memory has it
    bool simulated = false;
    /// Bytes a second of the simulated machine's host memory, as its file has it; 0: no such machine, or it does not say.
    double host_bandwidth = 0;
    std::array<WayReport, way_count> ways; ///< by Way
    std::string difference;                ///< of the first result that differs, else empty

    const WayReport &way(Way way) const { return ways.at(static_cast<size_t>(way)); }
};

/// Of one frame. The clock of a simulated machine does not see what the application does itself: its memcpy is added, which
/// reads and writes each byte at the bandwidth of the machine's host memory.
double milliseconds_of(const RunReport &report, const FrameReport &frame);

/// Quartiles of the times of one frame by copy-in/copy-out and of the same frame in place, right before or behind, one
/// divided by the other. All 0 where there is no such time.
struct Quartiles {
    double lower = 0, median = 0, upper = 0;
};
Quartiles ratios_of(const RunReport &report);

/// For people.
std::string to_text(const RunReport &report, const Work &work);
/// For programs; README.md has its form.
std::string to_json(const RunReport &report, const Work &work);

} // namespace tensor_io
