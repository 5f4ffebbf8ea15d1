// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "library.hpp"

#include "bench.hpp"
#include "require.hpp"

#include <filesystem>
#include <string_view>

namespace pi::suite {

std::string suite_library(const char *name) {
    const std::filesystem::path folder =
        std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const char *libraries : {"../lib", "../" PI_SUITE_LIBRARY_FOLDER}) {
        const std::filesystem::path path = folder / libraries / name;
        if (std::filesystem::exists(path))
            return path.lexically_normal();
    }
    throw Failure{join("the suite's own library ", name, " is missing in ",
                       (folder / "../lib").lexically_normal().string())};
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
