// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernels.cl as a native library, which simulated devices of CUDA and Level Zero load: the very
// text, with the words of OpenCL C in C++.
#include <pi/pi_native_kernel.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace {

using uint = uint32_t;

/// The work-item that the thread is at.
thread_local uint64_t item[2];

#define __kernel inline
#define __global
#define get_global_id(axis) item[axis]
#include <kernels.cl>
#undef __kernel
#undef __global
#undef get_global_id

template <class Parameter>
Parameter parameter(void *bytes) {
    if constexpr (std::is_pointer_v<Parameter>) {
        return static_cast<Parameter>(bytes);
    } else {
        return *static_cast<const Parameter *>(bytes);
    }
}

template <auto Function>
struct Native;

template <class... Parameters, void (*Function)(Parameters...)>
struct Native<Function> {
    static constexpr uint32_t count = sizeof...(Parameters);

    template <size_t... Index>
    static void call(void *const *arguments, std::index_sequence<Index...>) {
        Function(parameter<Parameters>(arguments[Index])...);
    }
    static void PI_CALL run(const pi_native_group *group, void *const *arguments) {
        for (item[1] = group->begin[1]; item[1] < group->end[1]; ++item[1]) {
            for (item[0] = group->begin[0]; item[0] < group->end[0]; ++item[0]) {
                call(arguments, std::index_sequence_for<Parameters...>{});
            }
        }
    }
};

template <auto Function>
constexpr pi_native_kernel native(const char *name) {
    return {name, &Native<Function>::run, Native<Function>::count, 0, {}};
}

constexpr pi_native_kernel kernels[] = {
    native<vector_add>("vector_add"), native<stencil>("stencil"),
    native<matrix_product>("matrix_product"), native<sums>("sums")};
constexpr pi_native_program program{sizeof(pi_native_program), std::size(kernels), kernels};

} // namespace

const pi_native_program *PI_CALL piNativeProgram(void) {
    return &program;
}
