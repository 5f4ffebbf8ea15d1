// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "native_kernels.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>

namespace pi::suite {
namespace {

void PI_CALL native_add(const pi_native_group *group, void *const *arguments) {
    auto *data = static_cast<uint32_t *>(arguments[0]);
    const uint32_t value = *static_cast<const uint32_t *>(arguments[1]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        data[i] += value;
}

void PI_CALL native_combine(const pi_native_group *group, void *const *arguments) {
    auto *dst = static_cast<uint32_t *>(arguments[0]);
    const auto *a = static_cast<const uint32_t *>(arguments[1]);
    const auto *b = static_cast<const uint32_t *>(arguments[2]);
    const uint32_t factor = *static_cast<const uint32_t *>(arguments[3]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        dst[i] = a[i] * factor + b[i];
}

void PI_CALL native_visit(const pi_native_group *group, void *const *arguments) {
    auto *visits = static_cast<uint32_t *>(arguments[0]);
    const uint64_t size_x = *static_cast<const uint64_t *>(arguments[1]);
    const uint64_t size_y = *static_cast<const uint64_t *>(arguments[2]);
    for (uint64_t z = group->begin[2]; z < group->end[2]; ++z) {
        for (uint64_t y = group->begin[1]; y < group->end[1]; ++y) {
            for (uint64_t x = group->begin[0]; x < group->end[0]; ++x)
                visits[(z * size_y + y) * size_x + x] += 1;
        }
    }
}

void PI_CALL native_reverse(const pi_native_group *group, void *const *arguments) {
    auto *data = static_cast<uint32_t *>(arguments[0]);
    auto *scratch = static_cast<uint32_t *>(arguments[1]);
    const uint64_t size = group->end[0] - group->begin[0];
    for (uint64_t i = 0; i < size; ++i)
        scratch[i] = data[group->begin[0] + i];
    for (uint64_t i = 0; i < size; ++i)
        data[group->begin[0] + i] = scratch[size - 1 - i];
}

void PI_CALL native_butterfly(const pi_native_group *group, void *const *arguments) {
    auto *data = static_cast<uint32_t *>(arguments[0]) + group->begin[0];
    auto *sums = static_cast<uint32_t *>(arguments[1]);
    auto *differences = static_cast<uint32_t *>(arguments[2]);
    const uint64_t size = group->end[0] - group->begin[0];
    for (uint64_t i = 0; i < size; ++i) {
        sums[i] = data[i] + data[size - 1 - i];
        differences[i] = data[i] - data[size - 1 - i];
    }
    for (uint64_t i = 0; i < size; ++i) {
        const uint64_t mirrored = size - 1 - i;
        data[i] = i < mirrored ? sums[i] : differences[mirrored];
    }
}

void PI_CALL native_is_null(const pi_native_group *, void *const *arguments) {
    static_cast<uint32_t *>(arguments[0])[0] = arguments[1] == nullptr;
}

void PI_CALL native_follow(const pi_native_group *group, void *const *arguments) {
    auto *const *addresses = static_cast<uint32_t *const *>(arguments[0]);
    const uint32_t value = *static_cast<const uint32_t *>(arguments[1]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        *addresses[i] += value;
}

template <std::size_t Size>
void PI_CALL native_take(const pi_native_group *, void *const *arguments) {
    std::memcpy(arguments[0], arguments[1], Size);
}

void PI_CALL native_count_groups(const pi_native_group *group, void *const *arguments) {
    auto *counts = static_cast<uint64_t *>(arguments[0]);
    std::atomic_ref(counts[0]) += 1;
    std::atomic_ref(counts[1]) += group->end[0] - group->begin[0];
    if (group->group_id[0] == group->group_count[0] - 1)
        counts[2] = group->end[0];
}

constexpr pi_native_kernel value_kernels[] = {
    {"take_1", &native_take<1>, 2, 0},         {"take_3", &native_take<3>, 2, 0},
    {"take_1000", &native_take<1000>, 2, 0},   {"take_4096", &native_take<4096>, 2, 0},
    {"take_32768", &native_take<32768>, 2, 0}, {"count_groups", &native_count_groups, 1, 0}};

constexpr pi_native_kernel native_kernels[] = {
    {"add", &native_add, 2, 0},         {"combine", &native_combine, 4, 0},
    {"visit", &native_visit, 3, 0},     {"reverse", &native_reverse, 2, 0},
    {"follow", &native_follow, 2, 0},   {"butterfly", &native_butterfly, 3, 0},
    {"is_null", &native_is_null, 2, 0},
};

} // namespace

const pi_native_program native_program = {
    sizeof(pi_native_program), sizeof native_kernels / sizeof *native_kernels, native_kernels};

const pi_native_program native_value_program = {
    sizeof(pi_native_program), sizeof value_kernels / sizeof *value_kernels, value_kernels};

} // namespace pi::suite
