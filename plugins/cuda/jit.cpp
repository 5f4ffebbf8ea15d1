// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit.hpp"

#include <pi/sdk/build_log.hpp>

#include <sstream>

namespace pi::cuda {

using namespace sdk;

// ----- Options -----------------------------------------------------------------------------------

BuildOptions::BuildOptions(const std::string &words) {
    std::istringstream list(words);
    for (std::string word; list >> word;) {
        if (word == "-g")
            debug = true;
        else if (word.size() == 3 && word.compare(0, 2, "-O") == 0 && word[2] >= '0' &&
                 word[2] <= '4')
            level = static_cast<size_t>(word[2] - '0');
        else
            others.push_back(word);
    }
    if (debug && level.value_or(0) > 0)
        fail(PI_ERROR_BUILD_FAILED, "options has '-g' and '-O", *level,
             "': CUDA compiles for a debugger at -O0 alone");
}

void BuildOptions::require_known() const {
    if (!others.empty())
        fail(PI_ERROR_BUILD_FAILED, "options has '", others.front(),
             "'; -O0 to -O4 and -g are understood");
}

JitOptions::JitOptions(const BuildOptions &options) : log_(16384) {
    add(CU_JIT_ERROR_LOG_BUFFER, log_.data());
    add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log_.size());
    if (options.debug)
        add(CU_JIT_GENERATE_DEBUG_INFO, size_t{1});
    if (options.debug || options.level) // the driver's default is 4
        add(CU_JIT_OPTIMIZATION_LEVEL, options.level.value_or(0));
}

void JitOptions::add(CUjit_option name, void *value) {
    names_.push_back(name);
    values_.push_back(value);
}

void JitOptions::add(CUjit_option name, size_t value) {
    add(name, reinterpret_cast<void *>(value));
}

// ----- Errors ------------------------------------------------------------------------------------

void check_built(Primary &primary, CUresult code, const char *call, const std::string &log) {
    if (code == CUDA_SUCCESS)
        return;
    primary.note(code);
    const std::string &device = primary.device().name();
    if (to_result(code) != PI_ERROR_BACKEND)
        primary.check(code, call, "on ", device);
    const std::string name = error_name(primary.api(), code);
    const std::string known = log.empty() ? text(call, ": ", name, ", without a log") : log;
    throw BuildError(text(call, ": ", name, " on ", device, ":\n", build_log_excerpt(known)),
                     known);
}

// ----- Linker ------------------------------------------------------------------------------------

Linker::Linker(Primary &primary, const BuildOptions &options)
    : primary_(primary), current_(primary), options_(options) {
    const CUresult code =
        primary.api().cuLinkCreate_v2(options_.count(), options_.names(), options_.values(), &id_);
    check_built(primary, code, "cuLinkCreate_v2", options_.log());
}

Linker::~Linker() {
    primary_.note(primary_.api().cuLinkDestroy(id_));
}

void Linker::add(CUjitInputType type, const std::string &image, const std::string &name) {
    // PTX needs a terminating 0, and its size counts it.
    const size_t size = image.size() + (type == CU_JIT_INPUT_PTX);
    const CUresult code = primary_.api().cuLinkAddData_v2(
        id_, type, const_cast<char *>(image.c_str()), size, name.c_str(), 0, nullptr, nullptr);
    check_built(primary_, code, "cuLinkAddData_v2", options_.log());
}

std::string Linker::complete() {
    void *image = nullptr;
    size_t size = 0;
    const CUresult code = primary_.api().cuLinkComplete(id_, &image, &size);
    check_built(primary_, code, "cuLinkComplete", options_.log());
    return {static_cast<const char *>(image), size};
}

} // namespace pi::cuda
