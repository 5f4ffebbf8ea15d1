// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler for CUDA C++, a library of its own beside the driver, which is there or not.
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
    /// PI_ERROR_UNAVAILABLE with what was sought: the library `path`, or, where that is empty, the newest
    /// whose name has no newer major version than the driver. A driver takes no PTX that is newer than itself: where the
    /// minor version is newer, as with an NVRTC that was installed apart, builds fail with the driver's words, and `path`
    /// must name an older one.
    Nvrtc(const std::string &path, int driver_version);

    /// PTX for a device of this compute capability (major * 10 + minor); the compiler's words go to `log`. A part's functions
    /// may be in others. BuildError where the source is no CUDA C++, or an option none of NVRTC's.
    std::string compile(const std::string &source, const BuildOptions &options, int capability,
                        bool part, std::string &log) const;

private:
    void look_up();
    /// The newest of those that it compiles for and the device takes.
    int architecture(int capability) const;
    void check(nvrtcResult code, const char *call) const;

    const sdk::Library library_;
    pi_nvrtc_functions functions_{};
    std::vector<int> architectures_; ///< empty if it does not tell
};

} // namespace pi::cuda
