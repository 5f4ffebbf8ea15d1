// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of others that do the simulated driver's work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simulated {

using Bytes = std::vector<unsigned char>;

/// What a program has made, or what it has written to its standard error.
template <class T>
struct Made {
    bool success = false;
    T result;
    std::string log;
};

/// The module as LLVM's bitcode, by llvm-spirv.
Made<Bytes> translate(const std::vector<uint32_t> &words);

/// Several modules as one, by spirv-link.
Made<std::vector<uint32_t>> link(std::vector<std::vector<uint32_t>> modules);

} // namespace simulated
