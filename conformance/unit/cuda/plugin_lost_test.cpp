// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An error of a kernel spoils the device's context for good: until all that stands on it is released.
#include "plugin_fixture.hpp"

using namespace cuda_test;

namespace {

/// A launch of count_up on an address that there is not.
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

pi_result wait(pi_event event) {
    return piEventWait(event, patience);
}

} // namespace

TEST_CASE("a command that spoils its context fails, and so does all that comes after it") {
    const Machine machine({first, second});
    const Owned<pi_queue> queue = machine.queue(first), other = machine.queue(first);
    const Owned<pi_mem> mem = machine.buffer(first, 64);
    const Illegal illegal(machine);
    const uint32_t pattern = 1;
    const auto fill = fill_desc(mem, &pattern, 4, 0, 64);
    Owned<pi_event> gate, held, spoilt;
    OK(piEventCreateHost(machine.context, gate.out()));
    pi_event waits[] = {gate};
    OK(piEnqueueMemBufferFill(other, &fill, 1, waits, held.out()));
    OK(piEnqueueKernelLaunch(queue, &illegal.launch, 0, nullptr, spoilt.out()));
    REFUSED(PI_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS", wait(spoilt));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    REFUSED(PI_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS", wait(held));
    REFUSED(PI_ERROR_DEVICE_LOST, "first (simulated) is lost",
            piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    Owned<pi_mem> more;
    auto d = desc<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
    d.size = 64;
    REFUSED(PI_ERROR_DEVICE_LOST, "ILLEGAL_ADDRESS",
            piMemBufferCreate(machine.context, machine.devices[first], &d, more.out()));
    OK(piQueueFinish(queue)); // all are final
}

TEST_CASE("while a device is lost, others go on working") {
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

TEST_CASE("a device that a command without an event has spoilt is there again at once, too") {
    for (int round = 0; round < 3; ++round) {
        {
            const Machine lost({first});
            const Owned<pi_queue> queue = lost.queue(first);
            const Illegal illegal(lost);
            pi_result result = PI_SUCCESS;
            while (result == PI_SUCCESS) // until it is known
                result = piEnqueueKernelLaunch(queue, &illegal.launch, 0, nullptr, nullptr);
            CHECK(result == PI_ERROR_DEVICE_LOST);
        }
        const Machine again({first});
        const Owned<pi_queue> queue = again.queue(first);
        CHECK(read_words(queue, again.buffer(first, 64), 1).size() == 1);
    }
}

TEST_CASE("a lost device is there again when all of its contexts are released") {
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
