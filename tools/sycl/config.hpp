// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <vector>

namespace pi_sycl {

/// The library folders of the Python environments that are activated (VIRTUAL_ENV, CONDA_PREFIX).
std::vector<std::filesystem::path> environment_libraries();

} // namespace pi_sycl
