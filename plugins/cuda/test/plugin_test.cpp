// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of the cuda plugin that the conformance suite cannot see.
#include "plugin_fixture.hpp"

#include "fixture.hpp"
#include "program.hpp"
#include "skip.hpp"

#include <pi/pi_verification_kernel.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace cuda_test;
using Catch::Contains;

TEST_CASE("without a driver there is no platform, and the reason names the file") {
    CHECK_THAT(unavailable("/nowhere/libcuda.so"), Contains("/nowhere/libcuda.so"));
}

TEST_CASE("a library that lacks entry points is too old, and the reason names one") {
    const std::string reason = unavailable("libm.so.6");
    CHECK_THAT(reason, Contains("libm.so.6") && Contains("too old") && Contains("cuInit"));
}

TEST_CASE("the reason for a driver that is too old names its version, and what it lacks since "
          "which version") {
    CHECK_THAT(unavailable(PI_TEST_OLD_DRIVER),
               Contains("is a driver of CUDA 10.1 and too old for this plugin") &&
                   Contains("it has no cuGetErrorName, which came with CUDA 6.0"));
}

TEST_CASE("a driver without a device has no platform, and the reason says so") {
    const pi_test::Ran ran =
        pi_test::run({"/usr/bin/env", "PI_SIMULATED_CUDA_MACHINE=" PI_TEST_NO_GPU,
                      "PI_CUDA_LIBRARY=" PI_TEST_SIMULATED_CUDA, "PI_PLUGINS=" PI_TEST_CUDA_PLUGIN,
                      PI_TEST_INFO, "--plugins"});
    CHECK_THAT(ran.output, Contains("CUDA_ERROR_NO_DEVICE"));
}

TEST_CASE("a device reports the driver's identity") {
    const Machine machine;
    const auto uuid =
        info<std::array<uint8_t, 16>>(piDeviceGetInfo, machine.devices[first], PI_DEVICE_INFO_UUID);
    CHECK(uuid[0] == 0x70);
    CHECK(uuid[15] == 1);
    CHECK(info_text(piDeviceGetInfo, machine.devices[first], PI_DEVICE_INFO_PCI_ADDRESS) ==
          "0000:1b:00.0");
    CHECK(info_text(piDeviceGetInfo, machine.devices[first], PI_DEVICE_INFO_NAME) ==
          "first (simulated)");
}

TEST_CASE("a device reports the driver's attributes in the units of pi.h") {
    const Machine machine;
    const pi_device device = machine.devices[first];
    const auto small = [&](pi_device_info name) {
        return info<uint32_t>(piDeviceGetInfo, device, name);
    };
    const auto large = [&](pi_device_info name) {
        return info<uint64_t>(piDeviceGetInfo, device, name);
    };
    CHECK(small(PI_DEVICE_INFO_VENDOR_ID) == 0x10de);
    CHECK(small(PI_DEVICE_INFO_DEVICE_ID) == 0x2330);
    CHECK(small(PI_DEVICE_INFO_CLOCK_RATE) == 1000);
    CHECK(small(PI_DEVICE_INFO_MEMORY_CLOCK_RATE) == 1000);
    CHECK(small(PI_DEVICE_INFO_MEMORY_BUS_WIDTH) == 64);
    CHECK(large(PI_DEVICE_INFO_CACHE_SIZE) == 1 << 20);
    CHECK(small(PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT) == 32);
    CHECK(small(PI_DEVICE_INFO_ERROR_CORRECTION) == 0);
    CHECK(large(PI_DEVICE_INFO_MAX_CONSTANT_SIZE) == 65536);
    CHECK(large(PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE) == 2048);
    CHECK(large(PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE) == 1 << 28);
    CHECK(info<std::array<uint64_t, 3>>(piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_GRID_SIZES) ==
          std::array<uint64_t, 3>{2147483647, 65535, 65535});
    // Atomics of device and host on one word need a link such as NVLink.
    const auto access =
        info<std::array<uint32_t, 5>>(piDeviceGetInfo, device, PI_DEVICE_INFO_USM_ACCESS);
    CHECK(access[0] == (PI_USM_ACCESS | PI_USM_ACCESS_ATOMIC | PI_USM_ACCESS_CONCURRENT));
    CHECK((access[2] & PI_USM_ACCESS_CONCURRENT_ATOMIC) != 0);
    for (const pi_device_info name :
         {PI_DEVICE_INFO_CACHE_LINE_SIZE, PI_DEVICE_INFO_MAX_CONSTANT_ARGUMENTS,
          PI_DEVICE_INFO_EXTENSIONS})
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, std::to_string(name),
                piDeviceGetInfo(device, name, 0, nullptr, nullptr));
}

