// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's compiler and linker: their options and their logs.
#pragma once

#include "primary.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pi::cuda {

/// The parsed options of a build.
struct BuildOptions {
    /// PI_ERROR_BUILD_FAILED for options that contradict each other.
    explicit BuildOptions(const std::string &words);
    /// PI_ERROR_BUILD_FAILED unless the driver understands all options; it understands none of
    /// NVRTC's.
    void require_known() const;

    bool debug = false;              ///< -g
    std::optional<size_t> level;     ///< -O0 to -O4
    std::vector<std::string> others; ///< in the given order
};

/// The options for cuModuleLoadDataEx and cuLinkCreate, with a buffer for the error log, which must
/// outlive a link.
class JitOptions {
public:
    explicit JitOptions(const BuildOptions &options);
    JitOptions(const JitOptions &) = delete;

    unsigned count() const { return static_cast<unsigned>(names_.size()); }
    CUjit_option *names() { return names_.data(); }
    void **values() { return values_.data(); }
    std::string log() const { return log_.data(); }

private:
    void add(CUjit_option name, void *value);
    void add(CUjit_option name, size_t value);

    std::vector<char> log_;
    std::vector<CUjit_option> names_;
    std::vector<void *> values_;
};

/// The error of a build step; `log` is the driver's or the compiler's.
struct BuildError : sdk::Error {
    BuildError(std::string text, std::string whole_log)
        : Error(PI_ERROR_BUILD_FAILED, std::move(text)), log(std::move(whole_log)) {}
    std::string log;
};

/// Throws unless the code is CUDA_SUCCESS. If the program is at fault, a BuildError with the
/// beginning of the log.
void check_built(Primary &primary, CUresult code, const char *call, const std::string &log);

/// Links parts into one image for the device of a primary context, which is current during the
/// linker's lifetime.
class Linker {
public:
    Linker(Primary &primary, const BuildOptions &options);
    ~Linker();
    Linker(const Linker &) = delete;

    /// Adds PTX, which is compiled here, or a cubin; either ends with a 0. Otherwise BuildError.
    void add(CUjitInputType type, const std::string &image, const std::string &name);
    /// Returns the image. BuildError if the parts do not fit together.
    std::string complete();

private:
    Primary &primary_;
    const Current current_;
    JitOptions options_;
    CUlinkState id_ = nullptr;
};

} // namespace pi::cuda
