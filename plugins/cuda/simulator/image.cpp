// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"
#include "simulator/built_in.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <regex>
#include <stdexcept>

namespace pi::cuda::simulated {

namespace {

constexpr const char *magic = "PI simulated CUDA module 1\n";

void check_kind(const char *image) {
    if (std::strncmp(image, magic, std::strlen(magic)) == 0)
        return;
    const unsigned char fat_binary[4] = {0x50, 0xed, 0x55, 0xba};
    if (std::memcmp(image,
                    "\x7f"
                    "ELF",
                    std::min<size_t>(4, std::strlen(image) + 1)) == 0)
        throw WrongImage{CUDA_ERROR_NO_BINARY_FOR_GPU, "a simulated device cannot run a cubin"};
    if (std::memcmp(image, fat_binary, std::min<size_t>(4, std::strlen(image) + 1)) == 0)
        throw WrongImage{CUDA_ERROR_NO_BINARY_FOR_GPU,
                         "a simulated device cannot run a fat binary"};
    if (std::strstr(image, ".version"))
        throw WrongImage{CUDA_ERROR_INVALID_PTX,
                         "a simulated device has no compiler for PTX; a native library is needed"};
    throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "the image has no known format"};
}

} // namespace

std::string translate(const std::string &text) {
    if (text.find(".version") == std::string::npos)
        return text;
    const std::regex entry(R"(\.entry\s+([\w$]+))");
    std::vector<std::string> kernels;
    for (std::sregex_iterator at(text.begin(), text.end(), entry), end; at != end; ++at)
        kernels.push_back((*at)[1]);
    const std::string built_in = drivers::built_in_image(kernels);
    return built_in.empty() ? text : magic + built_in;
}

Image read_image(const std::string &text) {
    check_kind(text.c_str());
    const drivers::Words words = {{"pointer", Pass::pointer},
                                  {"addresses", Pass::addresses},
                                  {"texture", Pass::texture},
                                  {"surface", Pass::surface},
                                  {"shared", Pass::shared}};
    try {
        return drivers::read_image(text.substr(std::strlen(magic)), words);
    } catch (const std::runtime_error &error) {
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, error.what()};
    }
}

std::string link_images(const std::vector<std::string> &texts, CUresult code) {
    std::string linked = magic;
    for (const std::string &text : texts)
        linked += text.substr(std::strlen(magic)) + "\n";
    try {
        drivers::check_names(read_image(linked));
    } catch (const std::runtime_error &error) {
        throw WrongImage{code, error.what()};
    }
    return linked;
}

Log::Log(unsigned count, const CUjit_option *options, void **values) {
    for (unsigned i = 0; i < count; ++i) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            buffer_ = static_cast<char *>(values[i]);
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            size_ = &values[i];
            room_ = static_cast<size_t>(reinterpret_cast<std::uintptr_t>(*size_));
        }
    }
}

void Log::write(const std::string &text) {
    if (!size_)
        return;
    text_ += text;
    const size_t length = room_ == 0 ? 0 : std::min(room_ - 1, text_.size());
    if (buffer_ && room_ > 0) {
        std::memcpy(buffer_, text_.data(), length);
        buffer_[length] = 0;
    }
    *size_ = reinterpret_cast<void *>(length);
}

} // namespace pi::cuda::simulated
