// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables of modules. Each device for which a program is built has its own copy. Those that CUDA
// C++ calls __constant__ are included; the host may write them.
#include "copy.hpp"
#include "entries.hpp"
#include "pageable.hpp"
#include "program.hpp"
#include "submission.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/region.hpp>

namespace pi::cuda {

using namespace sdk;

namespace {

/// A variable on one device, and the module that it belongs to.
struct Variable {
    std::shared_ptr<Module> module;
    CUdeviceptr address = 0;
    size_t size = 0;
};

Variable find_variable(const Program &program, const Device &device, const char *name) {
    require(name, "name");
    Variable variable{program.module(device)};
    if (!variable.module)
        fail(PI_ERROR_INVALID_OPERATION, "program is not built for ", device.name());
    Primary &primary = variable.module->primary();
    const Current current(primary);
    const CUresult code = primary.api().cuModuleGetGlobal_v2(&variable.address, &variable.size,
                                                             variable.module->id(), name);
    if (code == CUDA_ERROR_NOT_FOUND || !*name)
        fail(PI_ERROR_INVALID_NAME, "name is '", name, "'; the program has no such variable on ",
             device.name());
    primary.check(code, "cuModuleGetGlobal_v2", "'", name, "'");
    return variable;
}

/// A copy between a variable and pinned host memory.
class GlobalCommand final : public StreamCommand {
public:
    GlobalCommand(const Target &target, Direction direction, Variable variable, CUdeviceptr address,
                  std::byte *host, Regions &&regions)
        : StreamCommand(target.queue), direction_(direction), variable_(std::move(variable)),
          address_(address), host_(host), regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        const End there{address_, &submission.primary(), nullptr};
        const End here{reinterpret_cast<CUdeviceptr>(host_), nullptr, host_};
        if (direction_ == Direction::TO_DEVICE)
            copy_regions(submission, here, there, regions_);
        else
            copy_regions(submission, there, here, regions_);
    }
    const Direction direction_;
    const Variable variable_;
    const CUdeviceptr address_;
    std::byte *const host_;
    const Regions regions_;
};

template <class Desc>
void enqueue_global(Queue &queue, const Desc &desc, Direction direction, std::byte *host,
                    const EnqueueArguments &arguments) {
    const Program &program = checked<Program>(queue.host(), desc.program, "program");
    if (&program.context() != &queue.context())
        fail(PI_ERROR_INVALID_PROGRAM, "program belongs to another context than queue");
    queue.primary().require_alive();
    Variable variable = find_variable(program, queue.device(), desc.name);
    require(host, "host_ptr");
    check_range(desc.offset, desc.size, variable.size, "the variable");
    pi_region region{};
    region.extent[0] = desc.size;
    const CUdeviceptr address = variable.address + desc.offset;
    if (is_pinned(queue.api(), host, desc.size))
        enqueue_stream<GlobalCommand>(queue, arguments, direction, std::move(variable), address,
                                      host, Regions({&region, 1}));
    else
        enqueue_pageable(queue, arguments, queue.primary(), direction, address, host,
                         Regions({&region, 1}), std::move(variable.module));
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueDeviceGlobalRead(pi_queue queue, const pi_device_global_read_desc *desc,
                                            uint32_t wait_count, const pi_event *wait_list,
                                            pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_DEVICE_GLOBAL_READ_DESC);
        enqueue_global(self, known, Direction::TO_HOST, static_cast<std::byte *>(known.host_ptr),
                       {known.flags, known.type, wait_count, wait_list, out_event});
    });
}

pi_result PI_CALL piEnqueueDeviceGlobalWrite(pi_queue queue,
                                             const pi_device_global_write_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_DEVICE_GLOBAL_WRITE_DESC);
        enqueue_global(self, known, Direction::TO_DEVICE,
                       static_cast<std::byte *>(const_cast<void *>(known.host_ptr)),
                       {known.flags, known.type, wait_count, wait_list, out_event});
    });
}

pi_result PI_CALL piProgramGetGlobalVariablePointer(pi_program program, pi_device device,
                                                    const char *name, void **out_pointer,
                                                    uint64_t *out_size) {
    return call<Program>(program, [&](Program &self) {
        const Device &on = self.context().checked_device(device);
        if (!out_pointer && !out_size)
            fail(PI_ERROR_INVALID_NULL_POINTER, "out_pointer and out_size are both NULL");
        const Variable variable = find_variable(self, on, name);
        if (out_pointer)
            *out_pointer = reinterpret_cast<void *>(variable.address);
        if (out_size)
            *out_size = variable.size;
    });
}

} // namespace entries
} // namespace pi::cuda
