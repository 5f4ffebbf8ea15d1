// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's own compiler and linker: their options, and what they say.
#pragma once

#include "primary.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pi::cuda {

/// The words of a build's options.
struct BuildOptions {
    /// PI_ERROR_BUILD_FAILED for words that contradict each other.
    explicit BuildOptions(const std::string &words);
    /// PI_ERROR_BUILD_FAILED unless the driver understands all of them, which knows none of NVRTC's.
    void require_known() const;

    bool debug = false;              ///< -g
    std::optional<size_t> level;     ///< -O0 to -O4
    std::vector<std::string> others; ///< in their order
};

/// The same for cuModuleLoadDataEx and cuLinkCreate, with a place for the log of what goes wrong. A link writes there until
/// its end.
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

/// What a step of a build threw, whose `log` is the driver's or the compiler's.
struct BuildError : sdk::Error {
    BuildError(std::string text, std::string whole_log)
        : Error(PI_ERROR_BUILD_FAILED, std::move(text)), log(std::move(whole_log)) {}
    std::string log;
};

/// Throws unless the code is CUDA_SUCCESS: a BuildError with the begin of the log where the program is to blame.
void check_built(Primary &primary, CUresult code, const char *call, const std::string &log);

/// Parts that become one image for the device of a primary context, which is current meanwhile.
class Linker {
public:
    Linker(Primary &primary, const BuildOptions &options);
    ~Linker();
    Linker(const Linker &) = delete;

    /// PTX, which is compiled here, or a cubin, with a 0 behind it. BuildError if it is none.
    void add(CUjitInputType type, const std::string &image, const std::string &name);
    /// The image. BuildError if the parts do not fit together.
    std::string complete();

private:
    Primary &primary_;
    const Current current_;
    JitOptions options_;
    CUlinkState id_ = nullptr;
};

} // namespace pi::cuda
