// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The images that simulated drivers load: a text that lists the contents of native libraries. The
// format is in their README.md.
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
    pointer, ///< 8 bytes, a device address: the driver's address of the same byte
    /// 8 bytes, a device address of memory that contains addresses: a copy of the memory in which
    /// they are the driver's addresses
    addresses,
    texture, ///< 8 bytes, an image with a sampler: a pi_native_image with its sampler
    surface, ///< 8 bytes, an image without a sampler: a pi_native_image
    sampler, ///< 8 bytes, a sampler as its own parameter: a pi_native_sampler
    shared,  ///< an address in the group's own memory
    area,    ///< no bytes, and last: the address of the group's own memory
};

struct Parameter {
    Pass pass = Pass::value;
    std::size_t size = 0, offset = 0;
};

/// What a function requires of its launches; zeros = nothing.
struct Requirements {
    std::array<unsigned, 3> group{};
    unsigned sub_group = 0;
};

/// A native library, and the contents that an image lists for it.
struct Part {
    std::string library;
    std::vector<std::pair<std::string, std::vector<Parameter>>> functions;
    std::vector<std::pair<std::string, std::size_t>> variables;
    std::vector<std::string> exports;
    /// name, and the pointer that receives its address
    std::vector<std::pair<std::string, std::string>> imports;
    std::vector<std::pair<std::string, std::uint64_t>> constants; ///< variable and value
    std::map<std::string, Requirements> requirements;             ///< by function
};
using Image = std::vector<Part>;

/// A parameter that is not a plain value.
struct Word {
    Pass pass = Pass::value;
    std::size_t size = 8;
};
using Words = std::map<std::string, Word>;

/// Parses the lines of an image without its first line. Throws std::runtime_error if they are
/// malformed.
Image read_image(const std::string &lines, const Words &words);

/// Throws std::runtime_error, with the messages of CUDA's linker, for an import without an export,
/// or a name defined twice.
void check_names(const Image &image);

} // namespace pi::drivers
