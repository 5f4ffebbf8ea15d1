// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVRTC in software: comments in a source that describe a native library become an image
// (README.md). Messages and codes are the real compiler's.
#include <pi/cuda/nvrtc_api.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

namespace pi::cuda {

#define PI_NVRTC_DECLARE(need, result, name, parameters)                                           \
    extern "C" __attribute__((visibility("default"))) result name parameters;
PI_NVRTC_FUNCTIONS(PI_NVRTC_DECLARE)
#undef PI_NVRTC_DECLARE

struct _nvrtcProgram {
    std::string source, name, ptx, log;
};

namespace {

constexpr int architectures[] = {75, 80, 86, 90, 100};
constexpr const char *mark = "//PI ";

struct Wrong {
    nvrtcResult code;
    std::string log;
};

struct Options {
    std::map<std::string, std::string> macros;
    bool part = false; ///< relocatable code: keeps functions for other parts
};

bool begins_with(const std::string &text, const char *begin) {
    return text.compare(0, std::strlen(begin), begin) == 0;
}

void read_option(const std::string &option, Options &options) {
    const std::string value = option.substr(std::min(option.size(), option.find('=')));
    if (begins_with(option, "-D") && option.size() > 2) {
        const std::string name = option.substr(2, option.find('=') - 2);
        options.macros[name] = value.empty() ? "1" : value.substr(1);
    } else if (begins_with(option, "--gpu-architecture=")) {
        if (std::none_of(std::begin(architectures), std::end(architectures), [&](int one) {
                return value == "=compute_" + std::to_string(one) ||
                       value == "=sm_" + std::to_string(one);
            }))
            throw Wrong{NVRTC_ERROR_INVALID_OPTION,
                        "nvrtc: error: invalid value for --gpu-architecture (-arch)\n"};
    } else if (begins_with(option, "--relocatable-device-code=")) {
        options.part = value == "=true";
    } else if (option != "--device-debug" && option != "--use_fast_math" &&
               !begins_with(option, "--std=")) {
        throw Wrong{NVRTC_ERROR_INVALID_OPTION,
                    "nvrtc: error: unrecognized option " + option + " found\n"};
    }
}

/// A line of the image with macros replaced. A constant's value must then be a number.
std::string translate(const std::string &line, const Options &options, const std::string &where) {
    std::istringstream words(line);
    std::string kind, word, result;
    words >> kind;
    if (kind == "library")
        return line + "\n";
    result = kind;
    for (int index = 0; words >> word; ++index) {
        const auto macro = options.macros.find(word);
        if (macro != options.macros.end())
            word = macro->second;
        if (kind == "constant" && index == 1 && !std::isdigit(static_cast<unsigned char>(word[0])))
            throw Wrong{NVRTC_ERROR_COMPILATION,
                        where + ": error: identifier \"" + word + "\" is undefined\n"};
        result += " " + word;
    }
    return result + "\n";
}

std::string compile(const _nvrtcProgram &program, const Options &options) {
    std::string image;
    std::istringstream lines(program.source);
    int number = 1;
    for (std::string line; std::getline(lines, line); ++number) {
        if (!begins_with(line, mark))
            continue;
        // Drops functions that nothing in the source calls, unless the code is relocatable.
        if (const std::string name = std::string(mark) + "export ";
            begins_with(line, name.c_str()) && !options.part &&
            program.source.find(mark + ("import " + line.substr(name.size())) + " ") ==
                std::string::npos)
            continue;
        image += translate(line.substr(std::strlen(mark)), options,
                           program.name + "(" + std::to_string(number) + ")");
    }
    if (image.empty())
        throw Wrong{NVRTC_ERROR_COMPILATION,
                    program.name +
                        "(1): error: a simulated compiler reads lines that begin with \"" + mark +
                        "\"; there are none\n"};
    return "PI simulated CUDA module 1\n" + image;
}

/// Returns text as NVRTC does: its size counts the final 0.
nvrtcResult write(const std::string &text, char *out) {
    if (!out)
        return NVRTC_ERROR_INVALID_INPUT;
    std::memcpy(out, text.c_str(), text.size() + 1);
    return NVRTC_SUCCESS;
}

nvrtcResult write_size(const std::string &text, size_t *out) {
    if (!out)
        return NVRTC_ERROR_INVALID_INPUT;
    *out = text.size() + 1;
    return NVRTC_SUCCESS;
}

} // namespace

const char *nvrtcGetErrorString(nvrtcResult code) {
    switch (code) {
    case NVRTC_SUCCESS:
        return "NVRTC_SUCCESS";
    case NVRTC_ERROR_INVALID_INPUT:
        return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_PROGRAM:
        return "NVRTC_ERROR_INVALID_PROGRAM";
    case NVRTC_ERROR_INVALID_OPTION:
        return "NVRTC_ERROR_INVALID_OPTION";
    case NVRTC_ERROR_COMPILATION:
        return "NVRTC_ERROR_COMPILATION";
    default:
        return "NVRTC_ERROR unknown";
    }
}

nvrtcResult nvrtcVersion(int *major, int *minor) {
    if (!major || !minor)
        return NVRTC_ERROR_INVALID_INPUT;
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
    if (!count)
        return NVRTC_ERROR_INVALID_INPUT;
    *count = static_cast<int>(std::size(architectures));
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *out) {
    if (!out)
        return NVRTC_ERROR_INVALID_INPUT;
    std::copy(std::begin(architectures), std::end(architectures), out);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *out, const char *source, const char *name,
                               int header_count, const char *const *, const char *const *) {
    if (!out || !source || header_count != 0)
        return NVRTC_ERROR_INVALID_INPUT;
    *out = new _nvrtcProgram{source, name ? name : "default_program", "", ""};
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
    if (!program || !*program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options) {
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (count < 0 || (count && !options))
        return NVRTC_ERROR_INVALID_INPUT;
    program->ptx.clear();
    program->log.clear();
    try {
        Options known;
        for (int i = 0; i < count; ++i)
            read_option(options[i], known);
        program->ptx = compile(*program, known);
    } catch (const Wrong &wrong) {
        program->log = wrong.log;
        return wrong.code;
    }
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size) {
    return program ? write_size(program->ptx, size) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx) {
    return program ? write(program->ptx, ptx) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) {
    return program ? write_size(program->log, size) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
    return program ? write(program->log, log) : NVRTC_ERROR_INVALID_PROGRAM;
}

} // namespace pi::cuda
