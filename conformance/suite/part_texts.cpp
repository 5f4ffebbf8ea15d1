// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "part_texts.hpp"

#include "library.hpp"

namespace pi::suite {
namespace {

constexpr const char *opencl_caller = R"(
uint changed(uint value);
kernel void change(global uint *data) { data[get_global_id(0)] = changed(data[get_global_id(0)]); }
)";
constexpr const char *opencl_callee = "uint changed(uint value) { return value * FACTOR + 1; }";
constexpr const char *opencl_broken = "uint changed(uint value) { return nonsense; }";

// The lines for the simulated compiler (plugins/cuda/simulator/README.md) are comments for the real
// one.
constexpr const char *cuda_caller = R"(//PI function change pointer
//PI import changed call_changed
extern __device__ unsigned changed(unsigned value);
extern "C" __global__ void change(unsigned *data) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = changed(data[i]);
}
)";
constexpr const char *cuda_callee = R"(//PI export changed
//PI constant factor FACTOR
__device__ unsigned changed(unsigned value) { return value * FACTOR + 1; }
)";
constexpr const char *cuda_broken = R"(//PI export changed
//PI constant factor nonsense
__device__ unsigned changed(unsigned value) { return nonsense; }
)";

PartTexts make_texts(pi_program_format format, const std::string &begin, const char *caller,
                     const char *callee, const char *broken) {
    return {{format, begin + caller},
            {format, begin + callee},
            {format, begin + broken},
            {format, begin + caller + begin + callee}};
}

} // namespace

PartTexts part_texts(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_PROGRAM_LINK, "PI_CAPABILITY_PROGRAM_LINK");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    if ((formats & (1u << PI_PROGRAM_FORMAT_OPENCL_C)) != 0)
        return make_texts(PI_PROGRAM_FORMAT_OPENCL_C, "", opencl_caller, opencl_callee,
                          opencl_broken);
    if ((formats & (1u << PI_PROGRAM_FORMAT_CUDA_C)) != 0)
        return make_texts(PI_PROGRAM_FORMAT_CUDA_C,
                          join("//PI library ", suite_library(PI_SUITE_PARTS_LIBRARY), '\n'),
                          cuda_caller, cuda_callee, cuda_broken);
    skip("the suite has parts of programs in OpenCL C and CUDA C++ only, which the device does not "
         "run");
}

} // namespace pi::suite
