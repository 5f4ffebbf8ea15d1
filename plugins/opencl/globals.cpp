// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables of programs.
#include "globals.hpp"
#include "entries.hpp"
#include "program.hpp"
#include "submission.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/region.hpp>

#include <cstdio>
#include <fstream>

namespace pi::opencl {

using namespace sdk;

namespace {

struct Variable {
    void *address = nullptr;
    size_t size = 0;
};

void require_globals(const Device &device) {
    if (!device.has_globals())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(),
             " gives no access to variables of programs: its platform lacks "
             "clGetDeviceGlobalVariablePointerINTEL, or its "
             "CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE is 0");
}

Variable find_variable(const Program &program, const Device &device, const char *name) {
    require(name, "name");
    // Drivers crash on programs that are not built.
    if (!program.is_built_for(device))
        fail(PI_ERROR_INVALID_OPERATION, "program is not built for ", device.name());
    Variable variable;
    const cl_int code = device.platform().globals().find(device.id(), program.id(), name,
                                                         &variable.size, &variable.address);
    if (code == CL_INVALID_ARG_VALUE)
        fail(PI_ERROR_INVALID_NAME, "name is '", name, "'; the program has no such variable on ",
             device.name());
    check(code, "clGetDeviceGlobalVariablePointerINTEL", "'", name, "'");
    return variable;
}

/// Whether the variable is in memory that this process may not write, as constants of a CPU's
/// programs are: the driver would crash.
bool is_constant(const Variable &variable, const Device &device) {
    if (device.type() != PI_DEVICE_TYPE_CPU)
        return false;
    const auto address = reinterpret_cast<uintptr_t>(variable.address);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0, end = 0;
        char writable = 'w';
        if (std::sscanf(line.c_str(), "%lx-%lx %*c%c", &begin, &end, &writable) == 3 &&
            begin <= address && address < end)
            return writable != 'w';
    }
    return false;
}

/// A copy between a variable and host memory.
template <class Pointer>
class GlobalCommand final : public VendorCommand {
public:
    GlobalCommand(Queue &queue, const Program &program, const char *name, uint64_t offset,
                  Pointer host, uint64_t size)
        : VendorCommand(queue), program_(ProgramOwner::retained(queue.api(), program.id())),
          name_(name), offset_(offset), host_(host), size_(size) {}

private:
    void issue(Submission &submission) override {
        const GlobalsApi &cl = queue().device().platform().globals();
        if constexpr (std::is_same_v<Pointer, void *>)
            add(submission, "clEnqueueReadGlobalVariableINTEL", cl.read);
        else
            add(submission, "clEnqueueWriteGlobalVariableINTEL", cl.write);
    }
    void add(Submission &submission, const char *call, GlobalsApi::Enqueue<Pointer> function) {
        submission.add(call, function, program_.get(), name_.c_str(), cl_bool{CL_FALSE}, size_,
                       offset_, host_);
    }

    const ProgramOwner program_;
    const std::string name_;
    const size_t offset_;
    const Pointer host_;
    const size_t size_;
};

template <class Desc>
pi_result enqueue_global(pi_queue queue, const Desc *desc, pi_struct_type type, uint32_t wait_count,
                         const pi_event *wait_list, pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        require_globals(self.device());
        const Desc known = read_desc(desc, type);
        using Pointer = decltype(known.host_ptr);
        constexpr bool writes = std::is_same_v<Pointer, const void *>;
        Program &program = checked<Program>(self.host(), known.program, "program");
        if (&program.context() != &self.context())
            fail(PI_ERROR_INVALID_PROGRAM, "program is of another context than the queue");
        const Variable variable = find_variable(program, self.device(), known.name);
        require(known.host_ptr, "host_ptr");
        check_range(known.offset, known.size, variable.size, "the variable");
        if (writes && is_constant(variable, self.device()))
            fail(PI_ERROR_INVALID_OPERATION, "'", known.name, "' is a constant of the program");
        program.note_use();
        enqueue_vendor<GlobalCommand<Pointer>>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, program, known.name,
            known.offset, known.host_ptr, known.size);
    });
}

} // namespace

GlobalsApi find_globals(const Platform &platform) {
    if (platform.api_version() < 200) // no variables
        return {};
    GlobalsApi api;
    api.find =
        platform.extension_function<GlobalsApi::Find>("clGetDeviceGlobalVariablePointerINTEL");
    api.read = platform.extension_function<decltype(api.read)>("clEnqueueReadGlobalVariableINTEL");
    api.write =
        platform.extension_function<decltype(api.write)>("clEnqueueWriteGlobalVariableINTEL");
    return api;
}

namespace entries {

pi_result PI_CALL piEnqueueDeviceGlobalRead(pi_queue queue, const pi_device_global_read_desc *desc,
                                            uint32_t wait_count, const pi_event *wait_list,
                                            pi_event *out_event) {
    return enqueue_global(queue, desc, PI_TYPE_DEVICE_GLOBAL_READ_DESC, wait_count, wait_list,
                          out_event);
}

pi_result PI_CALL piEnqueueDeviceGlobalWrite(pi_queue queue,
                                             const pi_device_global_write_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event) {
    return enqueue_global(queue, desc, PI_TYPE_DEVICE_GLOBAL_WRITE_DESC, wait_count, wait_list,
                          out_event);
}

pi_result PI_CALL piProgramGetGlobalVariablePointer(pi_program program, pi_device device,
                                                    const char *name, void **out_pointer,
                                                    uint64_t *out_size) {
    return call<Program>(program, [&](Program &self) {
        const Device &on = self.context().checked_device(device);
        require_globals(on);
        if (!out_pointer && !out_size)
            fail(PI_ERROR_INVALID_NULL_POINTER, "out_pointer and out_size are both NULL");
        const Variable variable = find_variable(self, on, name);
        if (out_pointer)
            *out_pointer = variable.address;
        if (out_size)
            *out_size = variable.size;
    });
}

} // namespace entries
} // namespace pi::opencl
