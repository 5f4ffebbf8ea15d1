// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdlib>
#include <string_view>

namespace pi::unified_runtime {

Config Config::read() {
    Config config;
    const char *const storage = std::getenv("PI_UR_STORAGE");
    config.always_storages = storage != nullptr && std::string_view(storage) == "1";
    const char *const platform = std::getenv("PI_UR_PLATFORM");
    config.platform = platform != nullptr ? platform : "";
    return config;
}

} // namespace pi::unified_runtime
