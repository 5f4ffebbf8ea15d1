// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pipeline.hpp"
#include "places.hpp"

#include <pi/runtime/calibrate.hpp>
#include <pi/runtime/transfer.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace image_pipeline {

/// A route as it is printed: a bounce with the host at one end is a read or a write.
enum class Way : uint32_t { none_needed, direct_use, import, plugin_copy, bounce, read, write };
inline constexpr size_t way_count = 7;
Way way_of(const pi::runtime::TransferRecord &transfer);

/// The number of transfers of bytes that stages read, by Way.
using WayCounts = std::array<uint64_t, way_count>;
WayCounts count_ways(const RoundReport &round);

/// The results of the whole run.
struct Summary {
    WayCounts ways{};
    pi::runtime::Counters counters;
    std::string difference; ///< from the CPU reference; empty: equal
};

/// Figures of a transfer, or sums over the transfers of a use, a stage or a round.
struct Figures {
    uint64_t moved = 0;
    uint64_t required = 0; ///< the lower bound
    uint64_t copy_in_copy_out = 0;
    double predicted = 0; ///< milliseconds
    double took = 0;      ///< virtual milliseconds

    Figures &operator+=(const Figures &other);
};

/// Text for people, with optional colours. Every text ends with a line feed.
class Report {
public:
    /// `simulated`: with the predicted and the virtual time of each transfer.
    Report(const pi::runtime::TopologyDescription &topology, bool colours, bool simulated = false)
        : topology_(topology), colours_(colours), simulated_(simulated) {}

    std::string introduction(const std::string &picture, int width, int height, const Work &work,
                             bool in_place) const;
    /// The costs in use if a file was given: the file's, or why not.
    std::string costs(const std::string &file, const pi::runtime::LoadedCosts &loaded) const;
    /// In full with every use and its reason, or one line per stage.
    std::string round(uint32_t number, const RoundReport &round, bool in_full) const;
    std::string summary(const Summary &summary) const;
    std::string files(const std::string &folder) const;

private:
    /// The headings of the columns.
    std::vector<std::string> headings() const;
    std::vector<std::string> cells(const std::optional<Figures> &figures, double done_at) const;
    size_t page_width() const;
    std::string paint(const char *colour, const std::string &text) const;
    std::string stage(size_t number, const StageReport &stage) const;
    std::string explanation(const std::string &text) const;
    std::string matrix() const;
    std::string stage_line(size_t number, const StageReport &stage) const;
    /// Leaves out a reason that equals the last one.
    std::string use(const UseReport &use, std::string &last_reason) const;

    const pi::runtime::TopologyDescription &topology_;
    bool colours_;
    bool simulated_;
};

/// The text of --json; README.md has its form.
std::string to_json(const std::string &picture, int width, int height,
                    const pi::runtime::TopologyDescription &topology,
                    const std::vector<RoundReport> &rounds, const Summary &summary);

} // namespace image_pipeline
