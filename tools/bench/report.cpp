// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace pi_bench {
namespace {

std::string padded(const std::string &text, size_t width) {
    return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string right(const std::string &text, size_t width) {
    return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string rounded(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

/// Three significant digits.
std::string number(double value) {
    return rounded(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const size_t colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
            return line.substr(colon + 2);
        }
    }
    return "unknown processor";
}

/// The limits in the order of their first row.
std::vector<std::string> limit_names(const std::vector<Row> &rows) {
    std::vector<std::string> names;
    for (const Row &row : rows) {
        if (std::find(names.begin(), names.end(), row.limit_name) == names.end()) {
            names.push_back(row.limit_name);
        }
    }
    return names;
}

std::string limit_number(const std::vector<std::string> &names, const std::string &name) {
    return "[" + std::to_string(std::find(names.begin(), names.end(), name) - names.begin() + 1) +
           "]";
}

} // namespace

std::string machine() {
    std::string text = processor();
    text += ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs";
    utsname system{};
    if (uname(&system) == 0) {
        text += std::string(", ") + system.sysname + " " + system.release;
    }
    double load = 0;
    if (getloadavg(&load, 1) == 1) {
        text += ", load " + rounded(load, 2);
    }
    return text;
}

std::string date() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::string table(const std::vector<Row> &rows, const std::vector<NotMeasured> &not_measured,
                  size_t columns) {
    size_t width = 4;
    for (const Row &row : rows) {
        width = std::max(width, row.name.size());
    }
    const std::vector<std::string> limits = limit_names(rows);
    constexpr size_t figures = 37; // columns except the name
    const bool two_lines = columns != 0 && width + 2 + figures > columns;
    const auto begin = [&](const std::string &name) {
        return two_lines ? name + "\n  " : padded(name, width + 2);
    };
    std::string text;
    if (!rows.empty()) {
        text = begin("name") + right("ours", 9) + right("limit", 9) + "      " + right("ratio", 7) +
               "\n";
    }
    for (const Row &row : rows) {
        text += begin(row.name) + right(number(row.ours), 9) + right(number(row.limit), 9) + " " +
                padded(row.unit, 5) + right(rounded(row.ratio, 3), 7) + "  " +
                limit_number(limits, row.limit_name) + "\n";
    }
    for (const std::string &limit : limits) {
        text += "  " + limit_number(limits, limit) + " limit: " + limit + "\n";
    }
    for (const NotMeasured &row : not_measured) {
        text += "not measured: " + row.name + ": " + row.reason + "\n";
    }
    return text;
}

std::string json(const std::string &machine, const std::string &date, const std::vector<Row> &rows,
                 const std::vector<NotMeasured> &not_measured) {
    using nlohmann::ordered_json;
    ordered_json list = ordered_json::array();
    for (const Row &row : rows) {
        list.push_back({{"name", row.name},
                        {"ours", row.ours},
                        {"limit", row.limit},
                        {"limit_name", row.limit_name},
                        {"ratio", row.ratio},
                        {"unit", row.unit}});
    }
    ordered_json missing = ordered_json::array();
    for (const NotMeasured &row : not_measured) {
        missing.push_back({{"name", row.name}, {"reason", row.reason}});
    }
    const ordered_json document = {
        {"machine", machine}, {"date", date}, {"rows", list}, {"not_measured", missing}};
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace pi_bench
