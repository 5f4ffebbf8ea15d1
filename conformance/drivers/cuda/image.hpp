// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is loaded and linked: a text that says what native libraries have. README.md has the format.
#pragma once

#include <pi/cuda/driver_api.h>

#include <string>
#include <utility>
#include <vector>

namespace pi::cuda::simulated {

/// How a parameter's bytes become the argument of a native kernel.
enum class Pass {
    value,   ///< a copy of the bytes
    pointer, ///< 8 bytes, a device address: where the driver reaches it
    /// 8 bytes, a device address of memory that has addresses in it: a copy, in which they are where the driver reaches
    /// them
    addresses,
    texture, ///< 8 bytes, a texture object: a pi_native_image with its sampler
    surface, ///< 8 bytes, a surface object: a pi_native_image
    shared,  ///< 8 bytes, an offset into the dynamic shared memory: its address
};

struct Parameter {
    Pass pass = Pass::value;
    size_t size = 0, offset = 0;
};

/// Why an image is none of ours, with the code that the real driver has for it.
struct WrongImage {
    CUresult code;
    std::string log;
};

/// A native library, and what an image says is in it.
struct Part {
    std::string library;
    std::vector<std::pair<std::string, std::vector<Parameter>>> functions;
    std::vector<std::pair<std::string, size_t>> variables;
    std::vector<std::string> exports;
    std::vector<std::pair<std::string, std::string>> imports; ///< name, and the pointer for it
    std::vector<std::pair<std::string, unsigned>> constants;  ///< variable and value
};
using Image = std::vector<Part>;

/// Throws WrongImage for what has not the form of an image.
Image read_image(const std::string &text);
/// The same as one image; throws WrongImage with `code` where an import has no export, or a name has two meanings.
std::string link_images(const std::vector<std::string> &texts, CUresult code);

/// The options of a compiler or linker that matter here: where the caller wants the log of errors.
class Log {
public:
    Log() = default;
    Log(unsigned count, const CUjit_option *options, void **values);
    /// Puts the text behind what was written before.
    void write(const std::string &text);

private:
    char *buffer_ = nullptr;
    void **size_ = nullptr; ///< the option's value, the number itself
    size_t room_ = 0;
    std::string text_;
};

} // namespace pi::cuda::simulated
