// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in parts, as images that the simulated driver accepts as PTX.
#include "parts.hpp"
#include "plugin_fixture.hpp"

using namespace cuda_test;
using Catch::Contains;
using pi_cuda_test::callee;
using pi_cuda_test::caller;

namespace {

pi_result link(const Machine &machine, const std::vector<pi_program> &parts, const char *options,
               pi_program *out) {
    auto d = pi::desc<pi_program_link_desc>();
    d.program_count = static_cast<uint32_t>(parts.size());
    d.programs = parts.data();
    d.options = options;
    return piProgramLink(machine.context, &d, out);
}

void check_changes(const Machine &machine, size_t device, pi_program program) {
    const Owned<pi_kernel> kernel = make_kernel(program, "change");
    const Owned<pi_queue> queue = machine.queue(device);
    const Owned<pi_mem> mem = machine.buffer(device, 16);
    const uint32_t five = 5;
    const auto fill = fill_desc(mem, &five, sizeof five, 0, 16, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    const std::vector arguments{buffer_argument(mem)};
    auto launch = launch_desc(kernel, arguments, 4);
    launch.flags = PI_COMMAND_BLOCKING;
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    CHECK(read_words(queue, mem, 4) == std::vector<uint32_t>{16, 16, 16, 16});
}

} // namespace

TEST_CASE(
    "parts of PTX are linked for each device, and the linker's image is the program's binary") {
    const Machine machine({first, second});
    const Owned<pi_program> calling = machine.part(caller), called = machine.part(callee);
    Owned<pi_program> linked;
    OK(link(machine, {calling, called}, "-O2", linked.out()));
    CHECK(build_text(linked, machine.devices[first], PI_PROGRAM_BUILD_INFO_OPTIONS) == "-O2");
    for (const size_t device : {first, second})
        check_changes(machine, device, linked);
    std::array<uint64_t, 2> sizes{};
    OK(piProgramGetInfo(linked, PI_PROGRAM_INFO_BINARY_SIZES, sizeof sizes, sizes.data(), nullptr));
    REQUIRE(sizes[1] > 0);
    std::string binary(sizes[1], '\0');
    std::array<uint8_t *, 2> pointers{nullptr, reinterpret_cast<uint8_t *>(binary.data())};
    OK(piProgramGetInfo(linked, PI_PROGRAM_INFO_BINARIES, sizeof pointers, pointers.data(),
                        nullptr));
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
    d.data = binary.data();
    d.size = binary.size();
    Owned<pi_program> again;
    OK(piProgramCreate(machine.context, &d, again.out()));
    OK(piProgramBuild(again, nullptr));
    check_changes(machine, second, again);
}

TEST_CASE("a link that fails reports the linker's log, and the parts can be linked again") {
    const Machine machine({first});
    const Owned<pi_program> calling = machine.part(caller), called = machine.part(callee);
    Owned<pi_program> linked;
    REFUSED(PI_ERROR_BUILD_FAILED, "Undefined reference to 'changed'",
            link(machine, {calling}, nullptr, linked.out()));
    REFUSED(PI_ERROR_BUILD_FAILED, "--fast-math",
            link(machine, {calling, called}, "--fast-math", linked.out()));
    const Owned<pi_program> twin = machine.part(callee);
    REFUSED(PI_ERROR_BUILD_FAILED, "Multiple definition of 'changed'",
            link(machine, {calling, called, twin}, nullptr, linked.out()));
    OK(link(machine, {calling, called}, nullptr, linked.out()));
    check_changes(machine, first, linked);
}

TEST_CASE("a part that the driver refuses fails to compile, and its log says why") {
    const Machine machine({first});
    const Owned<pi_program> part = machine.create(PI_PROGRAM_FORMAT_PTX, "nonsense\n");
    REFUSED(PI_ERROR_BUILD_FAILED, "cuLinkAddData_v2", piProgramCompile(part, nullptr));
    CHECK_THAT(build_text(part, machine.devices[first], PI_PROGRAM_BUILD_INFO_LOG),
               Contains("not understood: nonsense"));
    Owned<pi_program> linked;
    REFUSED(PI_ERROR_INVALID_OPERATION, "programs[0] is not compiled",
            link(machine, {part}, nullptr, linked.out()));
}

TEST_CASE("only source is compiled, compiled programs have no kernels, linked programs are built") {
    const Machine machine({first});
    const Owned<pi_program> cubin = machine.create(PI_PROGRAM_FORMAT_CUBIN, callee);
    REFUSED(PI_ERROR_INVALID_OPERATION, "program is a binary", piProgramCompile(cubin, nullptr));
    const Owned<pi_program> calling = machine.part(caller), called = machine.part(callee);
    Owned<pi_kernel> kernel;
    REFUSED(PI_ERROR_INVALID_OPERATION, "piProgramLink",
            piKernelCreate(calling, "change", nullptr, kernel.out()));
    Owned<pi_program> linked;
    OK(link(machine, {calling, called}, nullptr, linked.out()));
    REFUSED(PI_ERROR_INVALID_OPERATION, "linked", piProgramBuild(linked, nullptr));
    REFUSED(PI_ERROR_INVALID_OPERATION, "linked", piProgramCompile(linked, nullptr));
}
