// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "library.hpp"

#include "fixture.hpp"
#include "require.hpp"

#include <filesystem>
#include <string_view>

namespace pi::suite {

std::string suite_library(const char *name) {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    const std::filesystem::path folder =
        (program.parent_path() / PI_SUITE_LIBRARIES).lexically_normal();
    if (std::filesystem::exists(folder / name))
        return folder / name;
    throw Failure{join("the suite's own library ", name, " is missing in ", folder.string())};
}

bool is_simulated(pi_device device) {
    const auto name = get_info_list<char>(&piDeviceGetInfo, device, PI_DEVICE_INFO_NAME);
    return std::string_view(name.data()).ends_with("(simulated)");
}

std::string simulated_cuda_module(const char *library, const char *lines) {
    return join("PI simulated CUDA module 1\nlibrary ", suite_library(library), '\n', lines);
}

std::string simulated_level_zero_module(const char *library, const char *lines) {
    return join("PI simulated Level Zero module 1\nlibrary ", suite_library(library), '\n', lines);
}

} // namespace pi::suite
