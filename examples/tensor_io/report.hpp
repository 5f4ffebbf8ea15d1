// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "chain.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tensor_io {

/// The measurements of one way.
struct WayReport {
    std::vector<StageReport> fills; ///< [frame]: the camera
    std::vector<FrameReport> frames;
    ChainCounters counters;
    /// Calls of piMemFlush and piMemInvalidate, counted only on simulated machines.
    uint64_t flushes = 0, invalidates = 0;
};

struct RunReport {
    Shape shape;
    uint32_t ring = 0;
    std::string memory; ///< as --memory has it
    bool simulated = false;
    /// Bytes per second of the simulated machine's host memory, from its file; 0: unknown, or a
    /// real machine.
    double host_bandwidth = 0;
    std::array<WayReport, way_count> ways; ///< by Way
    std::string difference;                ///< of the first result that differs, else empty

    const WayReport &way(Way way) const { return ways.at(static_cast<size_t>(way)); }
};

/// The time of one frame. The virtual clock does not see the application's memcpy; its time is
/// added, by the bandwidth of the machine's host memory, with each byte read and written.
double milliseconds_of(const RunReport &report, const FrameReport &frame);

/// Quartiles of the ratios: each frame's time by copy-in/copy-out divided by its time in place,
/// right before or after. All 0 if there are no times.
struct Quartiles {
    double lower = 0, median = 0, upper = 0;
};
Quartiles ratios_of(const RunReport &report);

/// For people.
std::string to_text(const RunReport &report, const Work &work);
/// For programs; README.md has its form.
std::string to_json(const RunReport &report, const Work &work);

} // namespace tensor_io
