// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "spirv.hpp"

#include "describe.hpp"

namespace pi::suite {

#define PI_SUITE_EMBEDDED(X)                                                                       \
    X(broken)                                                                                      \
    X(callee)                                                                                      \
    X(caller)                                                                                      \
    X(constants)                                                                                   \
    X(groups)                                                                                      \
    X(image_kernels)                                                                               \
    X(kernels)                                                                                     \
    X(sub_groups)

// Defined in the library pi_suite_programs.
#define PI_SUITE_DECLARE(name)                                                                     \
    extern const unsigned char embedded_##name[];                                                  \
    extern const std::size_t embedded_##name##_size;
PI_SUITE_EMBEDDED(PI_SUITE_DECLARE)
PI_SUITE_DECLARE(opencl_c_kernels)
PI_SUITE_DECLARE(opencl_c_image_kernels)
PI_SUITE_DECLARE(ptx_kernels)

Embedded opencl_c_kernels() {
    return {embedded_opencl_c_kernels, embedded_opencl_c_kernels_size};
}
Embedded opencl_c_image_kernels() {
    return {embedded_opencl_c_image_kernels, embedded_opencl_c_image_kernels_size};
}
Embedded ptx_kernels() {
    return {embedded_ptx_kernels, embedded_ptx_kernels_size};
}

namespace spirv {
#define PI_SUITE_DEFINE(name)                                                                      \
    Embedded name() {                                                                              \
        return {embedded_##name, embedded_##name##_size};                                          \
    }
PI_SUITE_EMBEDDED(PI_SUITE_DEFINE)
} // namespace spirv

void need_spirv(Fixture &fixture, pi_device device) {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM", device);
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, device != nullptr ? device : fixture.device(),
                           PI_DEVICE_INFO_PROGRAM_FORMATS);
    if ((formats & (1u << PI_PROGRAM_FORMAT_SPIRV)) == 0)
        skip("the device does not run SPIR-V");
    if (spirv::kernels().empty())
        skip("the suite was built without a compiler for SPIR-V (clang, llvm-spirv-15)");
}

Program create_spirv(pi_context context, Embedded module) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_SPIRV;
    desc.data = module.data();
    desc.size = module.size();
    Program program;
    require_success(piProgramCreate(context, &desc, program.out()), "piProgramCreate of SPIR-V");
    return program;
}

} // namespace pi::suite
