// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The images that are loaded and linked: a text that lists the contents of native libraries.
// README.md has the format.
#pragma once

#include "simulator/image.hpp"

#include <pi/cuda/driver_api.h>

#include <string>
#include <vector>

namespace pi::cuda::simulated {

using drivers::Image, drivers::Parameter, drivers::Part, drivers::Pass;

/// Why an image is refused, with the real driver's code.
struct WrongImage {
    CUresult code;
    std::string log;
};

/// The text in an image: itself, or what a cubin or a fat binary has for a device of this compute
/// capability (major * 10 + minor). Throws WrongImage if that is nothing.
std::string text_of(const void *image, int capability);
/// Replaces PTX by an image if its kernels are built in; returns other texts unchanged.
std::string translate(const std::string &text);
/// Throws WrongImage for a malformed image.
Image read_image(const std::string &text);
/// Joins them into one image; throws WrongImage with `code` for an import without an export, or a
/// name defined twice.
std::string link_images(const std::vector<std::string> &texts, CUresult code);

/// The buffer for the error log in the options of a compiler or linker; other options have no
/// effect here.
class Log {
public:
    Log() = default;
    Log(unsigned count, const CUjit_option *options, void **values);
    /// Appends the text.
    void write(const std::string &text);

private:
    char *buffer_ = nullptr;
    void **size_ = nullptr; ///< the option's value: the size itself, not its address
    size_t room_ = 0;
    std::string text_;
};

} // namespace pi::cuda::simulated
