// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "entry_points.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

namespace pi::cuda {

namespace {

struct Text {
    const char *name;
    std::string description; ///< the name in lower case: "out of memory"
};

Text text_of(const char *name) {
    std::string words(name);
    for (const char *prefix : {"CUDA_ERROR_", "CUDA_"})
        if (words.rfind(prefix, 0) == 0)
            words.erase(0, std::string(prefix).size());
    std::transform(words.begin(), words.end(), words.begin(), [](unsigned char c) {
        return c == '_' ? ' ' : static_cast<char>(std::tolower(c));
    });
    return {name, words};
}

/// Codes are the enumerators named CUDA_SUCCESS or CUDA_ERROR_*.
const std::map<int, Text> &texts() {
    static const std::map<int, Text> &all = []() -> const std::map<int, Text> & {
        auto &made = *new std::map<int, Text>;
        const std::pair<const char *, int> values[] = {
#define PI_CUDA_ENUM(type)
#define PI_CUDA_VALUE(name, value) {#name, value},
#define PI_CUDA_END(type)
#include <pi/cuda/driver_codes.def>
        };
        for (const auto &[name, value] : values)
            if (const std::string text(name);
                text == "CUDA_SUCCESS" || text.rfind("CUDA_ERROR_", 0) == 0)
                made.emplace(value, text_of(name));
        return made;
    }();
    return all;
}

} // namespace

CUresult cuGetErrorName(CUresult code, const char **out) {
    const auto found = texts().find(code);
    if (!out || found == texts().end()) {
        if (out)
            *out = nullptr;
        return CUDA_ERROR_INVALID_VALUE;
    }
    *out = found->second.name;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult code, const char **out) {
    const auto found = texts().find(code);
    if (!out || found == texts().end()) {
        if (out)
            *out = nullptr;
        return CUDA_ERROR_INVALID_VALUE;
    }
    *out = found->second.description.c_str();
    return CUDA_SUCCESS;
}

} // namespace pi::cuda
