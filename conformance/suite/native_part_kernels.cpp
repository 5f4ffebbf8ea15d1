// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program in two parts in SPIR-V (spirv/caller.cl, spirv/callee.cl) as native functions, which
// a simulated device runs instead. Each part has its own copy, with its own specialization
// constant. One never runs, as it calls an undefined function (spirv/broken.cl).

#include "native_part_kernels.hpp"

extern "C" {
PI_EXPORT uint32_t specialization_1 = 3;
PI_EXPORT uint32_t changed(uint32_t value) {
    return value * specialization_1 + 1;
}
PI_EXPORT uint32_t (*call_changed)(uint32_t value) = nullptr; // which linking sets
}

namespace pi::suite {
namespace {

void PI_CALL native_change(const pi_native_group *group, void *const *arguments) {
    auto *const data = static_cast<uint32_t *>(arguments[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        data[i] = call_changed(data[i]);
}

void PI_CALL native_broken(const pi_native_group *, void *const *) {}

constexpr pi_native_kernel kernels[] = {{"change", &native_change, 1, 0},
                                        {"broken", &native_broken, 1, 0}};

} // namespace

const pi_native_program native_part_program = {sizeof(pi_native_program),
                                               sizeof kernels / sizeof *kernels, kernels};

} // namespace pi::suite
