// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// image_pipeline on two simulated CUDA devices, OpenCL and the host plugin.
#include "kernels.hpp"
#include "pipeline_report.hpp"
#include "skip.hpp"

#include <algorithm>
#include <string>

using Catch::Matchers::Contains;
using nlohmann::json;
using pi_test::Ran;
using pi_test::run;

namespace {

json report_of(const std::string &devices) {
    return pi_test::run_pipeline({"--cubin", CUDA_MODULE, "--devices", devices}).report;
}

} // namespace

TEST_CASE("between CUDA devices bytes are used in place, or the driver copies them") {
    const json report = report_of("cuda:0:0,cuda:0:1");
    INFO(report.dump(2));
    CHECK(report["equal"] == true);
    for (const json &round : report["rounds"]) {
        for (const std::string &route : pi_test::routes_of(round)) {
            CHECK(route != "host_bounce");
        }
    }
}

TEST_CASE(
    "a pipeline over devices of CUDA, of OpenCL and the host gives the reference's pictures") {
    if (run({IMAGE_PIPELINE, "--list"}).output.find("opencl:0:0") == std::string::npos) {
        return pi_test::skip("needs an OpenCL device");
    }
    const json report = report_of("cuda:0:0,opencl:0:0,cuda:0:1,host");
    INFO(report.dump(2));
    CHECK(report["equal"] == true);
    const std::vector<std::string> taken = pi_test::routes_of(report["rounds"][0]);
    CHECK(std::count(taken.begin(), taken.end(), "host_bounce") > 0);
}

TEST_CASE("a CUDA device that cannot compile the kernels is reported with the driver's log") {
    if (examples::ptx_kernels().empty()) {
        return pi_test::skip("needs clang, to have PTX");
    }
    const pi_test::TemporaryFolder folder;
    const Ran ran = run({IMAGE_PIPELINE, "--output", folder.path(), "--devices", "cuda:0:0"});
    INFO(ran.output);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.output, Contains("kernels.cl for cuda:0:0"));
}

TEST_CASE("PTX has all kernels, and calls no undefined function") {
    const std::string text(examples::ptx_kernels());
    if (text.empty()) {
        return pi_test::skip("needs clang, to have PTX");
    }
    const pi_native_program &native = examples::native_kernels();
    for (uint32_t index = 0; index < native.kernel_count; ++index) {
        CHECK_THAT(text,
                   Contains(".visible .entry " + std::string(native.kernels[index].name) + "("));
    }
    CHECK(text.find(".extern") == std::string::npos);
}
