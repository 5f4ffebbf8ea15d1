// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a SPIR-V module's kernels and the types of their parameters. The code is in the library, or
// built in.
#include "module.hpp"
#include "simulator/built_in.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string_view>

namespace pi::level_zero::simulated {

namespace {

enum Opcode : std::uint32_t {
    ENTRY_POINT = 15,
    EXECUTION_MODE = 16,
    TYPE_BOOL = 20,
    TYPE_INT = 21,
    TYPE_FLOAT = 22,
    TYPE_VECTOR = 23,
    TYPE_IMAGE = 25,
    TYPE_SAMPLER = 26,
    TYPE_ARRAY = 28,
    TYPE_STRUCT = 30,
    TYPE_POINTER = 32,
    CONSTANT = 43,
    FUNCTION = 54,
    FUNCTION_PARAMETER = 55,
    FUNCTION_CALL = 57,
    DECORATE = 71,
    CONVERT_U_TO_PTR = 120,
};
constexpr std::uint32_t spirv_magic = 0x07230203, newest_version = 0x00010400;
constexpr std::uint32_t linkage_attributes = 41, import_linkage = 1;
constexpr std::uint32_t storage_workgroup = 4, storage_function = 7, kernel_model = 6;
constexpr std::uint32_t local_size_mode = 17, sub_group_size_mode = 35;
constexpr size_t header_words = 5;

/// How an image denotes a parameter of a type.
struct Type {
    size_t size = 0;
    size_t alignment = 1;
    std::string word; ///< empty: the number of bytes
};

struct Reader {
    std::map<std::uint32_t, Type> types;
    std::map<std::uint32_t, std::uint32_t> constants;
    std::map<std::uint32_t, std::string> entries, functions; ///< names and parameters, by function
    std::map<std::uint32_t, drivers::Requirements> requirements; ///< by function
    std::set<std::uint32_t> followers;         ///< functions that convert numbers to pointers
    std::vector<std::string> imports, exports; ///< names of functions

    void read_type(const std::uint32_t *word, size_t count);
    void read(const std::uint32_t *word, size_t count);
    /// The parameters in the image's format.
    std::string parameters(std::uint32_t function) const;

private:
    struct Linkage {
        std::string name;
        bool import = false;
    };
    void read_linkage(const std::uint32_t *word, size_t count);

