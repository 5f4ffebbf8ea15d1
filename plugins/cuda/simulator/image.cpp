// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"
#include "simulator/built_in.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
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

/// Whether memory begins with these bytes; reads none behind the first other one.
bool begins_with(const unsigned char *at, std::initializer_list<unsigned char> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [&](unsigned char one) { return *at++ == one; });
}

template <class Number>
Number number_at(const unsigned char *at) {
    Number number;
    std::memcpy(&number, at, sizeof number);
    return number;
}

/// Whether a device of the compute capability (major * 10 + minor) runs code of another one.
bool runs(int capability, int architecture) {
    return architecture / 10 == capability / 10 && architecture <= capability;
}

constexpr size_t elf_header = 64;

bool is_cubin(const unsigned char *image) {
    // 64-bit little-endian ELF with CUDA's ABI; only then is there a whole header.
    return begins_with(image, {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41}) &&
           begins_with(image + 18, {190, 0}); // EM_CUDA
}

/// The architecture in the header's flags.
int architecture_of_cubin(const unsigned char *image) {
    return static_cast<int>(number_at<std::uint32_t>(image + 48) >> 8 & 0xff);
}

/// The image of the fat binary for the device: the newest cubin that it runs, else the newest PTX.
const unsigned char *find_in_fat_binary(const unsigned char *image, int capability) {
    const unsigned char *at = image + number_at<std::uint16_t>(image + 6);
    const unsigned char *const end = at + number_at<std::uint64_t>(image + 8);
    const unsigned char *best = nullptr;
    for (int rank = 0; at < end;) {
        const bool cubin = number_at<std::uint16_t>(at) == 2;
        const auto header = number_at<std::uint32_t>(at + 4);
        const auto architecture = number_at<std::int32_t>(at + 28);
        const bool suits = cubin ? runs(capability, architecture) : architecture <= capability;
        const int its_rank = architecture + (cubin ? 1000 : 0);
        if (suits && its_rank > rank) {
            rank = its_rank;
            best = at + header;
        }
        at += header + number_at<std::uint64_t>(at + 8);
    }
    if (!best)
        throw WrongImage{CUDA_ERROR_NO_BINARY_FOR_GPU,
                         "the fat binary has no code for the simulated device"};
    return best;
}

} // namespace

std::string text_of(const void *image, int capability) {
    const auto *bytes = static_cast<const unsigned char *>(image);
    if (begins_with(bytes, {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0}))
        bytes = find_in_fat_binary(bytes, capability);
    if (!is_cubin(bytes) || std::strncmp(reinterpret_cast<const char *>(bytes) + elf_header, magic,
                                         std::strlen(magic)) != 0)
        return reinterpret_cast<const char *>(bytes);
    if (!runs(capability, architecture_of_cubin(bytes)))
        throw WrongImage{CUDA_ERROR_NO_BINARY_FOR_GPU, "the cubin is not for the simulated device"};
    return reinterpret_cast<const char *>(bytes) + elf_header;
}

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
    const drivers::Words words = {
        {"pointer", {Pass::pointer}},      {"addresses", {Pass::addresses}},
        {"texture", {Pass::texture}},      {"surface", {Pass::surface}},
        {"shared", {Pass::shared}},        {"shared_4", {Pass::shared, 4}},
        {"extern_shared", {Pass::area, 0}}};
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
