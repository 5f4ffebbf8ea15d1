// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in a context of two plugin instances: an OpenCL device and a CUDA device.
#include "kernels.hpp"

using namespace ur_test;

TEST_CASE("A program that one of two plugins refuses runs on the other", "[parts]") {
    const Machine machine(2);
    const auto program = built_program(machine.context);
    const auto kernel = kernel_of(program, "add");
    const auto buffer = machine.buffer(bytes_of({1, 2}));
    const uint32_t value = 10;
    const Arguments arguments{buffer_at(0, buffer), value_at(1, value)};
    const auto run = [&](size_t at) { return launch(machine.queue(at), kernel, 2, arguments); };
    const size_t good = run(0) == UR_RESULT_SUCCESS ? 0 : 1;
    if (good == 1) {
        OK(run(1));
    }
    CHECK(read_words(machine, buffer, 2, good) == Words{11, 12});
    CHECK(read_words(machine, buffer, 2, 1 - good) == Words{11, 12});
    FAILS(UNSUPPORTED_FEATURE, run(1 - good));
    CHECK(last_error().find("format") != std::string::npos);

    ur_kernel_handle_t none = nullptr;
    FAILS(INVALID_KERNEL_NAME, ur().Kernel.pfnCreate(program, "nowhere", &none));
    ur_device_handle_t refusing = machine.devices[1 - good];
    FAILS(UNSUPPORTED_FEATURE, ur().ProgramExp.pfnBuildExp(program, 1, &refusing, 0, nullptr));
    CHECK(build_info<ur_program_build_status_t>(program, refusing, UR_PROGRAM_BUILD_INFO_STATUS) ==
          UR_PROGRAM_BUILD_STATUS_NONE);
    CHECK(build_text(program, refusing, UR_PROGRAM_BUILD_INFO_OPTIONS).empty());
    CHECK(build_text(program, refusing, UR_PROGRAM_BUILD_INFO_LOG).find("format") !=
          std::string::npos);
    ur_native_handle_t native = 0;
    Owned<ur_program_handle_t> around;
    FAILS(UNSUPPORTED_FEATURE,
          ur().Program.pfnCreateWithNativeHandle(native, machine.context, nullptr, around.out()));
}

TEST_CASE("Kernels of two plugins change one buffer in turn", "[parts]") {
    const Machine machine(2);
    const auto spirv = built_program(machine.context);
    const std::string image = "PI simulated CUDA module 1\nlibrary " PI_TEST_CUDA_KERNELS
                              "\nfunction count_up pointer 4\n";
    Owned<ur_program_handle_t> native;
    size_t cuda = 2;
    for (size_t at = 0; at < 2; ++at) {
        ur_device_handle_t device = machine.devices[at];
        size_t size = image.size();
        const auto *bytes = reinterpret_cast<const uint8_t *>(image.data());
        if (ur().Program.pfnCreateWithBinary(machine.context, 1, &device, &size, &bytes, nullptr,
                                             native.out()) == UR_RESULT_SUCCESS) {
            cuda = at;
            break;
        }
    }
    REQUIRE(cuda < 2);
    OK(ur().Program.pfnBuild(machine.context, native, nullptr));
    const auto count_up = kernel_of(native, "count_up");
    const auto add = kernel_of(spirv, "add");
    const auto buffer = machine.buffer(bytes_of({0, 0, 0}));
    const uint32_t hundred = 100, one = 1;
    Owned<ur_event_handle_t> first;
    const size_t size = 3;
    const Arguments up{buffer_at(0, buffer, UR_MEM_FLAG_WRITE_ONLY), value_at(1, hundred)};
    OK(ur().EnqueueExp.pfnKernelLaunchWithArgsExp(machine.queue(cuda), count_up, 1, nullptr, &size,
                                                  nullptr, 2, up.data(), nullptr, 0, nullptr,
                                                  first.out()));
    const ur_event_handle_t wait = first;
    const Arguments more{buffer_at(0, buffer), value_at(1, one)};
    OK(ur().EnqueueExp.pfnKernelLaunchWithArgsExp(machine.queue(1 - cuda), add, 1, nullptr, &size,
                                                  nullptr, 2, more.data(), nullptr, 1, &wait,
                                                  nullptr));
    CHECK(read_words(machine, buffer, 3, 1 - cuda) == Words{101, 102, 103});
}
