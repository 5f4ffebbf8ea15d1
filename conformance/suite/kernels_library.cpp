// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's kernels as a native library, which simulated devices of CUDA and Level Zero load.

#include "native_image_kernels.hpp"
#include "native_kernels.hpp"
#include "native_part_kernels.hpp"
#include "native_spirv_kernels.hpp"

#include <vector>

namespace pi::suite {
namespace {

std::vector<pi_native_kernel> all_kernels() {
    std::vector<pi_native_kernel> all;
    for (const pi_native_program *program :
         {&native_program, &native_value_program, &native_texture_program, &native_part_program,
          &native_spirv_program})
        all.insert(all.end(), program->kernels, program->kernels + program->kernel_count);
    return all;
}

} // namespace
} // namespace pi::suite

const pi_native_program *PI_CALL piNativeProgram(void) {
    static const std::vector<pi_native_kernel> kernels = pi::suite::all_kernels();
    static const pi_native_program program = {sizeof program, static_cast<uint32_t>(kernels.size()),
                                              kernels.data()};
    return &program;
}
