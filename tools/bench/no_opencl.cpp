// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In place of icd.cpp and plugin_opencl.cpp where the headers of OpenCL are missing.
#include "session.hpp"

namespace pi_bench {
namespace {

constexpr const char *reason = "pi-bench was built without the headers of OpenCL";

} // namespace

void bench_calls_beside_icd(Session &session) {
    session.leave_out("calls against the OpenCL ICD loader's", reason);
}

void bench_plugin_opencl(Session &session) {
    session.leave_out("OpenCL", reason);
}

} // namespace pi_bench
