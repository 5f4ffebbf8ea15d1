// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The example's kernels.cl as native functions, with the macros that it uses. Include this, then
// kernels.cl in a namespace of its own, in one source file.
//
// A native kernel is called for a work-group; Native turns kernels.cl's function for one work-item
// into such a kernel.
#pragma once

#include <pi/pi_native_kernel.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace examples {

using uchar = uint8_t;
using uint = uint32_t;

struct WorkItem {
    int column;
    int row;
};

inline void count_one(uint *counter) {
    // Work-groups run on several threads.
    __atomic_fetch_add(counter, 1U, __ATOMIC_RELAXED);
}

#define KERNEL(name) void name
#define WORK_ITEM const examples::WorkItem &work_item,
#define COLUMN work_item.column
#define ROW work_item.row
#define GLOBAL
#define CONSTANT constexpr
#define FUNCTION inline
#define COUNT_ONE(address) examples::count_one(address)

/// The bytes at arguments[i] as the i-th parameter: buffers by address, values by value.
template <class Parameter>
Parameter argument(void *bytes) {
    if constexpr (std::is_pointer_v<Parameter>) {
        return static_cast<Parameter>(bytes);
    } else {
        return *static_cast<const Parameter *>(bytes);
    }
}

template <auto Function>
struct Native;

template <class... Parameters, void (*Function)(const WorkItem &, Parameters...)>
struct Native<Function> {
    static constexpr uint32_t argument_count = sizeof...(Parameters);

    template <size_t... Index>
    static void run_group(const pi_native_group &group, void *const *arguments,
                          std::index_sequence<Index...>) {
        for (uint64_t row = group.begin[1]; row < group.end[1]; ++row) {
            for (uint64_t column = group.begin[0]; column < group.end[0]; ++column) {
                Function({static_cast<int>(column), static_cast<int>(row)},
                         argument<Parameters>(arguments[Index])...);
            }
        }
    }
    static void PI_CALL run(const pi_native_group *group, void *const *arguments) {
        run_group(*group, arguments, std::index_sequence_for<Parameters...>{});
    }
};

template <auto Function>
constexpr pi_native_kernel native(const char *name) {
    return {name, &Native<Function>::run, Native<Function>::argument_count, 0};
}

} // namespace examples
