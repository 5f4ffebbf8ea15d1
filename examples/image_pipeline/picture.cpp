// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "picture.hpp"

#include <png.h>
#include <stdexcept>
#include <string>
#include <system_error>

namespace image_pipeline {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char *verb, const fs::path &file, const std::string &why) {
    throw std::runtime_error(std::string("cannot ") + verb + " " + file.string() + ": " + why);
}

/// libpng's state for one file, freed on every way out.
struct PngImage {
    png_image image{};

    PngImage() { image.version = PNG_IMAGE_VERSION; }
    ~PngImage() { png_image_free(&image); }
    PngImage(const PngImage &) = delete;
    PngImage &operator=(const PngImage &) = delete;
};

void check_is_file(const fs::path &file) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (status.type() == fs::file_type::not_found) {
        fail("read", file, "there is no such file");
    }
    if (error) {
        fail("read", file, error.message());
    }
    if (fs::is_directory(status)) {
        fail("read", file, "it is a directory; a PNG file is wanted");
    }
}

} // namespace

Picture read_png(const fs::path &file) {
    check_is_file(file);
    PngImage png;
    if (png_image_begin_read_from_file(&png.image, file.c_str()) == 0) {
        fail("read", file, png.image.message);
    }
    const uint64_t pixels = uint64_t{png.image.width} * png.image.height;
    if (pixels > most_pixels) {
        fail("read", file,
             "it has " + std::to_string(png.image.width) + " x " +
                 std::to_string(png.image.height) + " = " + std::to_string(pixels) +
                 " pixels; at most " + std::to_string(most_pixels) + " are taken");
    }
    png.image.format = PNG_FORMAT_RGBA;
    // Files without a gamma are in sRGB, also those of 16 bits.
    png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;

    Picture picture;
    picture.width = static_cast<int>(png.image.width);
    picture.height = static_cast<int>(png.image.height);
    picture.memory = PageMemory(4 * pixels);
    if (png_image_finish_read(&png.image, nullptr, picture.memory.data(), 0, nullptr) == 0) {
        fail("read", file, std::string("the file is damaged or cut short: ") + png.image.message);
    }
    return picture;
}

void write_png(const fs::path &file, PixelFormat format, int width, int height,
               std::span<const uint8_t> pixels) {
    PngImage png;
    png.image.width = static_cast<png_uint_32>(width);
    png.image.height = static_cast<png_uint_32>(height);
    png.image.format = format == PixelFormat::grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGBA;
    if (pixels.size() != PNG_IMAGE_SIZE(png.image)) {
        throw std::invalid_argument("write_png: " + std::to_string(pixels.size()) +
                                    " bytes of pixels, needed " +
                                    std::to_string(PNG_IMAGE_SIZE(png.image)));
    }
    if (png_image_write_to_file(&png.image, file.c_str(), 0, pixels.data(), 0, nullptr) == 0) {
        fail("write", file, png.image.message);
    }
}

} // namespace image_pipeline
