// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

namespace pi::cuda::simulated {

namespace {

constexpr const char *magic = "PI simulated CUDA module 1\n";

Parameter read_parameter(const std::string &word, size_t offset) {
    Parameter parameter;
    static const std::map<std::string, Pass> words = {{"pointer", Pass::pointer},
                                                      {"addresses", Pass::addresses},
                                                      {"texture", Pass::texture},
                                                      {"surface", Pass::surface},
                                                      {"shared", Pass::shared}};
    if (const auto found = words.find(word); found != words.end()) {
        parameter.pass = found->second;
        parameter.size = 8;
    } else {
        parameter.size = std::strtoul(word.c_str(), nullptr, 10);
        if (parameter.size == 0 || parameter.size > 4096)
            throw WrongImage{
                CUDA_ERROR_INVALID_IMAGE,
                "'" + word +
                    "' is no parameter: pointer, addresses, texture, surface, shared, or "
                    "a size"};
    }
    const bool power = (parameter.size & (parameter.size - 1)) == 0;
    const size_t alignment = power ? std::min<size_t>(parameter.size, 16) : 8;
    parameter.offset = (offset + alignment - 1) / alignment * alignment;
    return parameter;
}

void check_kind(const char *image) {
    if (std::strncmp(image, magic, std::strlen(magic)) == 0)
        return;
    const unsigned char fat_binary[4] = {0x50, 0xed, 0x55, 0xba};
    if (std::memcmp(image,
                    "\x7f"
                    "ELF",
                    std::min<size_t>(4, std::strlen(image) + 1)) == 0)
        throw WrongImage{CUDA_ERROR_NO_BINARY_FOR_GPU,
                         "a simulated device runs no code of a real one: the image is a cubin"};
    if (std::memcmp(image, fat_binary, std::min<size_t>(4, std::strlen(image) + 1)) == 0)
        throw WrongImage{
            CUDA_ERROR_NO_BINARY_FOR_GPU,
            "a simulated device runs no code of a real one: the image is a fat binary"};
    if (std::strstr(image, ".version"))
        throw WrongImage{CUDA_ERROR_INVALID_PTX,
                         "a simulated device has no compiler for PTX; it takes native libraries"};
    throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "the image is of no known form"};
}

std::vector<Parameter> read_parameters(std::istream &words) {
    std::vector<Parameter> parameters;
    for (std::string word; words >> word;)
        parameters.push_back(read_parameter(
            word, parameters.empty() ? 0 : parameters.back().offset + parameters.back().size));
    return parameters;
}

void read_line(Image &image, const std::string &line) {
    std::istringstream words(line);
    std::string kind, name, other;
    size_t number = 0;
    if (!(words >> kind))
        return;
    if (kind == "library") {
        std::getline(words >> std::ws, image.emplace_back().library);
        return;
    }
    if (image.empty())
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "comes before any library: " + line};
    Part &part = image.back();
    words >> name;
    if (kind == "function" && words)
        part.functions.emplace_back(name, read_parameters(words));
    else if (kind == "variable" && words >> number)
        part.variables.emplace_back(name, number);
    else if (kind == "export" && words)
        part.exports.push_back(name);
    else if (kind == "import" && words >> other)
        part.imports.emplace_back(name, other);
    else if (kind == "constant" && words >> number)
        part.constants.emplace_back(name, static_cast<unsigned>(number));
    else
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "not understood: " + line};
}

/// In the words of the real linker.
void check_names(const Image &image, CUresult code) {
    std::set<std::string> names, exports;
    const auto define = [&](const std::string &name) {
        if (!names.insert(name).second)
            throw WrongImage{code, "error   : Multiple definition of '" + name + "'"};
    };
    for (const Part &part : image) {
        for (const auto &[name, parameters] : part.functions)
            define(name);
        for (const auto &[name, size] : part.variables)
            define(name);
        for (const std::string &name : part.exports) {
            define(name);
            exports.insert(name);
        }
    }
    for (const Part &part : image)
        for (const auto &[name, pointer] : part.imports)
            if (exports.count(name) == 0)
                throw WrongImage{code, "error   : Undefined reference to '" + name + "'"};
}

} // namespace

Image read_image(const std::string &text) {
    check_kind(text.c_str());
    Image image;
    std::istringstream lines(text.substr(std::strlen(magic)));
    for (std::string line; std::getline(lines, line);)
        read_line(image, line);
    if (image.empty())
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "the image names no library"};
    return image;
}

std::string link_images(const std::vector<std::string> &texts, CUresult code) {
    std::string linked = magic;
    for (const std::string &text : texts)
        linked += text.substr(std::strlen(magic)) + "\n";
    check_names(read_image(linked), code);
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
