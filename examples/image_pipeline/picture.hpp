// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "page_memory.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

namespace image_pipeline {

using namespace examples;

/// The largest number of pixels: a camera's pictures, several of which fit into memory.
inline constexpr uint64_t most_pixels = 40'000'000;

/// RGBA, one byte a channel, dense rows.
struct Picture {
    int width = 0;
    int height = 0;
    PageMemory memory;
};

/// Reads a PNG file of any kind (grey, palette, 16 bits, with alpha or without). Throws
/// std::runtime_error with the file's name and the reason.
Picture read_png(const std::filesystem::path &file);

enum class PixelFormat { grey, rgba };

/// Writes a PNG file, and replaces an existing one. Throws std::runtime_error.
void write_png(const std::filesystem::path &file, PixelFormat format, int width, int height,
               std::span<const uint8_t> pixels);

} // namespace image_pipeline
