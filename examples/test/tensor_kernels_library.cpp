// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of tensor_io as a native library, which simulated devices load; with WRONG_KERNELS
// the last kernel is none of them.
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <string_view>

const pi_native_program *PI_CALL piNativeProgram(void) {
#ifdef WRONG_KERNELS
    static const std::array<pi_native_kernel, 3> kernels = [] {
        std::array<pi_native_kernel, 3> all{};
        const pi_native_program &right = examples::native_kernels();
        std::copy_n(right.kernels, all.size(), all.begin());
        const auto classify = std::find_if(all.begin(), all.end(), [](const auto &kernel) {
            return std::string_view(kernel.name) == "classify";
        });
        classify->function = [](const pi_native_group *, void *const *) {};
        return all;
    }();
    static const pi_native_program program{sizeof program, kernels.size(), kernels.data()};
    return &program;
#else
    return &examples::native_kernels();
#endif
}
