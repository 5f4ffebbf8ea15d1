// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels.hpp"

namespace image_pipeline {

std::vector<KernelForm> kernel_forms(std::string_view cubin) {
    std::vector<KernelForm> forms{
        {PI_PROGRAM_FORMAT_OPENCL_C, opencl_kernels().data(), opencl_kernels().size()},
        {PI_PROGRAM_FORMAT_NATIVE_TABLE, &native_kernels(), native_kernels().struct_size},
        {PI_PROGRAM_FORMAT_CUBIN, cubin.data(), cubin.size()},
        {PI_PROGRAM_FORMAT_PTX, ptx_kernels().data(), ptx_kernels().size()}};
    std::erase_if(forms, [](const KernelForm &form) { return form.size == 0; });
    return forms;
}

} // namespace image_pipeline
