// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "library.hpp"

#include "require.hpp"

#include <filesystem>

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

} // namespace pi::suite
