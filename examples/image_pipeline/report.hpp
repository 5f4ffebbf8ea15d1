// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pipeline.hpp"
#include "places.hpp"

#include <pi/runtime/transfer.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace image_pipeline {

/// How often each route was taken, by RouteKind.
using RouteCounts = std::array<uint64_t, pi::runtime::route_kind_count>;
RouteCounts count_routes(const RoundReport &round);

/// All that there is to tell at the end.
struct Summary {
    RouteCounts routes{};
    pi::runtime::Counters counters;
    std::string difference; ///< from the CPU reference; empty: equal
};

/// Text for people, in colours if asked to. Everything ends with a line feed.
class Report {
public:
    Report(const pi::runtime::TopologyDescription &topology, bool colours)
        : topology_(topology), colours_(colours) {}

    std::string introduction(const std::string &picture, int width, int height,
                             const Work &work) const;
    std::string round(uint32_t number, const RoundReport &round) const;
    std::string summary(const Summary &summary) const;

private:
    std::string paint(const char *colour, const std::string &text) const;
    std::string stage(size_t number, const StageReport &stage) const;
    std::string use(const UseReport &use) const;

    const pi::runtime::TopologyDescription &topology_;
    bool colours_;
};

/// What --json writes; README.md has its form.
std::string to_json(const std::string &picture, int width, int height,
                    const pi::runtime::TopologyDescription &topology,
                    const std::vector<RoundReport> &rounds, const Summary &summary);

} // namespace image_pipeline
