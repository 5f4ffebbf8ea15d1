// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables and functions of modules. Each device for which a program is built has its own copy.
#include "copy.hpp"
#include "entries.hpp"
#include "program.hpp"

#include <pi/sdk/descriptor.hpp>

namespace pi::level_zero {

using namespace sdk;

namespace {

/// A variable on one device, and the module that it belongs to.
struct Variable {
    std::shared_ptr<Module> module;
    std::byte *address = nullptr;
    size_t size = 0;
};

Variable find_variable(const Program &program, const Device &device, const char *name) {
    require(name, "name");
    Place &place = program.built_module(device).place();
    Variable variable{program.module(device)};
    void *address = nullptr;
    const ze_result_t code = *name ? place.api().zeModuleGetGlobalPointer(
                                         variable.module->id(), name, &variable.size, &address)
                                   : ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    // Intel's driver returns ZE_RESULT_ERROR_INVALID_ARGUMENT for it.
    if (code == ZE_RESULT_ERROR_INVALID_GLOBAL_NAME || code == ZE_RESULT_ERROR_INVALID_ARGUMENT)
        fail(PI_ERROR_INVALID_NAME, "name is '", name, "'; the program has no such variable on ",
             device.name());
    place.check(code, "zeModuleGetGlobalPointer", "'", name, "'");
    variable.address = static_cast<std::byte *>(address);
    return variable;
}

class GlobalCommand final : public ListCommand {
public:
    GlobalCommand(const Target &target, Variable variable, std::byte *src, std::byte *dst,
                  uint64_t size)
        : ListCommand(target.queue), variable_(std::move(variable)), src_(src), dst_(dst),
          size_(size) {}

private:
    void issue(Submission &submission) override {
        const Rectangle bytes{0, size_, 1, 1, size_, size_};
        append_box(submission, {src_}, bytes, {dst_}, bytes);
    }
    const Variable variable_;
    std::byte *const src_, *const dst_;
    const uint64_t size_;
};

template <class Desc>
void enqueue_global(Queue &queue, const Desc &desc, bool to_host, std::byte *host,
                    const EnqueueArguments &arguments) {
    const Program &program = checked<Program>(queue.host(), desc.program, "program");
    if (&program.context() != &queue.context())
        fail(PI_ERROR_INVALID_PROGRAM, "program belongs to another context than queue");
    queue.place().require_alive();
    Variable variable = find_variable(program, queue.device(), desc.name);
    require(host, "host_ptr");
    check_range(desc.offset, desc.size, variable.size, "the variable");
    std::byte *const address = variable.address + desc.offset;
    enqueue_list<GlobalCommand>(queue, arguments, std::move(variable), to_host ? address : host,
                                to_host ? host : address, desc.size);
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueDeviceGlobalRead(pi_queue queue, const pi_device_global_read_desc *desc,
                                            uint32_t wait_count, const pi_event *wait_list,
                                            pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_DEVICE_GLOBAL_READ_DESC);
        enqueue_global(self, known, true, static_cast<std::byte *>(known.host_ptr),
                       {known.flags, known.type, wait_count, wait_list, out_event});
    });
}

pi_result PI_CALL piEnqueueDeviceGlobalWrite(pi_queue queue,
                                             const pi_device_global_write_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_DEVICE_GLOBAL_WRITE_DESC);
        enqueue_global(self, known, false,
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
            *out_pointer = variable.address;
        if (out_size)
            *out_size = variable.size;
    });
}

pi_result PI_CALL piProgramGetFunctionPointer(pi_program program, pi_device device,
                                              const char *name, uint64_t *out_pointer) {
    return call<Program>(program, [&](Program &self) {
        const Device &on = self.context().checked_device(device);
        require(name, "name");
        require(out_pointer, "out_pointer");
        const Module &module = self.built_module(on);
        void *pointer = nullptr;
        const ze_result_t code =
            module.place().api().zeModuleGetFunctionPointer(module.id(), name, &pointer);
        const bool unknown = code == ZE_RESULT_ERROR_INVALID_FUNCTION_NAME ||
                             code == ZE_RESULT_ERROR_INVALID_ARGUMENT;
        if (unknown && self.has_kernel(on, name))
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "'", name,
                 "' is a kernel, which has no address: exported functions have");
        if (unknown)
            fail(PI_ERROR_INVALID_NAME, "name is '", name,
                 "'; the program exports no such function on ", on.name());
        module.place().check(code, "zeModuleGetFunctionPointer", "'", name, "'");
        *out_pointer = reinterpret_cast<uintptr_t>(pointer);
    });
}

} // namespace entries
} // namespace pi::level_zero
