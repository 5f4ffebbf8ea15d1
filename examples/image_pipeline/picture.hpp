// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>

namespace image_pipeline {

/// The pixels that the program takes: a camera's pictures, and what fits memory several times.
inline constexpr uint64_t most_pixels = 40'000'000;

/// Bytes that begin on a page and fill whole pages, all zero at first: devices that use host memory in
/// place may demand such.
class PageMemory {
public:
    static constexpr uint64_t page = 4096;

    PageMemory() = default;
    /// Throws std::bad_alloc.
    explicit PageMemory(uint64_t size);

    uint8_t *data() const { return bytes_.get(); }
    uint64_t size() const { return size_; } ///< as asked for
    static uint64_t padded(uint64_t size) { return (size + page - 1) / page * page; }
    uint64_t padded_size() const { return padded(size_); } ///< whole pages
    std::span<const uint8_t> bytes() const { return {data(), size_}; }

private:
    struct Free {
        void operator()(uint8_t *bytes) const { std::free(bytes); }
    };
    std::unique_ptr<uint8_t, Free> bytes_;
    uint64_t size_ = 0;
};

/// RGBA, one byte a channel, dense rows.
struct Picture {
    int width = 0;
    int height = 0;
    PageMemory memory;
};

/// Reads a PNG file of any kind (grey, palette, 16 bits, with alpha or without). Throws
/// std::runtime_error, naming the file and what is wrong with it.
Picture read_png(const std::filesystem::path &file);

enum class PixelFormat { grey, rgba };

/// Writes a PNG file, replacing one that is there. Throws std::runtime_error.
void write_png(const std::filesystem::path &file, PixelFormat format, int width, int height,
               std::span<const uint8_t> pixels);

} // namespace image_pipeline
