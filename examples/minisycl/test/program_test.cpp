// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program minisycl, as a user runs it: each ctest entry runs the cases of one plugin, with its
// devices.
#include "program.hpp"
#include "skip.hpp"

#include <catch2/catch.hpp>

#include <string>

using Catch::Matchers::Contains;
using pi_test::Ran;
using pi_test::run;

namespace {

/// Each classic on each device of a selector: all are right, and none is skipped.
void all_right(const std::string &devices, const std::vector<std::string> &more = {},
               std::vector<std::string> command = {}) {
    command.insert(command.end(), {MINISYCL, "--devices", devices});
    command.insert(command.end(), more.begin(), more.end());
    const Ran ran = run(command);
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    for (const char *classic :
         {"vector_add on ", "stencil over ", "matrix_product on ", "reduction on "}) {
        CHECK_THAT(ran.output, Contains(classic));
    }
    CHECK_THAT(ran.output, Contains(" right, 0 wrong, 0 skipped"));
    CHECK_THAT(ran.output, Contains("from \\ to") && Contains("storage  from -> to"));
}

bool has(const std::string &device) {
    const Ran ran = run({MINISYCL, "vector_add", "--devices", device, "--size", "1"});
    if (ran.output.find("PI_ERROR_INVALID_NAME") == std::string::npos) {
        return true;
    }
    pi_test::skip("needs " + device);
    return false;
}

} // namespace

TEST_CASE("each classic is right on the host, of any size", "[.][host]") {
    all_right("host");
    for (const char *size : {"1", "2", "37"}) {
        all_right("host", {"--size", size});
    }
}

TEST_CASE("an unknown device is refused with a list of the existing ones", "[.][host]") {
    const Ran ran = run({MINISYCL, "--devices", "host:7"});
    INFO(ran.output);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.output, Contains("host:7") && Contains("host:0:0"));
}

TEST_CASE("an unknown classic is refused with a list of the existing ones", "[.][host]") {
    const Ran ran = run({MINISYCL, "quicksort", "--devices", "host"});
    INFO(ran.output);
    CHECK(ran.exit_code == 2);
    CHECK_THAT(ran.output, Contains("quicksort") && Contains("matrix_product"));
}

TEST_CASE("each classic is right on simulated devices, and together with the host plugin",
          "[.][sim]") {
    all_right("sim");
    all_right("host,sim:0:1,sim:0:0", {"--size", "37"});
}

TEST_CASE("kernels find parts of buffers if a device needs aligned arguments", "[.][sim]") {
    // 128 bytes: a row has 148
    all_right("host,sim", {"--size", "37"}, {"env", "PI_SIM_MACHINE=" MACHINES "/dsp.json"});
}

TEST_CASE("the routes are printed with bytes and reasons", "[.][sim]") {
    const Ran ran = run({MINISYCL, "stencil", "--devices", "sim", "--size", "64"});
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    // 7 steps of one row of 64 numbers each way, half of them of each buffer
    CHECK_THAT(ran.output, Contains("3584 bytes of halo rows moved between the steps; 3584 are"));
    CHECK_THAT(ran.output, Contains("migrate") && Contains("4 times: "));
}

TEST_CASE("each classic is right on OpenCL, and together with the host plugin", "[.][opencl]") {
    if (has("opencl:0:0")) {
        all_right("opencl:0:0");
        all_right("host,opencl:0:0", {"--size", "37"});
    }
}

TEST_CASE("each classic is right on CUDA, and together with the host plugin", "[.][cuda]") {
    all_right("cuda", {"--cubin", CUDA_MODULE});
    all_right("cuda:0:0,host,cuda:0:1", {"--cubin", CUDA_MODULE, "--size", "37"});
}

TEST_CASE("a device that accepts none of the forms is reported and counted as skipped",
          "[.][cuda]") {
    const Ran ran = run({MINISYCL, "--devices", "cuda:0:0,host"});
    INFO(ran.output);
    CHECK(ran.exit_code == 77);
    // The stencil needs all devices.
    CHECK_THAT(ran.output, Contains("3 right, 0 wrong, 4 skipped"));
    CHECK_THAT(
        ran.output,
        Contains("vector_add on cuda:0:0: skipped: kernel vector_add is there as C++, OpenCL C, "
                 "CUDA C++") &&
            Contains("cuda:0:0 takes PTX, cubin"));
}

TEST_CASE("NVRTC compiles the kernels, if it is installed", "[.][cuda]") {
    const Ran ran = run({"env", "-u", "PI_NVRTC_LIBRARY", MINISYCL, "--devices", "cuda:0:0"});
    INFO(ran.output);
    if (ran.output.find("4 skipped") != std::string::npos) {
        return pi_test::skip("needs NVRTC");
    }
    // Its output is no code for a simulated device; an error in the source would be reported
    // before.
    CHECK_THAT(ran.output, Contains("0 right, 4 wrong, 0 skipped") &&
                               Contains("a simulated device has no compiler for PTX"));
    CHECK_THAT(ran.output, !Contains("error"));
}

TEST_CASE("each classic is right on Level Zero, and on the devices of all plugins at once",
          "[.][level_zero]") {
    if (run({MINISYCL, "vector_add", "--devices", "level_zero:0:0"}).exit_code == 77) {
        return pi_test::skip("needs clang and llvm-spirv, to have SPIR-V");
    }
    all_right("level_zero");
    if (has("opencl:0:0")) {
        all_right("level_zero:0:0,opencl:0:0,cuda:0:0,sim:0:0,host,cuda:0:1",
                  {"--cubin", CUDA_MODULE, "--size", "61"});
    }
}
