// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs in SPIR-V with specialization constants (spirv/constants.cl), required groups
// (spirv/groups.cl) and required sub-groups (spirv/sub_groups.cl) as native functions, which a
// simulated device runs instead.

#include "native_spirv_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

// Their defaults; a device writes others over them.
extern "C" {
PI_EXPORT uint32_t specialization_10 = 42;
PI_EXPORT uint64_t specialization_7 = 0x123456789abcdef0;
PI_EXPORT uint16_t specialization_300 = 60000;
PI_EXPORT uint8_t specialization_0 = 200;
PI_EXPORT float specialization_5 = 1.5f;
PI_EXPORT uint8_t specialization_6 = 1;
}

namespace pi::suite {
namespace {

void PI_CALL native_constants(const pi_native_group *, void *const *arguments) {
    auto *const out = static_cast<uint64_t *>(arguments[0]);
    uint32_t bits = 0;
    std::memcpy(&bits, &specialization_5, sizeof bits);
    const uint64_t seen[] = {
        specialization_10, specialization_7, specialization_300, specialization_0, bits,
        specialization_6};
    std::copy(std::begin(seen), std::end(seen), out);
}

void PI_CALL native_fours(const pi_native_group *group, void *const *arguments) {
    auto *const data = static_cast<uint32_t *>(arguments[0]);
    std::reverse(data + group->begin[0], data + group->end[0]);
}

void PI_CALL native_sixteens(const pi_native_group *group, void *const *arguments) {
    auto *const data = static_cast<uint32_t *>(arguments[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        data[i] += 1;
}

constexpr pi_native_kernel kernels[] = {{"constants", &native_constants, 1, 0},
                                        {"fours", &native_fours, 1, 0},
                                        {"sixteens", &native_sixteens, 1, 0}};

} // namespace

const pi_native_program native_spirv_program = {sizeof(pi_native_program),
                                                sizeof kernels / sizeof *kernels, kernels};

} // namespace pi::suite
