// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SPIR-V where a driver supports it: what the conformance suite cannot see.
#include "fixture.hpp"
#include "skip.hpp"

#include <pi/sdk/verification_kernel.hpp>

#include <cstring>

using namespace opencl_test;

namespace {

// OpCapability Kernel and Addresses, OpMemoryModel Physical64 OpenCL, and a specialization constant
// of id 3 that is a uint.
constexpr uint32_t module_words[] = {
    0x07230203,     0x00010000, 0,  10, 0, // header
    (2 << 16) | 17, 6,                     // OpCapability Kernel
    (2 << 16) | 17, 4,                     // OpCapability Addresses
    (3 << 16) | 14, 2,          2,         // OpMemoryModel Physical64 OpenCL
    (4 << 16) | 71, 2,          1,  3,     // OpDecorate %2 SpecId 3
    (4 << 16) | 21, 1,          32, 0,     // %1 = OpTypeInt 32 0
    (4 << 16) | 50, 1,          2,  42,    // %2 = OpSpecConstant %1 42
};

pi_program_desc module_desc() {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_SPIRV;
    desc.data = module_words;
    desc.size = sizeof module_words;
    return desc;
}

bool takes_spirv(pi_device device) {
    return info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_PROGRAM_FORMATS) &
           1u << PI_PROGRAM_FORMAT_SPIRV;
}

/// NULL if there is none: then the test is skipped.
pi_device find_device(const Loader &loader, bool with_spirv) {
    for (pi_device device : loader.devices())
        if (takes_spirv(device) == with_spirv)
            return device;
    pi_test::skip(with_spirv ? "no device takes SPIR-V" : "all devices take SPIR-V");
    return nullptr;
}

bool has_constants(pi_device device) {
    return info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_CAPABILITIES) &
           PI_CAPABILITY_SPECIALIZATION;
}

} // namespace

TEST_CASE("a device without SPIR-V says so, with the reason", "[il]") {
    const Loader loader;
    const pi_device device = find_device(loader, false);
    if (!device)
        return;
    const Context context = make_context({device});
    const pi_program_desc desc = module_desc();
    pi_program program = nullptr;
    refused(piProgramCreate(context, &desc, &program), PI_ERROR_UNSUPPORTED_FEATURE,
            {"does not accept SPIR-V", "CL_DEVICE_IL_VERSION"});
    const pi_program_binary binaries[] = {{"spirv64", PI_PROGRAM_FORMAT_SPIRV, 0},
                                          {"opencl_c", PI_PROGRAM_FORMAT_OPENCL_C, 0}};
    uint32_t index = 0;
    OK(piDeviceSelectBinary(device, 2, binaries, &index));
    CHECK(index == 1);
}

TEST_CASE("SPIR-V is preferred to source", "[il]") {
    const Loader loader;
    const pi_device device = find_device(loader, true);
    if (!device)
        return;
    const pi_program_binary binaries[] = {{"opencl_c", PI_PROGRAM_FORMAT_OPENCL_C, 0},
                                          {"spirv64", PI_PROGRAM_FORMAT_SPIRV, 0}};
    uint32_t index = 0;
    OK(piDeviceSelectBinary(device, 2, binaries, &index));
    CHECK(index == 1);
}

TEST_CASE("the verification kernel in SPIR-V copies words on a device that supports it", "[il]") {
    const Loader loader;
    const pi_device device = find_device(loader, true);
    if (!device)
        return;
    const Place place(device);
    const pi_verification_kernel known = pi::sdk::spirv_verification_kernel();
    pi_program_desc desc = module_desc();
    desc.data = known.data;
    desc.size = known.size;
    Program program;
    OK(piProgramCreate(place.context, &desc, program.out()));
    OK(piProgramBuild(program, nullptr));
    const Kernel kernel = make_kernel(program, known.name);
    std::vector<uint8_t> bytes(4096);
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
    const Mem from = place.buffer(bytes.size()), to = place.buffer(bytes.size());
    set_contents(place.queue, from, bytes);
    set_contents(place.queue, to, std::vector<uint8_t>(bytes.size()));
    wait(launch(place.queue, kernel, bytes.size() / 4,
                {buffer_argument(from), buffer_argument(to)}));
    CHECK(contents(place.queue, to) == bytes);
}

TEST_CASE("errors of specialization constants name what would be right", "[il]") {
    const Loader loader;
    const pi_device device = find_device(loader, true);
    if (!device)
        return;
    if (!has_constants(device)) {
        pi_test::skip("the device has no specialization constants");
        return;
    }
    const Context context = make_context({device});
    const pi_program_desc desc = module_desc();
    Program program;
    OK(piProgramCreate(context, &desc, program.out()));
    const uint64_t value = 5;
    pi_specialization_constant constant{4, 0, 4, &value};
    refused(piProgramSetSpecializationConstants(program, 1, &constant), PI_ERROR_INVALID_VALUE,
            {"constants[0].id is 4", "3 (4 bytes)"});
    constant.id = 3;
    constant.size = 8;
    refused(piProgramSetSpecializationConstants(program, 1, &constant), PI_ERROR_INVALID_SIZE,
            {"constants[0].size is 8", "has 4 bytes"});
    constant.size = 4;
    OK(piProgramSetSpecializationConstants(program, 1, &constant));
}

TEST_CASE("a program around the native handle of a SPIR-V program is a SPIR-V program", "[il]") {
    const Loader loader;
    const pi_device device = find_device(loader, true);
    if (!device)
        return;
    const Context context = make_context({device});
    const pi_program_desc desc = module_desc();
    Program program, around;
    OK(piProgramCreate(context, &desc, program.out()));
    auto native = pi::desc<pi_native_desc>();
    OK(piProgramGetNativeHandle(program, device, &native.handle));
    OK(piProgramCreateWithNativeHandle(context, &native, around.out()));
    CHECK(info<pi_program_format>(piProgramGetInfo, around.get(), PI_PROGRAM_INFO_FORMAT) ==
          PI_PROGRAM_FORMAT_SPIRV);
    const uint32_t value = 5;
    pi_specialization_constant constant{4, 0, 4, &value};
    if (has_constants(device)) {
        refused(piProgramSetSpecializationConstants(around, 1, &constant), PI_ERROR_INVALID_VALUE);
        constant.id = 3;
        OK(piProgramSetSpecializationConstants(around, 1, &constant));
    }
    program.reset();
    OK(piProgramBuild(around, nullptr));
}

TEST_CASE("in a context of two devices, the one that supports SPIR-V has the program", "[il]") {
    const Loader loader;
    const pi_device with = find_device(loader, true);
    const pi_device without = with ? find_device(loader, false) : nullptr;
    if (!without)
        return;
    if (platform_of(with) != platform_of(without)) {
        pi_test::skip("the devices are of two platforms");
        return;
    }
    const Context context = make_context({without, with});
    const pi_program_desc desc = module_desc();
    Program program;
    OK(piProgramCreate(context, &desc, program.out()));
    OK(piProgramBuild(program, nullptr));
    pi_device built[2]{};
    uint64_t size = 0;
    OK(piProgramGetInfo(program, PI_PROGRAM_INFO_DEVICES, sizeof built, built, &size));
    CHECK(size == sizeof built[0]);
    CHECK(built[0] == with);
    auto build_desc = pi::desc<pi_program_build_desc>();
    build_desc.device_count = 1;
    build_desc.devices = &without;
    refused(piProgramBuild(program, &build_desc), PI_ERROR_INVALID_BINARY);
}
