// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels.hpp"

#include <cstddef>

namespace image_pipeline {

// Files that are made when the program is built.
extern const unsigned char embedded_ptx[], embedded_spirv[];
extern const std::size_t embedded_ptx_size, embedded_spirv_size;

std::string_view ptx_kernels() {
    return {reinterpret_cast<const char *>(embedded_ptx), embedded_ptx_size};
}
std::string_view spirv_kernels() {
    return {reinterpret_cast<const char *>(embedded_spirv), embedded_spirv_size};
}

std::vector<KernelForm> kernel_forms(std::string_view cubin) {
    std::vector<KernelForm> forms{
        {PI_PROGRAM_FORMAT_OPENCL_C, opencl_kernels().data(), opencl_kernels().size()},
        {PI_PROGRAM_FORMAT_NATIVE_TABLE, &native_kernels(), native_kernels().struct_size},
        {PI_PROGRAM_FORMAT_CUBIN, cubin.data(), cubin.size()},
        {PI_PROGRAM_FORMAT_PTX, ptx_kernels().data(), ptx_kernels().size()},
        {PI_PROGRAM_FORMAT_SPIRV, spirv_kernels().data(), spirv_kernels().size()}};
    std::erase_if(forms, [](const KernelForm &form) { return form.size == 0; });
    return forms;
}

} // namespace image_pipeline
