// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulated drivers load: a text that says what native libraries have. Their README.md have the format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pi::drivers {

/// How a parameter's bytes become the argument of a native kernel.
enum class Pass {
    value,   ///< a copy of the bytes
    pointer, ///< 8 bytes, a device address: where the driver reaches it
    /// 8 bytes, a device address of memory that has addresses in it: a copy, in which they are where the driver reaches
    /// them
    addresses,
    texture, ///< 8 bytes, an image with a sampler: a pi_native_image with its sampler
    surface, ///< 8 bytes, an image without one: a pi_native_image
    sampler, ///< 8 bytes, a sampler of its own: a pi_native_sampler
    shared,  ///< of the group's own memory: its address
};

struct Parameter {
    Pass pass = Pass::value;
    std::size_t size = 0, offset = 0;
};

/// What a function demands of its launches; zeros = nothing.
struct Demand {
    std::array<unsigned, 3> group{};
    unsigned sub_group = 0;
};

/// A native library, and what an image says is in it.
struct Part {
    std::string library;
    std::vector<std::pair<std::string, std::vector<Parameter>>> functions;
    std::vector<std::pair<std::string, std::size_t>> variables;
    std::vector<std::string> exports;
    std::vector<std::pair<std::string, std::string>> imports;     ///< name, and the pointer for it
    std::vector<std::pair<std::string, std::uint64_t>> constants; ///< variable and value
    std::map<std::string, Demand> demands;                        ///< by function
};
using Image = std::vector<Part>;

/// The words for parameters of 8 bytes that are no values.
using Words = std::map<std::string, Pass>;

/// Of the lines of an image, its first line left out. Throws std::runtime_error for what is none.
Image read_image(const std::string &lines, const Words &words);

/// Throws std::runtime_error, in the words of CUDA's linker, where an import has no export, or a name has two meanings.
void check_names(const Image &image);

} // namespace pi::drivers
