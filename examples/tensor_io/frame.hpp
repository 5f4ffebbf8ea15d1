// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "page_memory.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tensor_io {

using namespace examples;

inline constexpr int filter_count = 4;
inline constexpr int label_count = filter_count + 1; ///< 0: no filter responds

/// The shape of a frame: grey, one byte per pixel, dense rows.
struct Shape {
    int width = 0;
    int height = 0;
    uint64_t pixels() const { return static_cast<uint64_t>(width) * static_cast<uint64_t>(height); }
};

/// The chain's results for a frame.
struct Results {
    std::vector<uint8_t> labels; ///< one byte per pixel
    std::vector<uint32_t> histogram;
    friend bool operator==(const Results &, const Results &) = default;
};

/// The camera's picture: moving shapes, and noise that differs in each frame. Fills shape.pixels()
/// bytes.
void take_picture(const Shape &shape, uint32_t frame, uint8_t *out_pixels);

/// The chain's results by plain loops over integers, written independently of kernels.cl.
Results reference(const Shape &shape, std::span<const uint8_t> pixels);

/// The first difference, for people: "labels[62] is 3, expected 4"; empty when all is equal.
std::string first_difference(const Results &got, const Results &expected);

} // namespace tensor_io
