// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of a vendor's API, in the library that the plugin under test has opened.
#pragma once

#include "require.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

namespace pi::suite {

/// The paths of the process's libraries.
inline std::vector<std::string> loaded_libraries() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *paths_of) {
            static_cast<std::vector<std::string> *>(paths_of)->emplace_back(info->dlpi_name);
            return 0;
        },
        &paths);
    return paths;
}

/// The function, of a library whose path has this part; skips the test if there is none.
template <typename Function>
Function vendor_function(const char *part, const char *name) {
    for (const std::string &path : loaded_libraries()) {
        if (path.find(part) == std::string::npos)
            continue;
        void *const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr)
            continue;
        void *const function = dlsym(library, name);
        dlclose(library); // the plugin has it, too
        if (function != nullptr)
            return reinterpret_cast<Function>(function);
    }
    skip(join("the plugin has opened no library with ", name));
}

} // namespace pi::suite
