// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "built_in.hpp"

#include <pi/sdk/verification_kernel.hpp>

namespace pi::drivers {

std::string built_in_image(const std::vector<std::string> &kernels) {
    if (kernels != std::vector<std::string>{sdk::verification_kernel_name})
        return "";
    return "library " PI_SIMULATED_KERNELS "\nfunction " + kernels.front() + " pointer pointer\n";
}

} // namespace pi::drivers
