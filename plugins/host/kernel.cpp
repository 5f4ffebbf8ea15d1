// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.hpp"

#include "entries.hpp"

#include <pi/sdk/descriptor.hpp>

#include <array>

namespace pi::host {

using sdk::InfoWriter;

namespace entries {

pi_result PI_CALL kernel_create(pi_program program, const char *name, pi_kernel *out_kernel) {
    return sdk::call<Program>(program, [&](Program &self) {
        sdk::require(name, "name");
        sdk::require(out_kernel, "out_kernel");
        self.require_built();
        *out_kernel = sdk::make<Kernel>(self, self.kernel(name)).give();
    });
}

pi_result PI_CALL kernel_get_info(pi_kernel kernel, pi_kernel_info name, uint64_t size, void *value,
                                  uint64_t *out_size) {
    static constexpr sdk::InfoRow<Kernel> rows[] = {
        {PI_KERNEL_INFO_NAME, [](Kernel &k, const InfoWriter &write) { write(k.native().name); }},
        {PI_KERNEL_INFO_ARGUMENT_COUNT,
         [](Kernel &k, const InfoWriter &write) { write(k.native().argument_count); }},
        {PI_KERNEL_INFO_PROGRAM,
         [](Kernel &k, const InfoWriter &write) { write(k.program().handle()); }},
        {PI_KERNEL_INFO_CONTEXT,
         [](Kernel &k, const InfoWriter &write) { write(k.program().context().handle()); }},
        {PI_KERNEL_INFO_REFERENCE_COUNT,
         [](Kernel &k, const InfoWriter &write) { write(k.reference_count()); }},
    };
    return sdk::call<Kernel>(
        kernel, [&](Kernel &self) { sdk::answer_info(self, rows, name, size, value, out_size); });
}

pi_result PI_CALL kernel_get_group_info(pi_kernel kernel, pi_device device,
                                        pi_kernel_group_info name, uint64_t size, void *value,
                                        uint64_t *out_size) {
    // A native function says nothing of itself: local memory comes with its arguments, and what a work-item has of
    // its own lies on the thread's stack.
    static constexpr sdk::InfoRow<Kernel> rows[] = {
        {PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE,
         [](Kernel &, const InfoWriter &write) { write(max_work_group_size); }},
        {PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE,
         [](Kernel &, const InfoWriter &write) { write(std::array<uint64_t, 3>{}); }},
        {PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint64_t{0}); }},
        {PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint64_t{0}); }},
        {PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE,
         [](Kernel &, const InfoWriter &write) { write(uint64_t{1}); }},
    };
    return sdk::call<Kernel>(kernel, [&](Kernel &self) {
        self.program().context().device(device);
        sdk::answer_info(self, rows, name, size, value, out_size);
    });
}

pi_result PI_CALL kernel_get_sub_group_info(pi_kernel kernel, pi_device device,
                                            pi_kernel_sub_group_info name, uint64_t size,
                                            void *value, uint64_t *out_size) {
    // Each work-item is a sub-group of its own: a native function runs its vectors itself.
    static constexpr sdk::InfoRow<Kernel> rows[] = {
        {PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint32_t{1}); }},
        {PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT,
         [](Kernel &, const InfoWriter &write) {
             write(static_cast<uint32_t>(max_work_group_size));
         }},
        {PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint32_t{0}); }},
    };
    return sdk::call<Kernel>(kernel, [&](Kernel &self) {
        self.program().context().device(device);
        sdk::answer_info(self, rows, name, size, value, out_size);
    });
}

} // namespace entries

} // namespace pi::host
