// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variables of native libraries, which are the device's globals. All host devices run in one
// process and share them.
#include "commands.hpp"
#include "entries.hpp"
#include "native.hpp"

#include <pi/sdk/descriptor.hpp>

#include <cstring>

namespace pi::host {

using sdk::fail;
using sdk::Ref;

namespace {

/// The bytes of the variable that a command names.
template <class Desc>
std::byte *checked_variable(const Queue &queue, const Program &program, const Desc &desc,
                            bool writes) {
    if (&program.context() != &queue.context())
        fail(PI_ERROR_INVALID_PROGRAM, "program is of another context than the queue");
    program.check_place(queue.device().handle(), desc.name);
    sdk::require(desc.host_ptr, "host_ptr");
    const sdk::Variable variable = program.code().variable(desc.name);
    if (writes && !variable.writable)
        fail(PI_ERROR_INVALID_OPERATION, "\"", desc.name, "\" is constant in the library");
    sdk::check_range(desc.offset, desc.size, variable.size, "the variable");
    return variable.begin + desc.offset;
}

} // namespace

namespace entries {

pi_result PI_CALL piProgramGetGlobalVariablePointer(pi_program program, pi_device device,
                                                    const char *name, void **out_pointer,
                                                    uint64_t *out_size) {
    return sdk::call<Program>(program, [&](Program &self) {
        self.check_place(device, name);
        if (!out_pointer && !out_size)
            fail(PI_ERROR_INVALID_NULL_POINTER, "out_pointer and out_size are both NULL");
        const sdk::Variable variable = self.code().variable(name);
        if (out_pointer)
            *out_pointer = variable.begin;
        if (out_size)
            *out_size = variable.size;
    });
}

pi_result PI_CALL piEnqueueDeviceGlobalRead(pi_queue queue, const pi_device_global_read_desc *desc,
                                            uint32_t wait_count, const pi_event *wait_list,
                                            pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_DEVICE_GLOBAL_READ_DESC);
        Program &program = sdk::checked<Program>(self.host(), known.program, "program");
        const std::byte *src = checked_variable(self, program, known, false);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event},
                     cost_of(known.size),
                     [keep = Ref<Program>(program), src, dst = known.host_ptr, size = known.size] {
                         std::memmove(dst, src, size);
                     });
    });
}

pi_result PI_CALL piEnqueueDeviceGlobalWrite(pi_queue queue,
                                             const pi_device_global_write_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_DEVICE_GLOBAL_WRITE_DESC);
        Program &program = sdk::checked<Program>(self.host(), known.program, "program");
        std::byte *dst = checked_variable(self, program, known, true);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event},
                     cost_of(known.size),
                     [keep = Ref<Program>(program), src = known.host_ptr, dst, size = known.size] {
                         std::memmove(dst, src, size);
                     });
    });
}

} // namespace entries
} // namespace pi::host
