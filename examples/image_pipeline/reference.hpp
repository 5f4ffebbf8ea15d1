// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "picture.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace image_pipeline {

inline constexpr int bin_count = 512; ///< 256 of brightness, then 256 of steepness
inline constexpr int chart_width = 512;
inline constexpr int chart_height = 256;

/// The results of all stages.
struct Results {
    std::vector<uint8_t> blurred; ///< RGBA
    std::vector<uint8_t> edges;   ///< one byte per pixel
    std::vector<uint32_t> histogram;
    std::vector<uint8_t> overlay; ///< RGBA
    std::vector<uint8_t> chart;   ///< RGBA, chart_width x chart_height
};

/// The same by plain loops on the CPU, written independently of kernels.cl: the blur in two passes,
/// square roots by the library.
Results reference(const Picture &picture);

/// The first difference, for people; empty when all is equal.
std::string first_difference(const Results &got, const Results &expected);

} // namespace image_pipeline
