// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdlib>

namespace pi_sycl {

std::vector<std::filesystem::path> environment_libraries() {
    std::vector<std::filesystem::path> folders;
    for (const char *const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        const char *const value = std::getenv(name);
        if (value != nullptr && *value != '\0') {
            folders.push_back(std::filesystem::path(value) / "lib");
        }
    }
    return folders;
}

} // namespace pi_sycl
