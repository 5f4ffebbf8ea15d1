// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdlib>

namespace level_zero_plugin_test {

/// The devices that Intel's driver is configured to have.
struct Config {
    std::size_t devices = count("CreateMultipleRootDevices", 1);
    std::size_t tiles = count("CreateMultipleSubDevices", 0); ///< per device

private:
    static std::size_t count(const char *variable, std::size_t otherwise) {
        const char *const value = std::getenv(variable);
        return value ? std::strtoul(value, nullptr, 10) : otherwise;
    }
};

} // namespace level_zero_plugin_test
