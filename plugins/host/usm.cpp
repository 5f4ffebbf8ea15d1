// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm.hpp"

#include "memory.hpp"
#include "plugin.hpp"

namespace pi::host {

sdk::UsmTable<Storage> &Usm::table(const Context &context) {
    return context.platform().instance().usm();
}

Device &Usm::owner(const Context &context, pi_device device, pi_usm_kind) {
    return device ? context.device(device) : *context.devices().front();
}

std::string Usm::name(const Device &device) {
    return sdk::text("NUMA node ", device.node().number);
}

void Usm::check_scope(const Device &, uint32_t scope) {
    host::check_scope(scope);
}

void Usm::check_requirements(uint64_t requirements, uint32_t scope) {
    host::check_requirements(requirements, scope);
}

void Usm::check_poolable(uint32_t scope) {
    if (scope != scope_global)
        sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, "scope is ", scope,
                  ", which is not poolable; pools are for scope 0 (global)");
}

uint64_t Usm::alignment(const Device &, uint64_t asked) {
    return checked_alignment(asked);
}

} // namespace pi::host
