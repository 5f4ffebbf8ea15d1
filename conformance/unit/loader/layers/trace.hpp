// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of the layer trace share: its file, read again.
#pragma once

#include "equipment.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>
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

inline uint64_t sum_of_bytes(const std::vector<json> &events) {
    uint64_t sum = 0;
    for (const json &event : events)
        sum += event.at("args").value("bytes", uint64_t{0});
    return sum;
}

} // namespace layer_test
