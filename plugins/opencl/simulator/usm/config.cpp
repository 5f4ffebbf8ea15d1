// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace simulated {

UsmConfig read_usm_config() {
    static constexpr std::pair<const char *, UsmMode> modes[] = {
        {"intel", UsmMode::INTEL},
        {"system", UsmMode::SYSTEM},
        {"svm", UsmMode::SVM},
    };
    const auto read = [](const char *variable) {
        const char *const value = std::getenv(variable);
        return std::string(value ? value : "");
    };
    std::string wanted = read("PI_SIMULATED_OPENCL_USM");
    if (wanted.empty())
        wanted = "intel";
    for (const auto &[name, mode] : modes)
        if (name == wanted)
            return {mode, name, read("PI_SIMULATED_OPENCL_USM_MISSING")};
    std::fprintf(stderr, "PI_SIMULATED_OPENCL_USM is '%s'; intel, system or svm is needed\n",
                 wanted.c_str());
    std::exit(2);
}

} // namespace simulated
