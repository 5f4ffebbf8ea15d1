// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is loaded and linked: a text that says what native libraries have. README.md has the format.
#pragma once

#include "simulator/image.hpp"

#include <pi/cuda/driver_api.h>

#include <string>
#include <vector>

namespace pi::cuda::simulated {

using drivers::Image, drivers::Parameter, drivers::Part, drivers::Pass;

/// Why an image is none of ours, with the code that the real driver has for it.
struct WrongImage {
    CUresult code;
    std::string log;
};

/// PTX as an image, if its kernels are built in; other texts are as they were.
std::string translate(const std::string &text);
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