    /// of functions and variables, which are declared later
    std::map<std::uint32_t, Linkage> linkage_;
    std::multimap<std::uint32_t, std::uint32_t> calls_;
    std::uint32_t function_ = 0;
};

Type structure(const Reader &reader, const std::uint32_t *member, const std::uint32_t *end) {
    Type type;
    for (; member != end; ++member) {
        const Type &part = reader.types.at(*member);
        type.alignment = std::max(type.alignment, part.alignment);
        type.size = (type.size + part.alignment - 1) / part.alignment * part.alignment + part.size;
    }
    type.size = (type.size + type.alignment - 1) / type.alignment * type.alignment;
    return type;
}

void Reader::read_type(const std::uint32_t *word, size_t count) {
    Type &type = types[word[1]];
    switch (word[0] & 0xffff) {
    case TYPE_BOOL:
        type = {1, 1, ""};
        break;
    case TYPE_INT:
    case TYPE_FLOAT:
        type = {word[2] / 8, word[2] / 8, ""};
        break;
    case TYPE_VECTOR: {
        // A vector of three has the size of a vector of four.
        const size_t size = types.at(word[2]).size * (word[3] == 3 ? 4 : word[3]);
        type = {size, size, ""};
        break;
    }
    case TYPE_ARRAY:
        type = types.at(word[2]);
        type.size *= constants.at(word[3]);
        break;
    case TYPE_STRUCT:
        type = structure(*this, word + 2, word + count);
        break;
    case TYPE_IMAGE:
        type = {8, 8, "image"};
        break;
    case TYPE_SAMPLER:
        type = {8, 8, "sampler"};
        break;
    case TYPE_POINTER:
        // A structure by value is a pointer to the function's own copy.
        type = {8, 8, word[2] == storage_workgroup ? "local" : "pointer"};
        if (word[2] == storage_function)
            type = types.at(word[3]);
        break;
    default:
        types.erase(word[1]);
    }
}

/// OpDecorate function LinkageAttributes "name" Export or Import
void Reader::read_linkage(const std::uint32_t *word, size_t count) {
    if (count < 5 || word[2] != linkage_attributes)
        return;
    const auto *name = reinterpret_cast<const char *>(word + 3);
    linkage_[word[1]] = {std::string(name, strnlen(name, (count - 4) * sizeof *word)),
                         word[count - 1] == import_linkage};
}

void Reader::read(const std::uint32_t *word, size_t count) {
    switch (word[0] & 0xffff) {
    case ENTRY_POINT:
        if (count > 3 && word[1] == kernel_model) {
            const auto *name = reinterpret_cast<const char *>(word + 3);
            entries[word[2]] = std::string(name, strnlen(name, (count - 3) * sizeof *word));
        }
        break;
    case EXECUTION_MODE:
        if (count > 5 && word[2] == local_size_mode)
            requirements[word[1]].group = {word[3], word[4], word[5]};
        else if (count > 3 && word[2] == sub_group_size_mode)
            requirements[word[1]].sub_group = word[3];
        break;
    case FUNCTION_CALL:
        if (count > 3)
            calls_.emplace(function_, word[3]);
        break;
    case CONVERT_U_TO_PTR:
        followers.insert(function_);
        break;
    case CONSTANT:
        if (count > 3)
            constants[word[2]] = word[3];
        break;
    case DECORATE:
        read_linkage(word, count);
        break;
    case FUNCTION:
        function_ = count > 2 ? word[2] : 0;
        if (const auto linkage = linkage_.find(function_); linkage != linkage_.end())
            (linkage->second.import ? imports : exports).push_back(linkage->second.name);
        break;
    case FUNCTION_PARAMETER: {
        const Type &type = types.at(word[1]);
        functions[function_] += " " + (type.word.empty() ? std::to_string(type.size) : type.word);
        break;
    }
    default:
        if (count > 1 && (word[0] & 0xffff) >= TYPE_BOOL && (word[0] & 0xffff) <= TYPE_POINTER)
            read_type(word, count);
    }
}

/// A function that converts numbers to pointers: memory behind its parameters contains addresses.
std::string Reader::parameters(std::uint32_t function) const {
    const auto found = functions.find(function);
    std::string list = found == functions.end() ? "" : found->second;
    constexpr std::string_view pointer = " pointer", addresses = " addresses";
    // The entry point is often a wrapper function that calls the kernel.
    const auto [first, last] = calls_.equal_range(function);
    if (followers.count(function) ||
        std::any_of(first, last, [&](const auto &call) { return followers.count(call.second); }))
        for (size_t at = 0; (at = list.find(pointer, at)) != list.npos; at += addresses.size())
            list.replace(at, pointer.size(), addresses);
    return list;
}

} // namespace

std::string translate(const void *module, size_t size, const std::string &library) {
    std::vector<std::uint32_t> words(size / sizeof(std::uint32_t));
    std::memcpy(words.data(), module, words.size() * sizeof(std::uint32_t));
    if (size % sizeof(std::uint32_t) || words.size() < header_words || words[0] != spirv_magic)
        throw std::runtime_error("error: the module is not SPIR-V");
    if (words[1] > newest_version)
        throw std::runtime_error("error: the module is newer than SPIR-V 1.4");
    Reader reader;
    try {
        for (size_t at = header_words; at < words.size();) {
            const size_t count = words[at] >> 16;
            if (count == 0 || count > words.size() - at)
                throw std::out_of_range("instruction");
            reader.read(&words[at], count);
            at += count;
        }
    } catch (const std::out_of_range &) {
        throw std::runtime_error("error: the SPIR-V is damaged");
    }
    std::vector<std::string> kernels;
    for (const auto &[function, name] : reader.entries)
        kernels.push_back(name);
    if (std::string built_in = drivers::built_in_image(kernels); !built_in.empty())
        return built_in;
    if (library.empty())
        throw std::runtime_error("error: a simulated device runs only native kernels, and "
                                 "PI_SIMULATED_LEVEL_ZERO_KERNELS names no library");
    std::string text = "library " + library + "\n";
    for (const auto &[function, name] : reader.entries) {
        text += "function " + name + reader.parameters(function) + "\n";
        const drivers::Requirements &requirements = reader.requirements[function];
        if (const auto [x, y, z] = requirements.group; x)
            text += "group " + name + " " + std::to_string(x) + " " + std::to_string(y) + " " +
                    std::to_string(z) + "\n";
        if (requirements.sub_group)
            text += "sub_group " + name + " " + std::to_string(requirements.sub_group) + "\n";
    }
    for (const std::string &name : reader.imports)
        text += "import " + name + " call_" + name + "\n";
    const Library code(library);
    for (const std::string &name : reader.exports) {
        if (!code.symbol(name.c_str()))
            continue; // a kernel, or its helper, which is part of the library's kernel
        text += "export " + name + "\n";
        if (code.symbol(("call_" + name).c_str()))
            text += "import " + name + " call_" + name + "\n";
    }
    return text;
}

} // namespace pi::level_zero::simulated
