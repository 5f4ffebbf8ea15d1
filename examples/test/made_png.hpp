// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "picture.hpp"
#include "temporary.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pi_test {

/// A PNG file put together by hand, so that any kind can be had, wrong ones too.
struct MadePng {
    uint32_t width = 1;
    uint32_t height = 1;
    uint8_t depth = 8;
    uint8_t colour_type = 2;      ///< 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA
    std::vector<uint8_t> palette; ///< RGB triples
    std::vector<uint8_t> rows;    ///< dense rows, without filter bytes

    std::string bytes() const;
};

void write_file(const std::filesystem::path &file, const std::string &bytes);

/// Random RGB; the test prints the seed.
MadePng random_png(uint32_t width, uint32_t height, uint32_t seed);
image_pipeline::Picture random_picture(int width, int height, uint32_t seed);

} // namespace pi_test
