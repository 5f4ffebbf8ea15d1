// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// External programs that do the simulated driver's work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simulated {

using Bytes = std::vector<unsigned char>;

/// A program's output, or its standard error.
template <class T>
struct Made {
    bool success = false;
    T result;
    std::string log;
};

/// Translates the module to LLVM bitcode, with llvm-spirv.
Made<Bytes> translate(const std::vector<uint32_t> &words);

/// Links several modules into one, with spirv-link.
Made<std::vector<uint32_t>> link(std::vector<std::vector<uint32_t>> modules);

} // namespace simulated
