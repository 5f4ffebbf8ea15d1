// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdlib>

namespace pi::suite {

std::vector<std::pair<std::string, std::string>> preloaded() {
    std::vector<std::pair<std::string, std::string>> variables;
    for (const char *name :
         {"LD_PRELOAD", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
        const char *const value = std::getenv(name);
        if (value != nullptr && *value != '\0')
            variables.emplace_back(name, value);
    }
    if (!variables.empty() && variables.front().first != "LD_PRELOAD")
        variables.clear();
    return variables;
}

std::string given_to_second_process() {
    const char *const value = std::getenv(second_process_variable);
    return value != nullptr ? value : "";
}

} // namespace pi::suite
