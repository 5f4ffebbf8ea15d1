// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a successful run of tensor_io, and checks that hold for each run.
#pragma once

#include "program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace pi_test {

/// Small, so that no compiler or simulator takes long; of odd size, so that rows are not aligned.
constexpr uint64_t tensor_frames = 12;
constexpr uint64_t tensor_width = 99;
constexpr uint64_t tensor_height = 61;
constexpr uint64_t tensor_input = tensor_width * tensor_height;
constexpr uint64_t tensor_results = tensor_input + 5 * sizeof(uint32_t); ///< labels and histogram

inline Ran run_tensor_io(const std::vector<std::string> &arguments) {
    std::vector<std::string> command{TENSOR_IO,
                                     "--frames",
                                     std::to_string(tensor_frames),
                                     "--width",
                                     std::to_string(tensor_width),
                                     "--height",
                                     std::to_string(tensor_height)};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command);
}

/// How many frames have this stage at a device, and not in the application.
inline uint64_t frames_at_devices(const nlohmann::json &way, const std::string &name) {
    uint64_t count = 0;
    for (const nlohmann::json &frame : way["frames"]) {
        for (const nlohmann::json &stage : frame["stages"]) {
            count += stage["name"] == name && stage["place"] != "host" ? 1 : 0;
        }
    }
    return count;
}

/// All transfers of a storage: {"stage", "route", "style", "reason", "bytes"...}.
inline std::vector<nlohmann::json> transfers_of(const nlohmann::json &way,
                                                const std::string &storage) {
    std::vector<nlohmann::json> found;
    for (const nlohmann::json &frame : way["frames"]) {
        for (const nlohmann::json &stage : frame["stages"]) {
            for (const nlohmann::json &use : stage["uses"]) {
                for (nlohmann::json transfer : use["transfers"]) {
                    transfer["stage"] = stage["name"];
                    if (use["storage"] == storage) {
                        found.push_back(std::move(transfer));
                    }
                }
            }
        }
    }
    return found;
}

inline uint64_t moved(const nlohmann::json &way, const std::string &storage) {
    uint64_t bytes = 0;
    for (const nlohmann::json &transfer : transfers_of(way, storage)) {
        bytes += transfer["bytes"].get<uint64_t>();
    }
    return bytes;
}

/// Runs it, and checks that the results are right in both ways, that nothing failed, that the
/// stages' bytes add up to the runtime's counters, and that copies in and out move exactly the
/// required bytes.
inline nlohmann::json tensor_io_report(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--report", "json"});
    const Ran ran = run_tensor_io(arguments);
    INFO(ran.output.substr(0, 4000));
    REQUIRE(ran.exit_code == 0);
    const nlohmann::json report = nlohmann::json::parse(ran.output);
    CHECK(report["equal"] == true);
    CHECK(report["difference"] == "");
    for (const char *name : {"zero_copy", "copy_in_copy_out"}) {
        const nlohmann::json &way = report["ways"][name];
        INFO(name);
        CHECK(way["frames"].size() == tensor_frames);
        CHECK(way["input"]["bytes_delivered"] == moved(way, "input"));
        CHECK(way["output"]["bytes_delivered"] == moved(way, "labels") + moved(way, "histogram"));
        CHECK(way["between"]["bytes_delivered"] == moved(way, "plane") + moved(way, "features"));
        for (const char *part : {"input", "output", "between"}) {
            CHECK(way[part]["bytes_delivered"] == way[part]["bytes_required"]);
        }
        for (const char *storage : {"input", "plane", "features", "labels", "histogram"}) {
            CHECK(transfers_of(way, storage).size() >= tensor_frames);
            for (const nlohmann::json &transfer : transfers_of(way, storage)) {
                CHECK(transfer["result"] == "PI_SUCCESS");
                CHECK(transfer["reason"] != "");
            }
        }
    }
    const nlohmann::json &zero = report["ways"]["zero_copy"];
    CHECK(zero["bytes_copied"] == 0);
    const nlohmann::json &copy = report["ways"]["copy_in_copy_out"];
    CHECK(copy["bytes_copied"] == tensor_frames * (tensor_input + tensor_results));
    CHECK(copy["input"]["bytes_delivered"] == frames_at_devices(copy, "normalise") * tensor_input);
    CHECK(copy["output"]["bytes_delivered"] ==
          frames_at_devices(copy, "classify") * tensor_results);
    // Storages between the stages are the same in both ways.
    CHECK(copy["between"]["bytes_delivered"] == zero["between"]["bytes_delivered"]);
    return report;
}

/// Not one byte of the application's memory has moved.
inline void check_nothing_moved(const nlohmann::json &report) {
    const nlohmann::json &zero = report["ways"]["zero_copy"];
    CHECK(frames_at_devices(zero, "normalise") > 0);
    CHECK(frames_at_devices(zero, "classify") > 0);
    CHECK(zero["input"]["bytes_delivered"] == 0);
    CHECK(zero["output"]["bytes_delivered"] == 0);
    CHECK(moved(zero, "input") == 0);
    CHECK(moved(zero, "labels") == 0);
}

} // namespace pi_test
