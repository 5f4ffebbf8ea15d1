// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An error of a kernel destroys the device's context, until everything in it is released.
#include "plugin_fixture.hpp"

#include "fixture.hpp"
#include "images.hpp"

using namespace cuda_test;

namespace {

/// A launch of count_up on an invalid address.
struct Illegal {
    explicit Illegal(const Machine &machine)
        : program(machine.program(count_up)),
          kernel(make_kernel(program, "count_up")), arguments{value_argument(address),
                                                              value_argument(from)},
          launch(launch_desc(kernel, arguments, 32)) {}
    const uint64_t address = 0x1000;
    const uint32_t from = 0;
    const Owned<pi_program> program;
    const Owned<pi_kernel> kernel;
    const std::vector<pi_kernel_argument> arguments;
    const pi_kernel_launch_desc launch;
};

/// Without the plugin, as an application with CUDA code of its own may.
void spoil(const Machine &machine, size_t device) {
    const auto &cu = pi_cuda_test::cu();
    pi_native_handle context{};
    OK(piContextGetNativeHandle(machine.context, machine.devices.at(device), &context));
    const auto id = reinterpret_cast<pi::cuda::CUcontext>(context.value[0]);
    REQUIRE(cu.cuCtxPushCurrent_v2(id) == pi::cuda::CUDA_SUCCESS);
    pi::cuda::CUmodule module = nullptr;
    pi::cuda::CUfunction function = nullptr;
    const std::string image =
        std::string("PI simulated CUDA module 1\nlibrary " PI_TEST_CUDA_KERNELS "\n") + count_up;
    CHECK(cu.cuModuleLoadData(&module, image.c_str()) == pi::cuda::CUDA_SUCCESS);
    CHECK(cu.cuModuleGetFunction(&function, module, "count_up") == pi::cuda::CUDA_SUCCESS);
    uint64_t nowhere = 0x1000;
    uint32_t from = 0;
    void *parameters[] = {&nowhere, &from};
    CHECK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) ==
          pi::cuda::CUDA_SUCCESS);
    CHECK(cu.cuCtxSynchronize() == pi::cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
    cu.cuCtxPopCurrent_v2(nullptr);
}

pi_result wait(pi_event event) {
    return piEventWait(event, patience);
}

} // namespace

