// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a successful run of image_pipeline.
#pragma once

#include "made_png.hpp"
#include "program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace pi_test {

struct PipelineRun {
    std::string output;
    nlohmann::json report;
};

/// Runs it with these arguments, and with options for its files.
inline PipelineRun run_pipeline(const std::vector<std::string> &arguments) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "report.json";
    std::vector<std::string> command{IMAGE_PIPELINE, "--output", folder.path(), "--json", file};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Ran ran = run(command);
    INFO(ran.output);
    REQUIRE(ran.exit_code == 0);
    std::ifstream stream(file);
    return {ran.output, nlohmann::json::parse(stream)};
}

/// The routes of all transfers of a round.
inline std::vector<std::string> routes_of(const nlohmann::json &round) {
    std::vector<std::string> found;
    for (const nlohmann::json &stage : round["stages"]) {
        for (const nlohmann::json &use : stage["uses"]) {
            for (const nlohmann::json &transfer : use["transfers"]) {
                found.push_back(transfer["route"]);
            }
        }
    }
    return found;
}

} // namespace pi_test
