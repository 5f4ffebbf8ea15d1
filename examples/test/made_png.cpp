// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "made_png.hpp"

#include <fstream>
#include <random>
#include <stdexcept>
#include <zlib.h>

namespace pi_test {
namespace {

std::string big_endian(uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) {
        out += static_cast<char>(value >> shift);
    }
    return out;
}

std::string chunk(const std::string &type, const std::string &data) {
    const std::string body = type + data;
    const uLong crc =
        crc32(0, reinterpret_cast<const Bytef *>(body.data()), static_cast<uInt>(body.size()));
    return big_endian(static_cast<uint32_t>(data.size())) + body +
           big_endian(static_cast<uint32_t>(crc));
}

std::string deflated(const std::string &raw) {
    uLongf size = compressBound(static_cast<uLong>(raw.size()));
    std::string out(size, '\0');
    if (compress(reinterpret_cast<Bytef *>(out.data()), &size,
                 reinterpret_cast<const Bytef *>(raw.data()),
                 static_cast<uLong>(raw.size())) != Z_OK) {
        throw std::runtime_error("zlib's compress failed");
    }
    out.resize(size);
    return out;
}

} // namespace

std::string MadePng::bytes() const {
    std::string header = big_endian(width) + big_endian(height);
    header += static_cast<char>(depth);
    header += static_cast<char>(colour_type);
    header += std::string(3, '\0'); // compression, filter, no interlace
    std::string raw;
    const size_t stride = height == 0 ? 0 : rows.size() / height;
    for (size_t row = 0; row < height && stride != 0; ++row) {
        raw += '\0'; // no filter
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row * stride);
        raw.append(begin, begin + static_cast<std::ptrdiff_t>(stride));
    }
    std::string out = "\x89PNG\r\n\x1a\n" + chunk("IHDR", header);
    if (!palette.empty()) {
        out += chunk("PLTE", std::string(palette.begin(), palette.end()));
    }
    return out + chunk("IDAT", deflated(raw)) + chunk("IEND", "");
}

void write_file(const std::filesystem::path &file, const std::string &bytes) {
    std::ofstream stream(file, std::ios::binary);
    stream << bytes << std::flush;
    if (!stream) {
        throw std::runtime_error("cannot write " + file.string());
    }
}

MadePng random_png(uint32_t width, uint32_t height, uint32_t seed) {
    std::mt19937 random(seed);
    MadePng png;
    png.width = width;
    png.height = height;
    for (size_t i = 0; i < size_t{3} * width * height; ++i) {
        png.rows.push_back(static_cast<uint8_t>(random()));
    }
    return png;
}

image_pipeline::Picture random_picture(int width, int height, uint32_t seed) {
    std::mt19937 random(seed);
    image_pipeline::Picture picture;
    picture.width = width;
    picture.height = height;
    picture.memory = image_pipeline::PageMemory(uint64_t{4} * static_cast<uint64_t>(width) *
                                                static_cast<uint64_t>(height));
    for (uint64_t i = 0; i < picture.memory.size(); ++i) {
        picture.memory.data()[i] = static_cast<uint8_t>(random());
    }
    return picture;
}

} // namespace pi_test
