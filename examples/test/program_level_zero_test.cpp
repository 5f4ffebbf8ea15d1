// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// image_pipeline on two simulated Level Zero devices, and on devices of CUDA, OpenCL and the host
// plugin.
#include "kernels.hpp"
#include "pipeline_report.hpp"
#include "skip.hpp"

#include <sstream>

using pi_test::PipelineRun;
using pi_test::routes_of;
using pi_test::run_pipeline;

namespace {

bool can_run() {
    if (!examples::spirv_kernels().empty()) {
        return true;
    }
    pi_test::skip("needs clang and llvm-spirv, to have SPIR-V");
    return false;
}

/// A row of the connection matrix: how each place can use memory of a place.
std::vector<std::string> row_of(const std::string &output, const std::string &place) {
    std::istringstream lines(output.substr(std::min(output.find("from \\ to"), output.size())));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
        if (!row.empty() && row.front() == place) {
            row.erase(row.begin());
            return row;
        }
    }
    FAIL("the matrix has no row of " + place);
    return {};
}

} // namespace

TEST_CASE("between Level Zero devices with peer access bytes are used in place") {
    if (!can_run()) {
        return;
    }
    const nlohmann::json report =
        run_pipeline({"--devices", "level_zero:0:0,level_zero:0:1"}).report;
    INFO(report.dump(2));
    CHECK(report["equal"] == true);
    for (const nlohmann::json &round : report["rounds"]) {
        for (const std::string &route : routes_of(round)) {
            CHECK(route != "host_bounce");
        }
    }
}

TEST_CASE(
    "one process runs the pipeline over devices of all backends, and shows their connections") {
    if (!can_run()) {
        return;
    }
    if (pi_test::run({IMAGE_PIPELINE, "--list"}).output.find("opencl:0:0") == std::string::npos) {
        return pi_test::skip("needs an OpenCL device");
    }
    const PipelineRun ran =
        run_pipeline({"--cubin", CUDA_MODULE, "--devices",
                      "level_zero:0:0,opencl:0:0,cuda:0:0,level_zero:0:1,host:0:0"});
    INFO(ran.output);
    CHECK(ran.report["equal"] == true);
    // from, to: the host, both of Level Zero, OpenCL, CUDA, the host plugin
    const std::vector<std::string> first{"copied", "unified", "unified", "none", "none", "none"};
    CHECK(row_of(ran.output, "level_zero:0:0") == first);
    CHECK(row_of(ran.output, "level_zero:0:1") == first);
    CHECK(row_of(ran.output, "opencl:0:0").at(3) == "unified");
    CHECK(row_of(ran.output, "opencl:0:0").at(1) == "none");
    CHECK(row_of(ran.output, "cuda:0:0").at(4) == "unified");
    CHECK(row_of(ran.output, "cuda:0:0").at(2) == "none");
    CHECK(row_of(ran.output, "host:0:0").at(5) == "unified");
}
