// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs and kernels of the level_zero plugin on Intel's driver, whose compiler is complete.
#include "plugin_fixture.hpp"

#include "native_kernel.hpp"

#include <array>

using namespace level_zero_plugin_test;
using Catch::Matchers::Contains;

namespace {

uint32_t build_status(pi_program program, pi_device device) {
    uint32_t status = 77;
    OK(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_STATUS, sizeof status, &status,
                             nullptr));
    return status;
}
std::string build_log(pi_program program, pi_device device) {
    uint64_t size = 0;
    OK(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_LOG, 0, nullptr, &size));
    std::vector<char> text(size);
    OK(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_LOG, size, text.data(),
                             nullptr));
    return text.data();
}

template <class T>
T group_info(pi_kernel kernel, pi_device device, pi_kernel_group_info name) {
    T value{};
    OK(piKernelGetGroupInfo(kernel, device, name, sizeof value, &value, nullptr));
    return value;
}

} // namespace

TEST_CASE("SPIR-V is built for each device, with an empty log") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_program> program = build_kernels(machine);
    if (!program)
        return;
    for (const pi_device device : machine.devices) {
        CHECK(build_status(program, device) == PI_PROGRAM_BUILT);
        CHECK_THAT(build_log(program, device), !Contains("error"));
        pi_native_handle handle{};
        OK(piProgramGetNativeHandle(program, device, &handle));
        CHECK(handle.value[0] != 0);
    }
    const std::string names =
        info_text(piProgramGetInfo, pi_program{program}, PI_PROGRAM_INFO_KERNEL_NAMES);
    for (const char *name : {"add", "combine", "visit", "reverse", "follow"})
        CHECK_THAT(";" + names + ";", Contains(";" + std::string(name) + ";"));
}

TEST_CASE("SPIR-V that calls an undefined function fails to build, and the log names it") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_program> program = create_spirv(machine, spirv::broken());
    if (!program)
        return;
    CHECK(piProgramBuild(program, nullptr) == PI_ERROR_BUILD_FAILED);
    CHECK_THAT(last_error(), Contains("nowhere_to_be_found"));
    for (const pi_device device : machine.devices) {
        CHECK(build_status(program, device) == PI_PROGRAM_FAILED);
        CHECK_THAT(build_log(program, device), Contains("nowhere_to_be_found"));
    }
}

TEST_CASE("a program's binary recreates the program") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_program> program = build_kernels(machine);
    if (!program)
        return;
    std::vector<uint64_t> sizes(machine.devices.size());
    OK(piProgramGetInfo(program, PI_PROGRAM_INFO_BINARY_SIZES, sizes.size() * sizeof sizes.front(),
                        sizes.data(), nullptr));
    std::vector<std::vector<uint8_t>> binaries;
    std::vector<uint8_t *> pointers;
    for (const uint64_t size : sizes)
        pointers.push_back(binaries.emplace_back(size).data());
    OK(piProgramGetInfo(program, PI_PROGRAM_INFO_BINARIES,
                        pointers.size() * sizeof pointers.front(), pointers.data(), nullptr));
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
    d.data = binaries.front().data();
    d.size = binaries.front().size();
    const Owned<pi_context> of_first = make_context({machine.devices.front()});
    Owned<pi_program> again;
    OK(piProgramCreate(of_first, &d, again.out()));
    OK(piProgramBuild(again, nullptr));
    make_kernel(again, "add");
}

TEST_CASE("a kernel reports the driver's properties") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_program> program = build_kernels(machine);
    if (!program)
        return;
    for (const auto &[name, count] : {std::pair{"add", 2u}, {"combine", 4u}, {"visit", 3u}}) {
        const Owned<pi_kernel> kernel = make_kernel(program, name);
        CHECK(info_text(piKernelGetInfo, pi_kernel{kernel}, PI_KERNEL_INFO_NAME) == name);
        CHECK(info<uint32_t>(piKernelGetInfo, pi_kernel{kernel}, PI_KERNEL_INFO_ARGUMENT_COUNT) ==
              count);
        for (const pi_device device : machine.devices) {
            CHECK(group_info<uint64_t>(kernel, device, PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE) ==
                  info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE));
            pi_native_handle handle{};
            OK(piKernelGetNativeHandle(kernel, device, &handle));
            CHECK(handle.value[0] != 0);
        }
    }
    const Owned<pi_program> groups = build_spirv(machine, spirv::groups());
    const Owned<pi_program> sub_groups = build_spirv(machine, spirv::sub_groups());
    const Owned<pi_kernel> fours = make_kernel(groups, "fours");
    const Owned<pi_kernel> sixteens = make_kernel(sub_groups, "sixteens");
    for (const pi_device device : machine.devices) {
        CHECK(group_info<std::array<uint64_t, 3>>(fours, device,
                                                  PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE) ==
              std::array<uint64_t, 3>{4, 1, 1});
        CHECK(group_info<uint64_t>(fours, device, PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE) >= 1024);
        uint32_t size = 0;
        OK(piKernelGetSubGroupInfo(sixteens, device, PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE,
                                   sizeof size, &size, nullptr));
        CHECK(size == 16);
    }
}
