// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include "text.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace tensor_io {
namespace {

using namespace pi::runtime;
using nlohmann::ordered_json;

constexpr std::array<const char *, way_count> way_names{"zero_copy", "copy_in_copy_out"};
constexpr std::array<const char *, way_count> way_titles{"zero-copy", "copy in, copy out"};

double quantile(std::vector<double> values, double part) {
    if (values.empty()) {
        return 0;
    }
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<size_t>(std::round(part * last))];
}

double median_time(const RunReport &report, Way way) {
    std::vector<double> times;
    for (const FrameReport &frame : report.way(way).frames) {
        times.push_back(milliseconds_of(report, frame));
    }
    return quantile(times, 0.5);
}

uint64_t touched(const StageReport &stage) {
    uint64_t bytes = 0;
    for (const UseReport &use : stage.uses) {
        bytes += use.bytes;
    }
    return bytes;
}

uint64_t moved(const UseReport &use) {
    uint64_t bytes = 0;
    for (const TransferRecord &transfer : use.transfers) {
        bytes += transfer.bytes;
    }
    return bytes;
}

uint64_t moved(const StageReport &stage) {
    uint64_t bytes = 0;
    for (const UseReport &use : stage.uses) {
        bytes += moved(use);
    }
    return bytes;
}

/// Calls `each` for the stages of the camera and the chain.
template <class Each>
void for_each_stage(const WayReport &way, Each each) {
    for (size_t frame = 0; frame < way.frames.size(); ++frame) {
        each(way.fills[frame]);
        for (const StageReport &stage : way.frames[frame].stages) {
            each(stage);
        }
    }
}

uint64_t copied(const WayReport &way) {
    uint64_t bytes = 0;
    for_each_stage(way, [&](const StageReport &stage) { bytes += stage.copied; });
    return bytes;
}

uint64_t touched(const WayReport &way) {
    uint64_t bytes = 0;
    for_each_stage(way, [&](const StageReport &stage) { bytes += touched(stage) + stage.copied; });
    return bytes;
}

// --- for people ----------------------------------------------------------------------------------

constexpr size_t page_width = 118;

