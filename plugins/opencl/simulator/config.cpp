// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace simulated {

Mode read_mode() {
    static constexpr std::pair<std::string_view, Mode> modes[] = {{"il", Mode::IL},
                                                                  {"only", Mode::ONLY},
                                                                  {"khr", Mode::KHR},
                                                                  {"mixed", Mode::MIXED},
                                                                  {"pocl7", Mode::POCL7}};
    const char *value = std::getenv("PI_SIMULATED_OPENCL");
    if (!value || !*value)
        return Mode::IL;
    for (const auto &[name, mode] : modes)
        if (name == value)
            return mode;
    std::fprintf(stderr, "PI_SIMULATED_OPENCL is '%s'; il, only, khr, mixed or pocl7 is needed\n",
                 value);
    std::exit(2);
}

} // namespace simulated