TEST_CASE("free memory is what allocations of any kind leave") {
    const Machine machine({first});
    const auto available = [&] {
        return info<uint64_t>(piDeviceGetInfo, machine.devices[first], PI_DEVICE_INFO_FREE_MEMORY);
    };
    const uint64_t before = available();
    const Owned<pi_mem> mem = machine.buffer(first, 8 << 20);
    CHECK(available() + (8 << 20) <= before);
}

TEST_CASE(
    "a peer is UNIFIED; one beyond the driver's limit is MIGRATABLE, and the reason says why") {
    const Machine machine; // PI_SIMULATED_CUDA_MAX_PEERS=1
    const auto granted = machine.connection(second, first);
    CHECK(granted.connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(granted.residency == PI_RESIDENCY_REMOTE_ACCESS);
    const auto refused = machine.connection(third, first);
    CHECK(refused.connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    CHECK(refused.path == PI_COPY_PATH_STAGED_BY_DRIVER);
    CHECK_THAT(refused.reason, Contains("CUDA_ERROR_TOO_MANY_PEERS"));
    // The answers are constant.
    CHECK(machine.connection(second, first).connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(machine.connection(third, first).connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    const auto none = machine.connection(lone, first);
    CHECK(none.connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    CHECK_THAT(none.reason, Contains("bounces through the host"));
    // Copies that the driver refused to do directly still work.
    const Owned<pi_queue> queue = machine.queue(first);
    const Owned<pi_mem> src = machine.buffer(third, 64), dst = machine.buffer(first, 64);
    const uint32_t pattern = 7;
    const auto fill = fill_desc(src, &pattern, 4, 0, 64);
    OK(piEnqueueMemBufferFill(machine.queue(third), &fill, 0, nullptr, nullptr));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "UNIFIED",
            piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    const Owned<pi_queue> of_src = machine.queue(third);
    const auto again = fill_desc(src, &pattern, 4, 0, 64, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(of_src, &again, 0, nullptr, nullptr));
    const pi_region region = range(0, 0, 64);
    const auto copy = copy_desc(src, dst, region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    CHECK(read_words(queue, dst, 16) == std::vector<uint32_t>(16, 7));
}

TEST_CASE("access is granted again to a context whose peer was destroyed and created again") {
    const Machine machine({first}); // PI_SIMULATED_CUDA_MAX_PEERS=1
    for (int round = 0; round < 3; ++round) {
        const Owned<pi_context> other = machine.make_context({second});
        pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
        OK(piGetMemoryConnection(machine.devices[second], other, machine.devices[first],
                                 machine.context, &connection));
        CHECK(connection == PI_MEMORY_CONNECTION_UNIFIED);
    }
}

TEST_CASE("an allocation that does not fit reports the requested and the free size") {
    const Machine machine({first});
    const Owned<pi_mem> most = machine.buffer(first, 48 << 20);
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = 48 << 20;
    Owned<pi_mem> more;
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "48 MiB requested, 16 MiB of 64 MiB free on first",
            piMemBufferCreate(machine.context, machine.devices[first], &d, more.out()));
}

TEST_CASE("released memory can be allocated again at once") {
    const Machine machine({first});
    for (int round = 0; round < 20; ++round)
        machine.buffer(first, 48 << 20);
}

TEST_CASE("an import pins the application's memory until it is released, and no byte twice") {
    const Machine machine({first, second});
    constexpr uint64_t size = 4 * 4096;
    const std::unique_ptr<void, void (*)(void *)> memory(std::aligned_alloc(4096, size), std::free);
    const auto import = [&](size_t device, uint64_t offset, uint64_t bytes, pi_mem *out) {
        auto d = pi::desc<pi_mem_import_desc>();
        d.size = bytes;
        d.offset = offset;
        d.handle.type = PI_EXTERNAL_HOST_POINTER;
        d.handle.pointer = memory.get();
        return piMemImport(machine.context, machine.devices[device], &d, out);
    };
    const auto pin = [&] { return pi_cuda_test::cu().cuMemHostRegister_v2(memory.get(), size, 0); };
    const pi_cuda_test::Current current(lone);
    {
        Owned<pi_mem> whole, part, beyond;
        OK(import(first, 0, 3 * 4096, whole.out()));
        OK(import(second, 4096, 4096, part.out()));
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "no byte is pinned twice",
                import(first, 2 * 4096, 2 * 4096, beyond.out()));
        whole.reset();
        CHECK(pin() == pi_cuda_test::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    REQUIRE(pin() == pi_cuda_test::CUDA_SUCCESS);
    Owned<pi_mem> mem;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
            import(first, 0, size, mem.out()));
    CHECK(pi_cuda_test::cu().cuMemHostUnregister(memory.get()) == pi_cuda_test::CUDA_SUCCESS);
}

TEST_CASE("PTX that the driver refuses fails the build, with the driver's log") {
    const Machine machine({first});
    const std::string ptx = ".version 8.0\n.target sm_90\n";
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_PTX;
    d.data = ptx.data();
    d.size = ptx.size();
    Owned<pi_program> program;
    OK(piProgramCreate(machine.context, &d, program.out()));
    REFUSED(PI_ERROR_BUILD_FAILED, "CUDA_ERROR_INVALID_PTX", piProgramBuild(program, nullptr));
    char log[256] = {};
    OK(piProgramGetBuildInfo(program, machine.devices[first], PI_PROGRAM_BUILD_INFO_LOG, sizeof log,
                             log, nullptr));
    CHECK_THAT(log, Contains("no compiler for PTX"));
    auto build = pi::desc<pi_program_build_desc>();
    build.options = "-O2 --fast-math";
    REFUSED(PI_ERROR_BUILD_FAILED, "--fast-math", piProgramBuild(program, &build));
    build.options = "-g -O2";
    REFUSED(PI_ERROR_BUILD_FAILED, "'-g' and '-O2'", piProgramBuild(program, &build));
}

TEST_CASE("a real assembler accepts the verification kernel's PTX for old and new devices") {
    const Machine machine({first});
    pi_plugin plugin = nullptr;
    OK(piPlatformGetInfo(machine.platform, PI_PLATFORM_INFO_PLUGIN, sizeof plugin, &plugin,
                         nullptr));
    const void *table = nullptr;
    OK(piPluginGetExtension(plugin, PI_VERIFICATION_KERNEL_V1, sizeof(pi_verification_kernel_v1),
                            &table));
    pi_verification_kernel kernel{};
    OK(static_cast<const pi_verification_kernel_v1 *>(table)->get_kernel(machine.devices[first],
                                                                         &kernel));
    REQUIRE(kernel.format == PI_PROGRAM_FORMAT_PTX);
    const std::string ptxas = PI_TEST_PTXAS;
    if (ptxas.find("NOTFOUND") != std::string::npos) {
        skip("there is no ptxas");
        return;
    }
    for (const char *device : {"sm_75", "sm_90"}) {
        CAPTURE(device);
        const std::string command = ptxas + " --output-file /dev/null --gpu-name " + device + " -";
        std::FILE *const assembler = ::popen(command.c_str(), "w");
        REQUIRE(assembler != nullptr);
        CHECK(std::fwrite(kernel.data, 1, kernel.size, assembler) == kernel.size);
        CHECK(::pclose(assembler) == 0);
    }
}

TEST_CASE("a launch has at most the work-group memory that a block can request") {
    const Machine machine({first});
    const Owned<pi_program> program = machine.program("function look_at_shared pointer shared\n");
    const Owned<pi_kernel> kernel = make_kernel(program, "look_at_shared");
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_mem> out = machine.buffer(first, 64);
    std::vector arguments{buffer_argument(out), local_argument(200 << 10)};
    auto launch = launch_desc(kernel, arguments, 64, 32);
    launch.flags = PI_COMMAND_BLOCKING;
    launch.local_memory_size = 1000; // the argument's memory begins behind it
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    CHECK(read_words(queue, out, 1)[0] % 0x10000 == 0xcbcb); // the second group has its own memory
    arguments[1].size = 228 << 10;
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "bytes of work-group memory",
            piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
}

TEST_CASE("the groups of a cooperative launch are resident together, or it is refused") {
    const Machine machine({first});
    const Owned<pi_program> program = machine.program("function meet pointer\n");
    const Owned<pi_kernel> kernel = make_kernel(program, "meet");
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_mem> arrived = machine.buffer(first, 64);
    const uint32_t zero = 0;
    const auto fill = fill_desc(arrived, &zero, 4, 0, 64);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    const std::vector arguments{buffer_argument(arrived)};
    auto launch = launch_desc(kernel, arguments, 8 * 256, 256);
    launch.flags = PI_LAUNCH_COOPERATIVE | PI_COMMAND_BLOCKING;
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    CHECK(read_words(queue, arrived, 1)[0] == 8);
    uint32_t most = 0;
    OK(piKernelGetMaxCooperativeGroups(queue, &launch, &most));
    CHECK(most == 4 * 2048 / 256);
    launch.global_size[0] = (most + 1) * uint64_t{256};
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "runs 32 together",
            piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
}
