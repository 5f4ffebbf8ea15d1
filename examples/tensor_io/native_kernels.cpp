// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernels.cl as native functions.
#include "kernels.hpp"
#include "native_functions.hpp"

#include <iterator>

namespace examples {
namespace {

#include "kernels.cl"

constexpr pi_native_kernel kernels[] = {native<normalise>("normalise"),
                                        native<convolve>("convolve"), native<classify>("classify")};

constexpr pi_native_program program{sizeof(pi_native_program), std::size(kernels), kernels};

} // namespace

const pi_native_program &native_kernels() {
    return program;
}

} // namespace examples