std::string number_text(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

std::string time_text(double milliseconds) {
    return milliseconds < 1 ? number_text(1e3 * milliseconds, 1) + " us"
                            : number_text(milliseconds, 2) + " ms";
}

std::string route_text(const TransferRecord &transfer, const TopologyDescription &topology) {
    std::string text = to_string(transfer.kind);
    if (transfer.style != BounceStyle::none) {
        text += std::string(", ") + to_string(transfer.style);
    }
    if (transfer.kind != RouteKind::none_needed) {
        text += " from " + topology.place(transfer.source).name;
    }
    if (transfer.result != PI_SUCCESS) {
        text += std::string(", failed: ") + result_name(transfer.result);
    }
    return text;
}

/// Uses of one storage by one stage at one place, over all frames.
struct Line {
    uint64_t count = 0;
    uint64_t bytes = 0;
};

std::string way_table(const RunReport &report, Way which, const TopologyDescription &topology) {
    using Key = std::tuple<std::string, std::string, std::string, std::string>;
    std::vector<Key> order;
    std::map<Key, Line> lines;
    const WayReport &way = report.way(which);
    for_each_stage(way, [&](const StageReport &stage) {
        const std::string title = stage.name + " at " + topology.place(stage.place).name;
        const auto count = [&](const std::string &storage, const std::string &route,
                               const std::string &reason, uint64_t bytes) {
            const Key key{title, storage, route, reason};
            if (!lines.contains(key)) {
                order.push_back(key);
            }
            ++lines[key].count;
            lines[key].bytes += bytes;
        };
        if (stage.copied != 0) {
            count("", "memcpy", "by the application", stage.copied);
        }
        for (const UseReport &use : stage.uses) {
            for (const TransferRecord &transfer : use.transfers) {
                count(use.storage, route_text(transfer, topology), transfer.reason, transfer.bytes);
            }
        }
    });
    // Stages and places together, in the order of their first use.
    std::map<std::string, size_t> first;
    for (size_t i = 0; i < order.size(); ++i) {
        first.emplace(std::get<0>(order[i]), i);
    }
    std::stable_sort(order.begin(), order.end(), [&](const Key &a, const Key &b) {
        return first[std::get<0>(a)] < first[std::get<0>(b)];
    });

    std::string text = left(way_titles.at(static_cast<size_t>(which)), 34) + left("storage", 11) +
                       left("route", 41) + right("uses", 6) + right("bytes, all frames", 20) + "\n";
    std::string last_title;
    for (const Key &key : order) {
        const auto &[title, storage, route, reason] = key;
        const Line &line = lines[key];
        text += left(title == last_title ? "" : "  " + title, 34) + left(storage, 11) +
                left(route, 41) + right(std::to_string(line.count), 6) +
                right(bytes_text(line.bytes), 20) + "\n";
        for (const std::string &part : wrapped(reason, page_width - 47)) {
            text += std::string(47, ' ') + part + "\n";
        }
        last_title = title;
    }
    return text + "\n";
}

std::string row(const std::string &title, const std::string &a, const std::string &b) {
    return "  " + left(title, 46) + right(a, 18) + right(b, 20) + "\n";
}

std::string comparison(const RunReport &report) {
    const WayReport &zero = report.way(Way::zero_copy);
    const WayReport &copy = report.way(Way::copy_in_copy_out);
    const uint64_t frames = zero.frames.size();
    const auto per_frame = [&](const std::string &title, auto figure) {
        return row(title, bytes_text(figure(zero) / frames), bytes_text(figure(copy) / frames));
    };
    std::string text =
        row("per frame, mean of " + std::to_string(frames), way_titles[0], way_titles[1]);
    text += per_frame("touched by stages and memcpy",
                      [](const WayReport &way) { return touched(way); });
    text += per_frame("copied by memcpy", [](const WayReport &way) { return copied(way); });
    text += per_frame("moved by the runtime: input",
                      [](const WayReport &way) { return way.counters.input.bytes_delivered; });
    text += per_frame("moved by the runtime: results",
                      [](const WayReport &way) { return way.counters.output.bytes_delivered; });
    text += per_frame("moved by the runtime: between the stages",
                      [](const WayReport &way) { return way.counters.between.bytes_delivered; });
    const auto coherence_syncs = [](const WayReport &way) {
        return std::to_string(way.counters.input.coherence_syncs +
                              way.counters.output.coherence_syncs) +
               " + " + std::to_string(way.counters.between.coherence_syncs);
    };
    text += row("coherence syncs: input and results + between", coherence_syncs(zero),
                coherence_syncs(copy));
    if (report.simulated) {
        const auto calls = [](const WayReport &way) {
            return std::to_string(way.flushes) + " + " + std::to_string(way.invalidates);
        };
        text += row("calls: flush + invalidate", calls(zero), calls(copy));
    }
    text += row(report.simulated ? "time of a frame, virtual, memcpy added, median"
                                 : "time of a frame, median",
                time_text(median_time(report, Way::zero_copy)),
                time_text(median_time(report, Way::copy_in_copy_out)));
    const Quartiles ratios = ratios_of(report);
    text += "\ncopy in, copy out takes " + number_text(ratios.median, 2) +
            " of the zero-copy time (median of " + std::to_string(frames) +
            " neighbours; quartiles " + number_text(ratios.lower, 2) + " and " +
            number_text(ratios.upper, 2) + ")";
    return text + "\n";
}

// --- for programs --------------------------------------------------------------------------------

ordered_json to_json(const TransferRecord &transfer, const TopologyDescription &topology) {
    return {{"route", to_string(transfer.kind)},
            {"style", to_string(transfer.style)},
            {"source", topology.place(transfer.source).name},
            {"destination", topology.place(transfer.destination).name},
            {"reason", transfer.reason},
            {"result", result_name(transfer.result)},
            {"bytes", transfer.bytes}};
}

ordered_json to_json(const StageReport &stage, const TopologyDescription &topology) {
    ordered_json uses = ordered_json::array();
    for (const UseReport &use : stage.uses) {
        ordered_json transfers = ordered_json::array();
        for (const TransferRecord &transfer : use.transfers) {
            transfers.push_back(to_json(transfer, topology));
        }
        uses.push_back({{"storage", use.storage},
                        {"access", use.writes ? "write" : "read"},
                        {"bytes", use.bytes},
                        {"transfers", transfers}});
    }
    return {{"name", stage.name},
            {"place", topology.place(stage.place).name},
            {"bytes_touched", touched(stage)},
            {"bytes_moved", moved(stage)},
            {"bytes_copied", stage.copied},
            {"uses", uses}};
}

ordered_json to_json(const Counters &counters) {
    return {{"bytes_required", counters.bytes_required},
            {"bytes_delivered", counters.bytes_delivered},
            {"bytes_elsewhere", counters.bytes_elsewhere},
            {"hand_overs", counters.coherence_syncs}};
}

ordered_json to_json(const RunReport &report, Way which, const TopologyDescription &topology) {
    const WayReport &way = report.way(which);
    ordered_json frames = ordered_json::array();
    for (size_t i = 0; i < way.frames.size(); ++i) {
        ordered_json stages = ordered_json::array({to_json(way.fills[i], topology)});
        for (const StageReport &stage : way.frames[i].stages) {
            stages.push_back(to_json(stage, topology));
        }
        frames.push_back(
            {{"milliseconds", milliseconds_of(report, way.frames[i])}, {"stages", stages}});
    }
    return {{"input", to_json(way.counters.input)},
            {"output", to_json(way.counters.output)},
            {"between", to_json(way.counters.between)},
            {"bytes_touched", touched(way)},
            {"bytes_copied", copied(way)},
            {"flushes", way.flushes},
            {"invalidates", way.invalidates},
            {"milliseconds_median", median_time(report, which)},
            {"frames", frames}};
}

} // namespace

