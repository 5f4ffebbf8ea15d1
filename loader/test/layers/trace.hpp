// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common parts of the tests of the layer trace: its file, parsed.
#pragma once

#include "equipment.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace layer_test {

using nlohmann::json;

inline Description traced(const std::string &file, CapturedLog *log = nullptr) {
    return with_layers({"trace"}, {{"PI_TRACE_FILE", file}}, log);
}

inline std::vector<json> read_events(const std::string &file) {
    std::ifstream stream(file);
    INFO(file);
    REQUIRE(stream);
    return json::parse(stream).at("traceEvents").get<std::vector<json>>();
}

inline std::vector<json> of_category(const std::vector<json> &events, const std::string &category) {
    std::vector<json> found;
    std::copy_if(events.begin(), events.end(), std::back_inserter(found),
                 [&](const json &event) { return event.value("cat", "") == category; });
    return found;
}

/// A queue's commands, by name.
inline std::vector<json> commands(const std::vector<json> &events, const std::string &name = "") {
    std::vector<json> found = of_category(events, "command");
    found.erase(std::remove_if(
                    found.begin(), found.end(),
                    [&](const json &event) { return !name.empty() && event.at("name") != name; }),
                found.end());
    return found;
}

/// From microseconds with three decimals.
inline int64_t nanoseconds(const json &time) {
    return std::llround(time.get<double>() * 1000);
}

inline bool on_one_track(const json &a, const json &b) {
    return a.at("pid") == b.at("pid") && a.at("tid") == b.at("tid");
}

/// Slices of one track do not overlap, and are written in order.
inline void check_in_order(const std::vector<json> &events) {
    std::map<std::pair<int64_t, int64_t>, int64_t> ends;
    for (const json &event : events) {
        REQUIRE(event.at("ph") == "X");
        int64_t &end = ends[{event.at("pid"), event.at("tid")}];
        CHECK(nanoseconds(event.at("dur")) >= 0);
        CHECK(nanoseconds(event.at("ts")) >= end);
        end = nanoseconds(event.at("ts")) + nanoseconds(event.at("dur"));
    }
}

inline std::string name_of(const std::vector<json> &events, const char *what, const json &pid,
                           const json &tid) {
    for (const json &event : events) {
        if (event.at("ph") == "M" && event.at("name") == what && event.at("pid") == pid &&
            (event.at("tid") == tid || std::string(what) == "process_name"))
            return event.at("args").at("name");
    }
    return "";
}

inline uint64_t sum_of_bytes(const std::vector<json> &events) {
    uint64_t sum = 0;
    for (const json &event : events)
        sum += event.at("args").value("bytes", uint64_t{0});
    return sum;
}

} // namespace layer_test
