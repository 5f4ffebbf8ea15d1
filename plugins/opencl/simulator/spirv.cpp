// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spirv.hpp"

#include <cstring>

namespace simulated {

namespace {

enum Opcode : uint32_t {
    ENTRY_POINT = 15,
    EXECUTION_MODE = 16,
    TYPE_BOOL = 20,
    TYPE_INT = 21,
    TYPE_FLOAT = 22,
    SPEC_CONSTANT_TRUE = 48,
    SPEC_CONSTANT_FALSE = 49,
    SPEC_CONSTANT = 50,
    DECORATE = 71,
};
constexpr uint32_t magic = 0x07230203, newest_version = 0x00010400;
constexpr uint32_t decoration_spec_id = 1, mode_sub_group_size = 35;
constexpr size_t header_words = 5;

struct Type {
    size_t size = 0;
    bool boolean = false, is_signed = false;
};

} // namespace

std::optional<Module> Module::read(const void *bytes, size_t size) {
    Module module;
    if (size % sizeof(uint32_t) || size < header_words * sizeof(uint32_t))
        return std::nullopt;
    module.words_.resize(size / sizeof(uint32_t));
    std::memcpy(module.words_.data(), bytes, size);
    if (module.words_[0] != magic || module.words_[1] > newest_version || !module.scan())
        return std::nullopt;
    return module;
}

bool Module::scan() {
    std::map<uint32_t, uint32_t> spec_ids, sub_group_sizes; // by result id
    std::map<uint32_t, Type> types;
    std::map<uint32_t, std::string> kernels;
    for (size_t at = header_words; at < words_.size();) {
        const uint32_t *word = &words_[at];
        const size_t count = word[0] >> 16;
        if (!count || count > words_.size() - at)
            return false;
        switch (word[0] & 0xffff) {
        case ENTRY_POINT:
            if (count > 3)
                kernels[word[2]] = std::string(reinterpret_cast<const char *>(word + 3),
                                               strnlen(reinterpret_cast<const char *>(word + 3),
                                                       (count - 3) * sizeof(uint32_t)));
            break;
        case EXECUTION_MODE:
            if (count == 4 && word[2] == mode_sub_group_size)
                sub_group_sizes[word[1]] = word[3];
            break;
        case DECORATE:
            if (count == 4 && word[2] == decoration_spec_id)
                spec_ids[word[1]] = word[3];
            break;
        case TYPE_BOOL:
            types[word[1]] = {1, true, false};
            break;
        case TYPE_INT:
            if (count == 4)
                types[word[1]] = {word[2] / 8, false, word[3] != 0};
            break;
        case TYPE_FLOAT:
            if (count >= 3)
                types[word[1]] = {word[2] / 8, false, false};
            break;
        case SPEC_CONSTANT_TRUE:
        case SPEC_CONSTANT_FALSE:
        case SPEC_CONSTANT:
            // Decorations and types come first.
            if (const auto id = spec_ids.find(word[2]); count >= 3 && id != spec_ids.end()) {
                const Type &type = types[word[1]];
                constants_[id->second] = {at, type.size, type.boolean, type.is_signed};
            }
            break;
        }
        at += count;
    }
    for (const auto &[function, size] : sub_group_sizes)
        sub_group_sizes_[kernels[function]] = size;
    return true;
}

std::optional<size_t> Module::constant_size(uint32_t id) const {
    const auto found = constants_.find(id);
    return found == constants_.end() ? std::nullopt : std::optional(found->second.size);
}

void Module::set_constant(uint32_t id, const void *value) {
    const Constant &constant = constants_.at(id);
    uint32_t *word = &words_[constant.position];
    if (constant.boolean) {
        const uint32_t opcode =
            *static_cast<const uint8_t *>(value) ? SPEC_CONSTANT_TRUE : SPEC_CONSTANT_FALSE;
        word[0] = (word[0] & 0xffff0000) | opcode;
        return;
    }
    // Small integers fill their word, sign-extended if they are signed.
    const auto *bytes = static_cast<const uint8_t *>(value);
    const bool negative = constant.is_signed && bytes[constant.size - 1] & 0x80;
    const size_t words = (constant.size + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    std::memset(word + 3, negative ? 0xff : 0, words * sizeof(uint32_t));
    std::memcpy(word + 3, value, constant.size);
}

uint32_t Module::required_sub_group_size(const std::string &kernel) const {
    const auto found = sub_group_sizes_.find(kernel);
    return found == sub_group_sizes_.end() ? 0 : found->second;
}

} // namespace simulated
