// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler for CUDA C++, an optional library separate from the driver.
#pragma once

#include "jit.hpp"

#include <pi/cuda/nvrtc_api.h>
#include <pi/sdk/library.hpp>

#include <string>
#include <vector>

namespace pi::cuda {

/// NVRTC, opened.
class Nvrtc {
public:
    /// Opens the library `path` or, if that is empty, the newest whose major version is not newer
    /// than the driver's. PI_ERROR_UNAVAILABLE with the names searched for. A driver does not
    /// accept PTX newer than itself. With a newer minor version (an NVRTC that was installed
    /// separately) builds fail with the driver's message, and `path` must name an older library.
    Nvrtc(const std::string &path, int driver_version);

    /// Compiles to PTX for a device of this compute capability (major * 10 + minor); the compiler's
    /// messages go to `log`. With `part`, functions may be defined in other programs. BuildError
    /// where the source is not CUDA C++, or an option is not NVRTC's.
    std::string compile(const std::string &source, const BuildOptions &options, int capability,
                        bool part, std::string &log) const;

private:
    void look_up();
    /// The newest architecture that both the compiler and the device support.
    int architecture(int capability) const;
    void check(nvrtcResult code, const char *call) const;

    const sdk::Library library_;
    pi_nvrtc_functions functions_{};
    std::vector<int> architectures_; ///< empty if the compiler does not report them
};

} // namespace pi::cuda
