// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nvrtc.hpp"

#include <pi/sdk/build_log.hpp>

#include <algorithm>
#include <memory>

namespace pi::cuda {

using namespace sdk;

namespace {

Library open_first(const std::string &path, int driver_version) {
    if (!path.empty())
        return Library(path);
    std::vector<std::string> names;
    for (int major = driver_version / 1000; major >= 12; --major)
        names.push_back(text("libnvrtc.so.", major));
    names.emplace_back("libnvrtc.so.11.2"); // of 11.2 to 11.8
    std::string sought;
    for (const std::string &name : names) {
        try {
            return Library(name);
        } catch (const Error &error) {
            sought += text(sought.empty() ? "" : "; ", error.text());
        }
    }
    fail(PI_ERROR_UNAVAILABLE, sought);
}

} // namespace

Nvrtc::Nvrtc(const std::string &path, int driver_version)
    : library_(open_first(path, driver_version)) {
    look_up();
    int count = 0;
    if (functions_.nvrtcGetNumSupportedArchs && functions_.nvrtcGetSupportedArchs) {
        check(functions_.nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
        architectures_.resize(static_cast<size_t>(count));
        check(functions_.nvrtcGetSupportedArchs(architectures_.data()), "nvrtcGetSupportedArchs");
    }
}

void Nvrtc::look_up() {
    enum { OPTIONAL, NEEDED };
#define PI_NVRTC_LOOK_UP(need, result, name, parameters)                                           \
    functions_.name = need == NEEDED ? library_.get<decltype(functions_.name)>(#name)              \
                                     : library_.find<decltype(functions_.name)>(#name);
    PI_NVRTC_FUNCTIONS(PI_NVRTC_LOOK_UP)
#undef PI_NVRTC_LOOK_UP
}

void Nvrtc::check(nvrtcResult code, const char *call) const {
    if (code != NVRTC_SUCCESS)
        fail(code == NVRTC_ERROR_OUT_OF_MEMORY ? PI_ERROR_OUT_OF_HOST_MEMORY : PI_ERROR_BACKEND,
             call, ": ", functions_.nvrtcGetErrorString(code));
}

int Nvrtc::architecture(int capability) const {
    if (architectures_.empty())
        return capability;
    int best = 0;
    for (const int one : architectures_)
        if (one <= capability)
            best = std::max(best, one);
    if (!best)
        fail(PI_ERROR_BUILD_FAILED, library_.path(), " compiles for compute capability ",
             *std::min_element(architectures_.begin(), architectures_.end()),
             " and newer ones (major * 10 + minor); the device has ", capability);
    return best;
}

std::string Nvrtc::compile(const std::string &source, const BuildOptions &options, int capability,
                           bool part, std::string &log) const {
    std::vector<std::string> words{
        text("--gpu-architecture=compute_", architecture(capability)),
        text("--relocatable-device-code=", part ? "true" : "false"),
    };
    if (options.debug)
        words.emplace_back("--device-debug");
    words.insert(words.end(), options.others.begin(), options.others.end());
    std::vector<const char *> pointers;
    pointers.reserve(words.size());
    for (const std::string &word : words)
        pointers.push_back(word.c_str());

    nvrtcProgram id = nullptr;
    check(functions_.nvrtcCreateProgram(&id, source.c_str(), "program.cu", 0, nullptr, nullptr),
          "nvrtcCreateProgram");
    const std::unique_ptr<nvrtcProgram, nvrtcResult (*)(nvrtcProgram *)> owner(
        &id, functions_.nvrtcDestroyProgram);
    const nvrtcResult code =
        functions_.nvrtcCompileProgram(id, static_cast<int>(pointers.size()), pointers.data());
    size_t size = 0;
    check(functions_.nvrtcGetProgramLogSize(id, &size), "nvrtcGetProgramLogSize");
    std::string words_of_it(size, '\0');
    check(functions_.nvrtcGetProgramLog(id, words_of_it.data()), "nvrtcGetProgramLog");
    log = words_of_it.substr(0, words_of_it.find('\0'));
    if (code == NVRTC_ERROR_COMPILATION || code == NVRTC_ERROR_INVALID_OPTION)
        throw BuildError(text("nvrtcCompileProgram: ", functions_.nvrtcGetErrorString(code), ":\n",
                              build_log_excerpt(log)),
                         log);
    check(code, "nvrtcCompileProgram");
    check(functions_.nvrtcGetPTXSize(id, &size), "nvrtcGetPTXSize");
    std::string ptx(size, '\0');
    check(functions_.nvrtcGetPTX(id, ptx.data()), "nvrtcGetPTX");
    return ptx.substr(0, ptx.find('\0'));
}

} // namespace pi::cuda
