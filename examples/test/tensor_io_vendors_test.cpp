// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor_io on simulated CUDA and Level Zero devices, and in the application.
#include "kernels.hpp"
#include "skip.hpp"
#include "tensor_io_report.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;
using namespace pi_test;

TEST_CASE("devices of CUDA get the application's frames straight from its slots, and give the "
          "results back there") {
    const std::string memory = GENERATE("aligned", "unaligned");
    INFO(memory);
    const json report = tensor_io_report(
        {"--cubin", CUDA_MODULE, "--devices", "cuda:0:0,cuda:0:1,application", "--memory", memory});
    const json &zero = report["ways"]["zero_copy"];
    CHECK(zero["input"]["bytes_delivered"] == frames_at_devices(zero, "normalise") * tensor_input);
    CHECK(zero["output"]["bytes_delivered"] ==
          frames_at_devices(zero, "classify") * tensor_results);
}

TEST_CASE("devices of Level Zero get the application's frames straight from its slots, and give "
          "the results back there") {
    if (examples::spirv_kernels().empty()) {
        return skip("needs clang and llvm-spirv, to have SPIR-V");
    }
    const std::string memory = GENERATE("aligned", "unaligned");
    INFO(memory);
    const json report = tensor_io_report(
        {"--devices", "level_zero:0:0,application,level_zero:0:1", "--memory", memory});
    const json &zero = report["ways"]["zero_copy"];
    CHECK(zero["input"]["bytes_delivered"] == frames_at_devices(zero, "normalise") * tensor_input);
    CHECK(zero["output"]["bytes_delivered"] ==
          frames_at_devices(zero, "classify") * tensor_results);
}

TEST_CASE("one process runs the chain over devices of all backends") {
    if (examples::spirv_kernels().empty()) {
        return skip("needs clang and llvm-spirv, to have SPIR-V");
    }
    const json report =
        tensor_io_report({"--cubin", CUDA_MODULE, "--devices",
                          "level_zero:0:0,cuda:0:0,host,application,cuda:0:1,level_zero:0:1"});
    CHECK(report["places"].size() == 6);
}

TEST_CASE(
    "kernels that compute something else are found out: exit code 1, with the first difference") {
    const Ran ran = run_tensor_io({"--cubin", WRONG_MODULE, "--devices", "cuda:0:0"});
    INFO(ran.output);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.output, Contains("results equal the plain computation: no: frame 0: labels[") &&
                               Contains(", expected "));
}
