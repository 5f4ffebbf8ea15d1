// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ur_loader.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pi_sycl {

struct Device {
    std::string selector; ///< for ONEAPI_DEVICE_SELECTOR: "opencl:0"
    std::string type;     ///< "cpu"
    std::string name;
    std::string driver; ///< its version
};

struct Platform {
    std::string name;
    std::string backend; ///< "opencl"
    std::string version;
    std::vector<Device> devices;
};

/// All platforms of the adapters that UR_ADAPTERS_FORCE_LOAD names; std::runtime_error if the
/// loader refuses these, or if a call fails.
std::vector<Platform> find_platforms(const UrLoader &loader);

/// A platform in one line, and each of its devices in one.
std::string to_text(const std::vector<Platform> &platforms);

size_t count_devices(const std::vector<Platform> &platforms);

} // namespace pi_sycl
