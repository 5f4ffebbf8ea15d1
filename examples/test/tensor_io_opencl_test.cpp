// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor_io on OpenCL devices and the host plugin.
#include "skip.hpp"
#include "tensor_io_report.hpp"

using nlohmann::json;
using namespace pi_test;

namespace {

/// Whether there is such a device; else the test is skipped.
bool has_device(const std::string &selector) {
    if (run_tensor_io({"--devices", selector}).output.find("results equal") != std::string::npos) {
        return true;
    }
    skip("needs the device " + selector);
    return false;
}

} // namespace

TEST_CASE("an OpenCL device that is the processor uses the application's rings in place") {
    if (!has_device("opencl:0:0")) {
        return;
    }
    const json report = tensor_io_report({"--devices", "opencl:0:0,host,application"});
    check_nothing_moved(report);
    CHECK(report["ways"]["zero_copy"]["input"]["hand_overs"] > 0); // by map and unmap
}

TEST_CASE("slots that no device may import reach OpenCL devices by writes, without a memcpy") {
    if (!has_device("opencl:0:0")) {
        return;
    }
    const json report =
        tensor_io_report({"--devices", "opencl:0:0,application", "--memory", "unimportable"});
    const json &zero = report["ways"]["zero_copy"];
    CHECK(zero["input"]["bytes_delivered"] == tensor_frames / 2 * tensor_input);
    CHECK(zero["output"]["bytes_delivered"] == tensor_frames / 2 * tensor_results);
}

TEST_CASE("all devices that there are, of any OpenCL, give the plain computation's results from "
          "unaligned slots") {
    if (!has_device("opencl:0:0")) {
        return;
    }
    tensor_io_report({"--memory", "unaligned"});
}
