// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include "text.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace image_pipeline {
namespace {

using namespace pi::runtime;

// Columns: text, then figures; 100 characters in all on a real machine.
constexpr size_t text_width = 60;
/// Virtual times need more room.
constexpr size_t figure_width(size_t columns) {
    return columns > 4 ? 11 : 10;
}
// Column widths of the text: an indent, a storage and its way.
constexpr size_t indent = 4;
constexpr size_t storage_width = 11;
constexpr size_t way_width = 14;

constexpr const char *bold = "\033[1m";
constexpr const char *dim = "\033[2m";
constexpr const char *red = "\033[31m";
constexpr const char *green = "\033[32m";

struct WayStyle {
    const char *name;
    const char *colour;
    const char *meaning; ///< nullptr: not in the introduction
};
/// Indexed by Way.
constexpr std::array<WayStyle, way_count> way_styles{{
    {"up to date", dim, nullptr},
    {"direct use", "\033[32m", "uses memory of the other place in place (UNIFIED): no bytes move"},
    {"import", "\033[36m", "uses host memory in place: no bytes move"},
    {"plugin copy", "\033[33m", "the plugin copies between two of its places (MIGRATABLE)"},
    {"bounce", "\033[35m", "goes through host memory (NONE): between vendors, between backends"},
    {"read", "\033[34m", "the host reads device memory"},
    {"write", "\033[34m", nullptr},
}};

const WayStyle &style_of(Way way) {
    return way_styles.at(static_cast<size_t>(way));
}

/// Text with colours in it, and its length without them.
struct Painted {
    bool colours;
    std::string text;
    size_t length = 0;