TEST_CASE("a command that destroys its context fails, and so do all later commands") {
    const Machine machine({first, second});
    const Owned<pi_queue> queue = machine.queue(first), other = machine.queue(first);
    const Owned<pi_mem> mem = machine.buffer(first, 64);
    const Illegal illegal(machine);
    const uint32_t pattern = 1;
    const auto fill = fill_desc(mem, &pattern, 4, 0, 64);
    Owned<pi_event> gate, held, spoilt;
    OK(piEventCreateHost(machine.context, nullptr, gate.out()));
    pi_event waits[] = {gate};
    OK(piEnqueueMemBufferFill(other, &fill, 1, waits, held.out()));
    OK(piEnqueueKernelLaunch(queue, &illegal.launch, 0, nullptr, spoilt.out()));
    REFUSED(PI_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS", wait(spoilt));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    REFUSED(PI_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS", wait(held));
    REFUSED(PI_ERROR_DEVICE_LOST, "first (simulated) is lost",
            piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    Owned<pi_mem> more;
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = 64;
    REFUSED(PI_ERROR_DEVICE_LOST, "ILLEGAL_ADDRESS",
            piMemBufferCreate(machine.context, machine.devices[first], &d, more.out()));
    OK(piQueueFinish(queue)); // all events are complete
}

TEST_CASE("while a device is lost, others continue") {
    const Machine machine({first, second});
    const Illegal illegal(machine);
    auto launch = illegal.launch;
    launch.flags = PI_COMMAND_BLOCKING;
    REFUSED(PI_ERROR_DEVICE_LOST, "ILLEGAL_ADDRESS",
            piEnqueueKernelLaunch(machine.queue(first), &launch, 0, nullptr, nullptr));
    const Owned<pi_queue> queue = machine.queue(second);
    const Owned<pi_mem> mem = machine.buffer(second, 64);
    const uint32_t from = 5;
    const std::vector arguments{buffer_argument(mem), value_argument(from)};
    auto good = launch_desc(illegal.kernel, arguments, 16);
    good.flags = PI_COMMAND_BLOCKING;
    OK(piEnqueueKernelLaunch(queue, &good, 0, nullptr, nullptr));
    CHECK(read_words(queue, mem, 16)[15] == 20);
}

TEST_CASE("a copy from or to memory of a lost device fails, and the other device continues") {
    for (const bool known : {false, true}) {  // whether the plugin knows of the loss by then
        const Machine machine({first, lone}); // no peer access: the driver copies
        const Owned<pi_mem> here = machine.buffer(lone, 64), there = machine.buffer(first, 64);
        const Owned<pi_queue> queue = machine.queue(lone);
        const Illegal illegal(machine);
        auto launch = illegal.launch;
        launch.flags = PI_COMMAND_BLOCKING;
        if (known)
            REFUSED(PI_ERROR_DEVICE_LOST, "ILLEGAL_ADDRESS",
                    piEnqueueKernelLaunch(machine.queue(first), &launch, 0, nullptr, nullptr));
        else
            spoil(machine, first);
        const auto all = range(0, 0, 64);
        for (const bool from : {true, false}) {
            const auto copy = from ? copy_desc(there, here, all, PI_COMMAND_BLOCKING)
                                   : copy_desc(here, there, all, PI_COMMAND_BLOCKING);
            REFUSED(PI_ERROR_DEVICE_LOST, "first (simulated)",
                    piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
        }
        const uint32_t pattern = 6;
        const auto fill = fill_desc(here, &pattern, 4, 0, 64, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
        CHECK(read_words(queue, here, 16) == std::vector<uint32_t>(16, 6));
    }
}

TEST_CASE("commands on a lost device fail with DEVICE_LOST, and queries about it succeed") {
    const Machine machine({first});
    const pi_device device = machine.devices.at(first);
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_mem> mem = machine.buffer(first, 64);
    const Illegal illegal(machine);
    auto launch = illegal.launch;
    launch.flags = PI_COMMAND_BLOCKING;
    void *pinned = nullptr, *allocated = nullptr;
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_HOST;
    usm.size = 64;
    OK(piUsmAlloc(machine.context, device, &usm, &pinned));
    REFUSED(PI_ERROR_DEVICE_LOST, "ILLEGAL_ADDRESS",
            piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));

    Owned<pi_mem> more;
    auto buffer = pi::desc<pi_mem_buffer_desc>();
    buffer.size = 64;
    for (const uint32_t scope : {0u, 1u}) {
        buffer.scope = scope;
        CHECK(piMemBufferCreate(machine.context, device, &buffer, more.out()) ==
              PI_ERROR_DEVICE_LOST);
    }
    const auto image = image_desc(PI_IMAGE_2D, PI_CHANNEL_UINT8, 4, 4);
    CHECK(piMemImageCreate(machine.context, device, &image, more.out()) == PI_ERROR_DEVICE_LOST);
    usm.kind = PI_USM_DEVICE;
    CHECK(piUsmAlloc(machine.context, device, &usm, &allocated) == PI_ERROR_DEVICE_LOST);
    CHECK(piProgramBuild(machine.create(PI_PROGRAM_FORMAT_PTX, count_up), nullptr) ==
          PI_ERROR_DEVICE_LOST);
    Owned<pi_queue> another;
    CHECK(piQueueCreate(machine.context, device, nullptr, another.out()) == PI_ERROR_DEVICE_LOST);

    uint64_t words[8] = {};
    const auto all = range(0, 0, 64);
    const auto read = read_desc(mem, words, all);
    CHECK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, nullptr) == PI_ERROR_DEVICE_LOST);
    const auto write = write_desc(mem, words, all, PI_COMMAND_BLOCKING);
    CHECK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr) == PI_ERROR_DEVICE_LOST);
    void *pointer = nullptr;
    const auto map = map_desc(mem, 0, 64, &pointer);
    CHECK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr) == PI_ERROR_DEVICE_LOST);
    auto barrier = pi::desc<pi_events_wait_desc>();
    CHECK(piEnqueueEventsWait(queue, &barrier, 0, nullptr, nullptr) == PI_ERROR_DEVICE_LOST);

    // Calls that need no work of the device, or release objects.
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE) == 64);
    CHECK_FALSE(info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_NAME).empty());
    OK(piQueueFinish(queue));
    OK(piUsmFree(machine.context, pinned));
}

TEST_CASE("a device lost by a command without an event is usable again at once") {
    for (int round = 0; round < 3; ++round) {
        {
            const Machine lost({first});
            const Owned<pi_queue> queue = lost.queue(first);
            const Illegal illegal(lost);
            pi_result result = PI_SUCCESS;
            while (result == PI_SUCCESS) // until the loss is known
                result = piEnqueueKernelLaunch(queue, &illegal.launch, 0, nullptr, nullptr);
            CHECK(result == PI_ERROR_DEVICE_LOST);
        }
        const Machine again({first});
        const Owned<pi_queue> queue = again.queue(first);
        CHECK(read_words(queue, again.buffer(first, 64), 1).size() == 1);
    }
}

TEST_CASE("a lost device is usable again when all its contexts are released") {
    const Machine machine({second});
    {
        const Owned<pi_context> context = machine.make_context({first});
        Machine lost({first});
        const Illegal illegal(lost);
        auto launch = illegal.launch;
        launch.flags = PI_COMMAND_BLOCKING;
        REFUSED(PI_ERROR_DEVICE_LOST, "ILLEGAL_ADDRESS",
                piEnqueueKernelLaunch(lost.queue(first), &launch, 0, nullptr, nullptr));
    }
    const Machine again({first});
    const Owned<pi_queue> queue = again.queue(first);
    const Owned<pi_mem> mem = again.buffer(first, 64);
    const uint32_t pattern = 3;
    const auto fill = fill_desc(mem, &pattern, 4, 0, 64, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    CHECK(read_words(queue, mem, 16) == std::vector<uint32_t>(16, 3));
}
