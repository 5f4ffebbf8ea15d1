// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces icd.cpp and plugin_opencl.cpp if the headers of OpenCL are missing.
#include "session.hpp"

namespace pi_bench {
namespace {

constexpr const char *reason = "pi-bench was built without the headers of OpenCL";

} // namespace

void bench_calls_beside_icd(Session &session) {
    session.skip("calls against the OpenCL ICD loader's", reason);
}

void bench_plugin_opencl(Session &session) {
    session.skip("OpenCL", reason);
}

} // namespace pi_bench