    Painted &add(const std::string &part, const char *colour = nullptr) {
        text += colours && colour != nullptr ? colour + part + "\033[0m" : part;
        length += examples::length(part);
        return *this;
    }
};

/// A text that is too long extends over empty figures, or else has a line of its own.
std::string row(const Painted &text, const std::vector<std::string> &cells) {
    std::string figures(text_width, ' ');
    for (const std::string &cell : cells) {
        figures += " " + right(cell, figure_width(cells.size()) - 1);
    }
    const bool fits = text.length < figures.find_first_not_of(' ');
    std::string line =
        text.text + (fits ? figures.substr(std::min(text.length, figures.size())) : "\n" + figures);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string rule(size_t width) {
    std::string text;
    for (size_t i = 0; i < width; ++i) {
        text += "─";
    }
    return text + "\n";
}

Figures figures_of(const TransferRecord &transfer) {
    return {transfer.bytes, 0, transfer.bytes_copy_in_copy_out, 1e3 * transfer.predicted, 0};
}
Figures figures_of(const UseReport &use) {
    Figures sum;
    sum.required = use.required;
    sum.took = use.took;
    for (const TransferRecord &transfer : use.transfers) {
        sum += figures_of(transfer);
    }
    return sum;
}
Figures figures_of(const StageReport &stage) {
    Figures sum;
    for (const UseReport &use : stage.uses) {
        sum += figures_of(use);
    }
    return sum;
}

std::string reason_of(const TransferRecord &transfer) {
    return transfer.result == PI_SUCCESS
               ? transfer.reason
               : std::string("failed with ") + result_name(transfer.result) + ": " +
                     transfer.reason;
}

} // namespace

Figures &Figures::operator+=(const Figures &other) {
    moved += other.moved;
    required += other.required;
    copy_in_copy_out += other.copy_in_copy_out;
    predicted += other.predicted;
    took += other.took;
    return *this;
}

size_t Report::page_width() const {
    return text_width + figure_width(headings().size()) * headings().size();
}

std::vector<std::string> Report::headings() const {
    if (simulated_) {
        return {"moved", "required", "predicted", "virtual", "done at"};
    }
    return {"moved", "required", "in + out", "done at"};
}

std::vector<std::string> Report::cells(const std::optional<Figures> &figures,
                                       double done_at) const {
    std::vector<std::string> cells(headings().size());
    if (figures) {
        cells[0] = bytes_text(figures->moved);
        cells[1] = bytes_text(figures->required);
    }
    if (figures && !simulated_) {
        cells[2] = bytes_text(figures->copy_in_copy_out);
    } else if (figures && figures->predicted > 0) {
        cells[2] = microseconds_text(1e3 * figures->predicted);
        cells[3] = microseconds_text(1e3 * figures->took);
    }
    if (done_at > 0) {
        cells.back() = milliseconds_text(done_at);
    }
    return cells;
}

Way way_of(const TransferRecord &transfer) {
    constexpr std::array ways{Way::none_needed, Way::direct_use, Way::import, Way::plugin_copy,
                              Way::bounce};
    const bool to_host = transfer.style == BounceStyle::read;
    const bool from_host = transfer.style == BounceStyle::write;
    return to_host     ? Way::read
           : from_host ? Way::write
                       : ways.at(static_cast<size_t>(transfer.kind));
}

WayCounts count_ways(const RoundReport &round) {
    WayCounts counts{};
    for (const StageReport &stage : round.stages) {
        for (const UseReport &use : stage.uses) {
            for (const TransferRecord &transfer : use.transfers) {
                if (!use.writes && transfer.result == PI_SUCCESS) {
                    ++counts.at(static_cast<size_t>(way_of(transfer)));
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
                                 const Work &work, bool in_place) const {
    std::string text = paint(bold, "image_pipeline") + ": " + picture + ", " +
                       std::to_string(width) + " x " + std::to_string(height) + " pixels\n\n";
    for (const std::string &line : wrapped(
             "Five stages process a picture, each at another place (a device in a context). Bytes "
             "that a stage reads and that its place lacks arrive by the cheapest route:",
             page_width())) {
        text += line + "\n";
    }
    for (const WayStyle &style : way_styles) {
        if (style.meaning != nullptr) {
            text += "  " + paint(style.colour, left(style.name, way_width)) + style.meaning + "\n";
        }
    }
    text += "\n" + paint(bold, "Places") + "\n";
    for (size_t i = 0; i < work.devices.size(); ++i) {
        const std::string &name = topology_.places[i + 1].name;
        const std::string title =
            work.devices[i].title + (name.ends_with("/own") ? ", in a context of its own" : "");
        text += "  " + left(name, 16) + shortened(title, page_width() - 18) + "\n";
    }
    for (const std::string &sentence : work.left_out) {
        text += "  left out: " + sentence + "\n";
    }
    for (const std::string &line : wrapped(
             in_place ? "All storages may be in host memory where devices can use it in place."
                      : "The picture, the overlay and the chart are in host memory; the storages "
                        "between the stages are in memory of the devices that write them.",
             page_width())) {
        text += line + "\n";
    }
    text +=
        "\n" + paint(bold, "Connections") +
        ": how the column's place can use memory of the row's place\n" + matrix() +
        paint(dim,
              "import/N: uses host memory in place if aligned to N bytes; mapped: the host maps "
              "it in place;\ncopied: only by copies") +
        "\n";
    return text;
}

std::string Report::costs(const std::string &file, const pi::runtime::LoadedCosts &loaded) const {
    std::string text = paint(bold, "Costs") + "\n";
    const std::string used = "Routes go by the measured costs of " + file + ".";
    for (const std::string &sentence : {loaded.costs ? used : "", loaded.message}) {
        for (const std::string &line : wrapped(sentence, page_width())) {
            text += line + "\n";
        }
    }
    return text;
}

/// Each column is as wide as its widest cell.
std::string Report::matrix() const {
    std::vector<std::vector<std::string>> rows;
    std::vector<size_t> widths;
    std::istringstream table(to_string(topology_)); // two or more blanks separate cells
    for (std::string line; std::getline(table, line);) {
        std::vector<std::string> &cells = rows.emplace_back();
        for (size_t begin = 0; begin < line.size();) {
            const size_t end = std::min(line.find("  ", begin), line.size());
            cells.push_back(line.substr(begin, end - begin));
            begin = std::min(line.find_first_not_of(' ', end), line.size());
        }
        widths.resize(std::max(widths.size(), cells.size()));
        for (size_t column = 0; column < cells.size(); ++column) {
            widths[column] = std::max(widths[column], cells[column].size() + 2);
        }
    }
    std::string text;
    for (const std::vector<std::string> &cells : rows) {
        for (size_t column = 0; column < cells.size(); ++column) {
            text += left(cells[column], widths[column]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

std::string Report::use(const UseReport &use, std::string &last_reason) const {
    const std::string head = std::string(indent, ' ') + left(use.storage, storage_width);
    const std::string blank(indent + storage_width, ' ');
    if (use.writes) {
        return row(Painted{colours_, {}}.add(head + "written"), cells(figures_of(use), 0));
    }
    std::string text;
    for (const TransferRecord &transfer : use.transfers) {
        const Way way = way_of(transfer);
        Painted line{colours_, {}};
        line.add(text.empty() ? head : blank)
            .add(left(style_of(way).name, way_width), style_of(way).colour);
        if (way != Way::none_needed) {
            line.add("from " + topology_.place(transfer.source).name);
        }
        Figures figures = figures_of(transfer);
        if (text.empty()) { // known of all together
            figures.required = use.required;
            figures.took = use.took;
        }
        text += row(line, cells(figures, 0));
        const std::string reason = reason_of(transfer);
        if (way != Way::none_needed && reason != last_reason) {
            for (const std::string &part : wrapped(reason, page_width() - blank.size())) {
                text += blank + paint(dim, part) + "\n";
            }
            last_reason = reason;
        }
    }
    return text;
}

std::string Report::explanation(const std::string &text) const {
    std::string out;
    size_t begin = 0;
    while (begin < text.size()) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        const size_t first = std::min(line.find_first_not_of(' '), line.size());
        const std::string blank(indent + storage_width + first, ' ');
        std::string hanging;
        for (const std::string &part :
             wrapped(line.substr(first), page_width() - blank.size() - 4)) {
            out += blank + hanging + paint(dim, part) + "\n";
            hanging = "    ";
        }
        begin = end + 1;
    }
    return out;
}

std::string Report::stage(size_t number, const StageReport &stage) const {
    const std::string title =
        std::to_string(number) + " " + stage.name + " at " + topology_.place(stage.place).name;
    std::string text = row(Painted{colours_, {}}.add(title, bold).add(": " + stage.purpose),
                           cells({}, stage.done_at));
    std::string last_reason;
    for (const UseReport &one : stage.uses) {
        text += use(one, last_reason);
        text += explanation(one.explanation);
    }
    return text;
}

std::string Report::stage_line(size_t number, const StageReport &stage) const {
    // Storages by the way that they came, in the order of the first of each way.
    std::vector<std::pair<Way, std::string>> parts;
    for (const UseReport &use : stage.uses) {
        for (const TransferRecord &transfer : use.transfers) {
            const Way way = way_of(transfer);
            if (use.writes || way == Way::none_needed) {
                continue;
            }
            const auto known = std::find_if(parts.begin(), parts.end(),
                                            [way](const auto &part) { return part.first == way; });
            if (known == parts.end()) {
                parts.emplace_back(way, use.storage);
            } else {
                known->second += ", " + use.storage;
            }
        }
    }
    constexpr size_t title_width = 31;
    std::vector<Painted> lines{{colours_, {}}};
    lines.back().add(
        left(std::to_string(number) + " " + stage.name + " at " + topology_.place(stage.place).name,
             title_width),
        bold);
    if (parts.empty()) {
        lines.back().add(style_of(Way::none_needed).name, style_of(Way::none_needed).colour);
    }
    for (const auto &[way, storages] : parts) {
        const bool is_first = lines.back().length == title_width;
        const std::string name = style_of(way).name;
        if (!is_first &&
            lines.back().length + 2 + length(name) + 1 + length(storages) > text_width) {
            lines.push_back(Painted{colours_, {}}.add(std::string(title_width, ' ')));
        } else if (!is_first) {
            lines.back().add("; ");
        }
        lines.back().add(name, style_of(way).colour).add(" " + storages);
    }
    std::string text = row(lines.front(), cells(figures_of(stage), stage.done_at));
    for (size_t i = 1; i < lines.size(); ++i) {
        text += row(lines[i], {});
    }
    return text;
}

std::string Report::round(uint32_t number, const RoundReport &round, bool in_full) const {
    std::string title = "Round " + std::to_string(number);
    if (number > 1) {
        title += ": the same work, every stage one place further on";
    }
    std::string text = row(Painted{colours_, {}}.add(title, bold), headings()) + rule(page_width());
    Figures total;
    for (size_t i = 0; i < round.stages.size(); ++i) {
        const StageReport &one = round.stages[i];
        text += in_full ? stage(i + 1, one) : stage_line(i + 1, one);
        total += figures_of(one);
    }
    return text + rule(page_width()) + row(Painted{colours_, {}}.add("total"), cells(total, 0));
}

std::string Report::summary(const Summary &summary) const {
    std::string text = paint(bold, "Routes") + "  ";
    for (size_t way = 1; way < way_count; ++way) {
        const uint64_t count = summary.ways.at(way);
        if (way_styles.at(way).meaning != nullptr || count != 0) {
            text += std::string(way == 1 ? "" : ", ") + way_styles.at(way).name + " " +
                    std::to_string(count) + "x";
        }
    }
    const Counters &counters = summary.counters;
    text +=
        "\n" + paint(bold, "Bytes") + "   " + bytes_text(counters.bytes_delivered) + " moved, " +
        (counters.bytes_delivered == counters.bytes_required
             ? "all of them required"
             : "and " + bytes_text(counters.bytes_required) + " required") +
        "; with copies in and out of each stage: " + bytes_text(counters.bytes_copy_in_copy_out);
    if (counters.uses_elsewhere != 0) {
        text += "\n        " + std::to_string(counters.uses_elsewhere) + " uses of " +
                bytes_text(counters.bytes_elsewhere) +
                " in another device's memory: how many bytes crossed the link is unknown";
    }
    text += "\n" + paint(bold, "Result") + "  edges and histogram equal the CPU reference: ";
    if (summary.difference.empty()) {
        return text + paint(green, "yes") + "; blurred, overlay and chart too\n";
    }
    return text + paint(red, "no") + ": " + summary.difference + "\n";
}

std::string Report::files(const std::string &folder) const {
    return paint(bold, "Files") +
           "   blurred.png, edges.png, histogram.png and overlay.png are in " + folder + "\n";
}

} // namespace image_pipeline
