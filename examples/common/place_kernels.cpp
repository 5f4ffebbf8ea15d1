// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "place_kernels.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <cstring>

namespace examples {
namespace {

using namespace pi::runtime;

std::string build_log(pi_program program, pi_device device) {
    uint64_t size = 0;
    if (piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_LOG, 0, nullptr, &size) !=
        PI_SUCCESS) {
        return {};
    }
    std::string log(size, '\0');
    piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_LOG, size, log.data(), nullptr);
    log.resize(std::strlen(log.c_str())); // without the terminating 0
    return log;
}

Program build(pi_context context, const DeviceEntry &entry) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = entry.kernels.format;
    desc.data = entry.kernels.data;
    desc.size = entry.kernels.size;
    Program program;
    check(piProgramCreate(context, &desc, program.out()), "piProgramCreate");

    auto build = pi::desc<pi_program_build_desc>();
    build.device_count = 1;
    build.devices = &entry.device;
    const pi_result result = piProgramBuild(program.get(), &build);
    if (result == PI_ERROR_BUILD_FAILED) {
        throw Error(result, "kernels.cl for " + entry.selector + ": " + last_error_text(result) +
                                "\n" + build_log(program.get(), entry.device));
    }
    check(result, "piProgramBuild");
    return program;
}

} // namespace

PlaceKernels::PlaceKernels(pi_context context, const DeviceEntry &entry,
                           const pi_native_program &names)
    : program_(build(context, entry)) {
    check(piQueueCreate(context, entry.device, nullptr, queue_.out()), "piQueueCreate");
    for (uint32_t i = 0; i < names.kernel_count; ++i) {
        const char *name = names.kernels[i].name;
        check(piKernelCreate(program_.get(), name, nullptr, kernels_[name].out()),
              "piKernelCreate");
    }
}

Event PlaceKernels::launch(const std::string &kernel, std::span<const pi_kernel_argument> arguments,
                           uint64_t columns, uint64_t rows, std::span<const pi_event> waits) const {
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.kernel = kernels_.at(kernel).get();
    desc.dimensions = 2;
    desc.argument_count = static_cast<uint32_t>(arguments.size());
    desc.arguments = arguments.data();
    desc.global_size[0] = columns;
    desc.global_size[1] = rows;
    Event event;
    check(piEnqueueKernelLaunch(queue_.get(), &desc, static_cast<uint32_t>(waits.size()),
                                waits.data(), event.out()),
          "piEnqueueKernelLaunch");
    return event;
}

Event PlaceKernels::fill_with_zeros(pi_mem mem, uint64_t offset, uint64_t size,
                                    std::span<const pi_event> waits) const {
    const uint32_t zero = 0;
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = mem;
    desc.pattern = &zero;
    desc.pattern_size = sizeof zero;
    desc.offset = offset;
    desc.size = size;
    Event event;
    check(piEnqueueMemBufferFill(queue_.get(), &desc, static_cast<uint32_t>(waits.size()),
                                 waits.data(), event.out()),
          "piEnqueueMemBufferFill");
    return event;
}

pi_kernel_argument value_argument(const int32_t &value) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_VALUE;
    argument.value = &value;
    argument.size = sizeof value;
    return argument;
}

void PlaceKernels::flush() const {
    check(piQueueFlush(queue_.get()), "piQueueFlush");
}

} // namespace examples
