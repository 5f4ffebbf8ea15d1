// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in CUDA C++: with a simulated NVRTC, with the real one where it is installed, and
// without.
#include "plugin_fixture.hpp"

#include "skip.hpp"

using namespace cuda_test;
using Catch::Contains;

namespace {

/// The simulated NVRTC reads comments of the real one.
constexpr const char *source = "//PI library " PI_TEST_CUDA_KERNELS "\n"
                               "//PI function count_up pointer 4\n"
                               "//PI constant counter START\n"
                               "extern \"C\" __global__ void count_up(unsigned *data, unsigned by) "
                               "{ data[threadIdx.x] = START + threadIdx.x + by; }\n";

pi_result create(const Machine &machine, const std::string &text, pi_program *out) {
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_CUDA_C;
    d.data = text.data();
    d.size = text.size();
    return piProgramCreate(machine.context, &d, out);
}

Owned<pi_program> made(const Machine &machine, const std::string &text) {
    Owned<pi_program> program;
    OK(create(machine, text, program.out()));
    return program;
}

pi_program_build_desc with_options(const char *options) {
    auto d = pi::desc<pi_program_build_desc>();
    d.options = options;
    return d;
}

bool takes_source(const Machine &machine) {
    return info<uint32_t>(piDeviceGetInfo, machine.devices[first],
                          PI_DEVICE_INFO_PROGRAM_FORMATS) >>
               PI_PROGRAM_FORMAT_CUDA_C &
           1;
}

} // namespace

TEST_CASE("a program of CUDA C++ is built for each device, with options of NVRTC and the driver") {
    const Machine machine({first, second});
    CHECK(takes_source(machine));
    const Owned<pi_program> program = made(machine, source);
    const auto options = with_options("-DSTART=1 -O2 --use_fast_math");
    OK(piProgramBuild(program, &options));
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    for (const size_t device : {first, second}) {
        const Owned<pi_queue> queue = machine.queue(device);
        const Owned<pi_mem> mem = machine.buffer(device, 16);
        const uint32_t begin = 7;
        const std::vector arguments{buffer_argument(mem), value_argument(begin)};
        auto launch = launch_desc(kernel, arguments, 4);
        launch.flags = PI_COMMAND_BLOCKING;
        OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
        CHECK(read_words(queue, mem, 4) == std::vector<uint32_t>{7, 8, 9, 10});
    }
}

TEST_CASE("source that does not compile fails the build, with the compiler's log") {
    const Machine machine({first});
    const Owned<pi_program> program = made(machine, source);
    REFUSED(PI_ERROR_BUILD_FAILED, "NVRTC_ERROR_COMPILATION", piProgramBuild(program, nullptr));
    const auto log = [&] {
        return build_text(program, machine.devices[first], PI_PROGRAM_BUILD_INFO_LOG);
    };
    CHECK_THAT(log(), Contains("program.cu(3)") && Contains("\"START\" is undefined"));
    auto options = with_options("--no-such-option");
    REFUSED(PI_ERROR_BUILD_FAILED, "NVRTC_ERROR_INVALID_OPTION", piProgramBuild(program, &options));
    CHECK_THAT(log(), Contains("--no-such-option"));
    options = with_options("-g -O2");
    REFUSED(PI_ERROR_BUILD_FAILED, "'-g' and '-O2'", piProgramBuild(program, &options));
    CHECK_THAT(log(), Contains("-O0 alone"));
    options = with_options("-DSTART=1 -g");
    OK(piProgramBuild(program, &options));
    CHECK(log().empty());
}

TEST_CASE("without NVRTC there is no CUDA C++, and the error lists the names searched for") {
    Owned<pi_program> program;
    {
        const Machine machine({first}, "/nowhere/libnvrtc.so");
        CHECK(!takes_source(machine));
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "/nowhere/libnvrtc.so",
                create(machine, source, program.out()));
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_NVRTC_LIBRARY",
                create(machine, source, program.out()));
    }
    const Machine machine({first}, "libm.so.6");
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "libm.so.6 has no function nvrtc",
            create(machine, source, program.out()));
}

TEST_CASE("NVRTC of the driver's version and older ones are searched for") {
    const Machine machine({first}, "");
    Owned<pi_program> program;
    if (create(machine, source, program.out()) == PI_SUCCESS)
        return pi_test::skip("the machine has NVRTC");
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"})
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, name, create(machine, source, program.out()));
}

TEST_CASE("the real NVRTC compiles CUDA C++ to PTX, or reports errors") {
    const Machine machine({first}, "");
    if (!takes_source(machine))
        return pi_test::skip("needs libnvrtc.so.13 or an older one");
    const Owned<pi_program> program = made(machine, source);
    REFUSED(PI_ERROR_BUILD_FAILED, "NVRTC_ERROR_COMPILATION", piProgramCompile(program, nullptr));
    const auto log = [&] {
        return build_text(program, machine.devices[first], PI_PROGRAM_BUILD_INFO_LOG);
    };
    CHECK_THAT(log(), Contains("program.cu(4)") && Contains("\"START\" is undefined"));
    auto options = with_options("--no-such-option");
    REFUSED(PI_ERROR_BUILD_FAILED, "--no-such-option", piProgramCompile(program, &options));
    options = with_options("-DSTART=1 -O3 --use_fast_math");
    OK(piProgramCompile(program, &options));
    // The PTX reaches the simulated driver, which cannot compile real PTX.
    REFUSED(PI_ERROR_BUILD_FAILED, "CUDA_ERROR_INVALID_PTX", piProgramBuild(program, &options));
    CHECK_THAT(log(), Contains("no compiler for PTX"));
}
