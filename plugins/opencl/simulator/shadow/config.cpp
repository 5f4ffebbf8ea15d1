// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simulated {

size_t read_shadow_size() {
    const char *value = std::getenv("PI_SIMULATED_OPENCL_SHADOW_BYTES");
    if (!value || !*value)
        return 65536;
    size_t size = 0;
    const char *end = value + std::strlen(value);
    const auto [rest, error] = std::from_chars(value, end, size);
    if (error == std::errc{} && rest == end)
        return size;
    std::fprintf(stderr, "PI_SIMULATED_OPENCL_SHADOW_BYTES is '%s'; a number of bytes is needed\n",
                 value);
    std::exit(2);
}

} // namespace simulated