double milliseconds_of(const RunReport &report, const FrameReport &frame) {
    double milliseconds = frame.milliseconds;
    for (const StageReport &stage : frame.stages) {
        if (report.host_bandwidth > 0) {
            milliseconds += 2e3 * static_cast<double>(stage.copied) / report.host_bandwidth;
        }
    }
    return milliseconds;
}

Quartiles ratios_of(const RunReport &report) {
    const WayReport &zero = report.way(Way::zero_copy);
    const WayReport &copy = report.way(Way::copy_in_copy_out);
    std::vector<double> ratios;
    for (size_t i = 0; i < zero.frames.size(); ++i) {
        const double in_place = milliseconds_of(report, zero.frames[i]);
        if (in_place > 0) {
            ratios.push_back(milliseconds_of(report, copy.frames[i]) / in_place);
        }
    }
    return {quantile(ratios, 0.25), quantile(ratios, 0.5), quantile(ratios, 0.75)};
}

std::string to_text(const RunReport &report, const Work &work) {
    const TopologyDescription &topology = work.topology->description();
    std::string text = "tensor_io: " + std::to_string(report.way(Way::zero_copy).frames.size()) +
                       " frames of " + std::to_string(report.shape.width) + " x " +
                       std::to_string(report.shape.height) + " pixels, rings of " +
                       std::to_string(report.ring) + " slots of " + report.memory + " memory\n\n";
    for (size_t i = 0; i < work.devices.size(); ++i) {
        text += left(topology.places[i + 1].name, 16) + work.devices[i].title + "\n";
    }
    text += left(topology.places[0].name, 16) + "the application itself\n";
    for (const std::string &sentence : work.left_out) {
        text += "left out: " + sentence + "\n";
    }
    std::string turns;
    for (const PlaceIndex place : work.order) {
        turns += (turns.empty() ? "" : ", ") + topology.place(place).name;
    }
    text += "Normalise, convolve and classify take turns at " + turns + ".\n\n" +
            to_string(topology) + "\n";
    text += way_table(report, Way::zero_copy, topology);
    text += way_table(report, Way::copy_in_copy_out, topology);
    text += comparison(report);
    return text + "results equal the plain computation: " +
           (report.difference.empty() ? "yes" : "no: " + report.difference) + "\n";
}

std::string to_json(const RunReport &report, const Work &work) {
    const TopologyDescription &topology = work.topology->description();
    ordered_json places = ordered_json::array();
    for (const PlaceInfo &place : topology.places) {
        places.push_back(place.name);
    }
    ordered_json ways;
    for (size_t i = 0; i < way_count; ++i) {
        ways[way_names.at(i)] = to_json(report, static_cast<Way>(i), topology);
    }
    const Quartiles ratios = ratios_of(report);
    const ordered_json json{{"width", report.shape.width},
                            {"height", report.shape.height},
                            {"frames", report.way(Way::zero_copy).frames.size()},
                            {"ring", report.ring},
                            {"memory", report.memory},
                            {"simulated", report.simulated},
                            {"places", places},
                            {"ways", ways},
                            {"ratio",
                             {{"lower_quartile", ratios.lower},
                              {"median", ratios.median},
                              {"upper_quartile", ratios.upper}}},
                            {"equal", report.difference.empty()},
                            {"difference", report.difference}};
    return json.dump(2) + "\n";
}

} // namespace tensor_io
