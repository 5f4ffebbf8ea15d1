// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include "text.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <array>

namespace image_pipeline {
namespace {

using namespace pi::runtime;

constexpr size_t page_width = 104;
constexpr size_t bytes_width = 12;
constexpr size_t time_width = 11;
constexpr size_t text_width = page_width - 2 * bytes_width - time_width;
constexpr size_t storage_width = 12;
constexpr size_t route_width = 14;

constexpr const char *bold = "\033[1m";
constexpr const char *dim = "\033[2m";
constexpr const char *green = "\033[32m";
constexpr const char *red = "\033[31m";

struct RouteStyle {
    const char *name;
    const char *colour;
    const char *meaning; ///< empty: not in the introduction
};
/// By RouteKind.
constexpr std::array<RouteStyle, route_kind_count> route_styles{{
    {"nothing to do", dim, ""},
    {"direct use", "\033[32m", "the next device uses the memory as it is (UNIFIED): no bytes move"},
    {"import", "\033[36m", "the device uses a piece of host memory in place: no bytes move"},
    {"plugin copy", "\033[33m", "the plugin copies from one place to the other (MIGRATABLE)"},
    {"bounce", "\033[35m", "it goes through host memory (NONE): two vendors, two backends"},
}};

const RouteStyle &style_of(RouteKind kind) {
    return route_styles.at(static_cast<size_t>(kind));
}

/// Blanks, a line of text and the columns of figures at its right.
std::string row(const std::string &text, const std::string &moved, const std::string &baseline,
                const std::string &time) {
    std::string line = left(text, text_width) + right(moved, bytes_width) +
                       right(baseline, bytes_width) + right(time, time_width);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

/// Where the bytes of a use came from, and why that way.
std::string origin(const TransferRecord &transfer, const TopologyDescription &topology) {
    std::string text;
    if (transfer.kind != RouteKind::none_needed) {
        text = "from " + topology.place(transfer.source).name + ": ";
    }
    text += transfer.reason;
    if (transfer.result != PI_SUCCESS) {
        text = std::string("failed with ") + result_name(transfer.result) + ": " + text;
    }
    return text;
}

uint64_t moved(const StageReport &stage) {
    uint64_t bytes = 0;
    for (const UseReport &use : stage.uses) {
        for (const TransferRecord &transfer : use.transfers) {
            bytes += transfer.bytes;
        }
    }
    return bytes;
}

uint64_t baseline(const StageReport &stage) {
    uint64_t bytes = 0;
    for (const UseReport &use : stage.uses) {
        for (const TransferRecord &transfer : use.transfers) {
            bytes += transfer.bytes_copy_in_copy_out;
        }
    }
    return bytes;
}

} // namespace

RouteCounts count_routes(const RoundReport &round) {
    RouteCounts counts{};
    for (const StageReport &stage : round.stages) {
        for (const UseReport &use : stage.uses) {
            for (const TransferRecord &transfer : use.transfers) {
                if (!use.writes && transfer.result == PI_SUCCESS) {
                    ++counts.at(static_cast<size_t>(transfer.kind));
                }
            }
        }
    }
    return counts;
}

std::string Report::paint(const char *colour, const std::string &text) const {
    return colours_ ? colour + text + "\033[0m" : text;
}

std::string Report::introduction(const std::string &picture, int width, int height,
                                 const Work &work) const {
    std::string text = paint(bold, "image_pipeline") + ": " + picture + ", " +
                       std::to_string(width) + " x " + std::to_string(height) + " pixels\n\n";
    for (const std::string &line : wrapped(
             "Five stages work on a picture, each at a place: a device in a context. Only what a "
             "place lacks is brought there, by the best of four routes:",
             page_width)) {
        text += line + "\n";
    }
    for (const RouteStyle &style : route_styles) {
        if (*style.meaning != '\0') {
            text +=
                "  " + paint(style.colour, left(style.name, route_width)) + style.meaning + "\n";
        }
    }
    text += "\n" + paint(bold, "Places") + "\n";
    for (size_t i = 0; i < work.devices.size(); ++i) {
        text += "  " + left(topology_.places[i + 1].name, 17) +
                shortened(work.devices[i].title, page_width - 19) + "\n";
    }
    for (const std::string &sentence : work.left_out) {
        text += "  left out: " + sentence + "\n";
    }
    text += "\n" + paint(bold, "Connections") +
            ": what memory of the row's place is to the column's place, as the plugins answer\n";
    text += to_string(topology_);
    return text;
}

std::string Report::use(const UseReport &use) const {
    const std::string head = "    " + left(use.storage, storage_width);
    if (use.writes) {
        uint64_t out = 0;
        uint64_t in = 0;
        for (const TransferRecord &transfer : use.transfers) {
            out += transfer.bytes_copy_in_copy_out;
            in += transfer.bytes;
        }
        return row(head + paint(dim, "") + "written", bytes_text(in), bytes_text(out), "");
    }
    std::string text;
    for (const TransferRecord &transfer : use.transfers) {
        const RouteStyle &style = style_of(transfer.kind);
        std::string name = style.name;
        if (transfer.style != BounceStyle::none) {
            name = transfer.style == BounceStyle::staged ? "bounce" : name;
        }
        const size_t indent = 4 + storage_width + route_width;
        const std::vector<std::string> lines =
            wrapped(origin(transfer, topology_), text_width - indent);
        for (size_t i = 0; i < std::max<size_t>(lines.size(), 1); ++i) {
            const std::string start =
                i == 0 ? (text.empty() ? head : std::string(4 + storage_width, ' ')) +
                             left(name, route_width)
                       : std::string(indent, ' ');
            const std::string why = lines.empty() ? "" : lines[i];
            std::string line = i == 0 ? row(start + why, bytes_text(transfer.bytes),
                                            bytes_text(transfer.bytes_copy_in_copy_out), "")
                                      : row(start + why, "", "", "");
            if (i == 0) {
                const size_t at = 4 + storage_width;
                line = line.substr(0, at) + paint(style.colour, left(name, route_width)) +
                       line.substr(at + route_width);
            }
            text += line;
        }
    }
    return text;
}

std::string Report::stage(size_t number, const StageReport &stage) const {
    const std::string title =
        std::to_string(number) + " " + stage.name + " at " + topology_.place(stage.place).name;
    std::string text =
        row(title + ": " + stage.purpose, "", "", milliseconds_text(stage.milliseconds));
    text = paint(bold, text.substr(0, title.size())) + text.substr(title.size());
    for (const UseReport &one : stage.uses) {
        text += use(one);
        if (!one.explanation.empty()) {
            text += one.explanation + (one.explanation.ends_with('\n') ? "" : "\n");
        }
    }
    return text;
}

std::string Report::round(uint32_t number, const RoundReport &round) const {
    std::string rule;
    for (size_t i = 0; i < page_width; ++i) {
        rule += "─";
    }
    std::string text = row("Round " + std::to_string(number), "moved", "in + out", "time");
    text = paint(bold, text) + rule + "\n";
    uint64_t all_moved = 0;
    uint64_t all_baseline = 0;
    double milliseconds = 0;
    size_t stage_number = 0;
    for (const StageReport &one : round.stages) {
        text += stage(++stage_number, one);
        all_moved += moved(one);
        all_baseline += baseline(one);
        milliseconds += one.milliseconds;
    }
    return text + rule + "\n" +
           row("total", bytes_text(all_moved), bytes_text(all_baseline),
               milliseconds_text(milliseconds));
}

std::string Report::summary(const Summary &summary) const {
    std::string text = paint(bold, "Routes") + "  ";
    for (size_t kind = 1; kind < route_kind_count; ++kind) {
        text += std::string(kind == 1 ? "" : ", ") + route_styles.at(kind).name + " " +
                std::to_string(summary.routes.at(kind)) + "x";
    }
    const Counters &counters = summary.counters;
    text += "; nothing to do " + std::to_string(summary.routes[0]) + "x\n";
    text += paint(bold, "Bytes") + "   " + bytes_text(counters.bytes_delivered) + " moved, " +
            bytes_text(counters.bytes_required) +
            " were needed; copying everything in and out "
            "of each stage would move " +
            bytes_text(counters.bytes_copy_in_copy_out) + "\n";
    text += paint(bold, "Result") + "  edges and histogram equal the CPU reference: ";
    if (summary.difference.empty()) {
        return text + paint(green, "yes") + ", bit for bit; blurred, overlay and chart too\n";
    }
    return text + paint(red, "no") + ": " + summary.difference + "\n";
}

} // namespace image_pipeline
