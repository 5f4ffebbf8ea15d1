// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"
#include "text.hpp"

#include <pi/runtime/error.hpp>

#include <cstdio>

namespace image_pipeline {
namespace {

using namespace pi::runtime;

/// Indexed by Way.
constexpr std::array<const char *, way_count> way_names{
    "none_needed", "direct_use", "import", "migrate", "host_bounce", "host_read", "host_write"};

std::string name_of(Way way) {
    return json_string(way_names.at(static_cast<size_t>(way)));
}

/// "[a, b]" or, with line feeds between the elements, a longer list.
template <class List, class Write>
std::string json_list(const List &list, const char *separator, Write write) {
    std::string text = "[";
    for (const auto &element : list) {
        text += (text.size() == 1 ? "" : separator) + write(element);
    }
    return text + "]";
}

std::string milliseconds(double time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6f", time);
    return text;
}

std::string transfer_json(const TransferRecord &transfer, const TopologyDescription &topology) {
    return "{\"route\": " + name_of(way_of(transfer)) +
           ", \"style\": " + json_string(to_string(transfer.style)) +
           ", \"source\": " + json_string(topology.place(transfer.source).name) +
           ", \"destination\": " + json_string(topology.place(transfer.destination).name) +
           ", \"reason\": " + json_string(transfer.reason) +
           ", \"result\": " + json_string(result_name(transfer.result)) +
           ", \"bytes\": " + std::to_string(transfer.bytes) +
           ", \"predicted_milliseconds\": " + milliseconds(1e3 * transfer.predicted) +
           ", \"bytes_copy_in_copy_out\": " + std::to_string(transfer.bytes_copy_in_copy_out) + "}";
}

std::string use_json(const UseReport &use, const TopologyDescription &topology) {
    return "\n        {\"storage\": " + json_string(use.storage) +
           ", \"access\": " + json_string(use.writes ? "write" : "read") +
           ", \"bytes\": " + std::to_string(use.bytes) +
           ", \"bytes_required\": " + std::to_string(use.required) +
           ", \"virtual_milliseconds\": " + milliseconds(use.took) + ", \"transfers\": " +
           json_list(use.transfers, ", ",
                     [&](const TransferRecord &one) { return transfer_json(one, topology); }) +
           "}";
}

std::string stage_json(const StageReport &stage, const TopologyDescription &topology) {
    return "\n      {\"name\": " + json_string(stage.name) +
           ", \"place\": " + json_string(topology.place(stage.place).name) +
           ", \"done_at_milliseconds\": " + milliseconds(stage.done_at) + ", \"uses\": " +
           json_list(stage.uses, ",",
                     [&](const UseReport &one) { return use_json(one, topology); }) +
           "}";
}

} // namespace

std::string to_json(const std::string &picture, int width, int height,
                    const TopologyDescription &topology, const std::vector<RoundReport> &rounds,
                    const Summary &summary) {
    std::string text = "{\n  \"picture\": {\"file\": " + json_string(picture) +
                       ", \"width\": " + std::to_string(width) +
                       ", \"height\": " + std::to_string(height) + "},\n  \"places\": " +
                       json_list(topology.places, ", ",
                                 [](const PlaceInfo &place) { return json_string(place.name); }) +
                       ",\n  \"rounds\": " + json_list(rounds, ",", [&](const RoundReport &round) {
                           return "\n    {\"stages\": " +
                                  json_list(round.stages, ",",
                                            [&](const StageReport &stage) {
                                                return stage_json(stage, topology);
                                            }) +
                                  "}";
                       });
    text += ",\n  \"routes\": {";
    for (size_t way = 0; way < way_count; ++way) {
        text += (way == 0 ? "" : ", ") + name_of(static_cast<Way>(way)) + ": " +
                std::to_string(summary.ways.at(way));
    }
    const Counters &counters = summary.counters;
    text += "},\n  \"bytes_required\": " + std::to_string(counters.bytes_required) +
            ",\n  \"bytes_delivered\": " + std::to_string(counters.bytes_delivered) +
            ",\n  \"bytes_elsewhere\": " + std::to_string(counters.bytes_elsewhere) +
            ",\n  \"bytes_copy_in_copy_out\": " + std::to_string(counters.bytes_copy_in_copy_out) +
            ",\n  \"equal\": " + (summary.difference.empty() ? "true" : "false") +
            ",\n  \"difference\": " + json_string(summary.difference) + "\n}\n";
    return text;
}

} // namespace image_pipeline
