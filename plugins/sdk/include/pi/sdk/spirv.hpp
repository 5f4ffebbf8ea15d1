// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of SPIR-V that plugins read themselves: whether bytes are a module, and its
// specialization constants.
#pragma once

#include <pi/sdk/descriptor.hpp>

#include <map>

namespace pi::sdk {

/// The specialization constants of a module.
class SpirvModule {
public:
    /// PI_ERROR_INVALID_BINARY, with the reason, unless the bytes are a module in this machine's
    /// byte order whose instructions end where the bytes end. The driver checks the instructions
    /// themselves.
    SpirvModule(const void *data, uint64_t size);

    /// The size of each constant's value by its id; 1 for a boolean.
    const std::map<uint32_t, uint64_t> &constants() const { return constants_; }

    /// Reads the list passed to piProgramSetSpecializationConstants; errors as in pi.h.
    std::span<const pi_specialization_constant>
    check(uint32_t count, const pi_specialization_constant *constants) const;

private:
    static constexpr uint32_t magic = 0x07230203, turned_magic = 0x03022307;
    static constexpr uint32_t decoration_spec_id = 1;
    static constexpr size_t header_words = 5;
    enum Opcode : uint32_t {
        TYPE_BOOL = 20,
        TYPE_INT = 21,
        TYPE_FLOAT = 22,
        SPEC_CONSTANT_TRUE = 48,
        SPEC_CONSTANT_FALSE = 49,
        SPEC_CONSTANT = 50,
        DECORATE = 71,
    };
    /// The result ids of the instructions read so far: types come before constants, and decorations
    /// before both.
    struct Seen {
        std::map<uint32_t, uint32_t> spec_ids;
        std::map<uint32_t, uint64_t> type_sizes;
    };
    void read(std::span<const uint32_t> instruction, Seen &seen);
    std::string names() const;

    std::map<uint32_t, uint64_t> constants_;
};

inline SpirvModule::SpirvModule(const void *data, uint64_t size) {
    if (size % sizeof(uint32_t) || size < header_words * sizeof(uint32_t))
        fail(PI_ERROR_INVALID_BINARY, "data is not SPIR-V: ", size,
             " bytes are not a header of 20 and whole words");
    std::vector<uint32_t> words(size / sizeof(uint32_t));
    std::memcpy(words.data(), data, size);
    if (words[0] != magic)
        fail(PI_ERROR_INVALID_BINARY, "data is not SPIR-V",
             words[0] == turned_magic ? " of this machine's byte order" : "",
             ": its first word is ", words[0], ", should be ", magic);
    Seen seen;
    for (size_t at = header_words; at < words.size();) {
        const size_t count = words[at] >> 16;
        if (!count || count > words.size() - at)
            fail(PI_ERROR_INVALID_BINARY, "data is not complete SPIR-V: the instruction at word ",
                 at, " has ", count, " words, of ", words.size() - at, " that are left");
        read(std::span(words).subspan(at, count), seen);
        at += count;
    }
}

inline void SpirvModule::read(std::span<const uint32_t> instruction, Seen &seen) {
    const uint32_t opcode = instruction[0] & 0xffff;
    const auto operand = [&](size_t index) {
        return index < instruction.size() ? instruction[index] : 0;
    };
    if (opcode == DECORATE && operand(2) == decoration_spec_id)
        seen.spec_ids[operand(1)] = operand(3);
    else if (opcode == TYPE_BOOL)
        seen.type_sizes[operand(1)] = 1;
    else if (opcode == TYPE_INT || opcode == TYPE_FLOAT)
        seen.type_sizes[operand(1)] = operand(2) / 8;
    else if (opcode >= SPEC_CONSTANT_TRUE && opcode <= SPEC_CONSTANT)
        if (const auto id = seen.spec_ids.find(operand(2)); id != seen.spec_ids.end())
            constants_[id->second] = seen.type_sizes[operand(1)];
}

inline std::string SpirvModule::names() const {
    std::string all;
    for (const auto &[id, size] : constants_)
        all += text(all.empty() ? "" : ", ", id, " (", size, " bytes)");
    return all.empty() ? "none" : all;
}

inline std::span<const pi_specialization_constant>
SpirvModule::check(uint32_t count, const pi_specialization_constant *constants) const {
    const auto list = read_array(count, constants, "constants");
    for (size_t i = 0; i < list.size(); ++i) {
        enforce<checks::check_constant>(ArgumentName("constants", i), list[i]);
        const auto known = constants_.find(list[i].id);
        if (known == constants_.end())
            fail(PI_ERROR_INVALID_VALUE, "constants[", i, "].id is ", list[i].id,
                 "; the program has the specialization constants: ", names());
        if (list[i].size != known->second)
            fail(PI_ERROR_INVALID_SIZE, "constants[", i, "].size is ", list[i].size,
                 "; the specialization constant ", list[i].id, " has ", known->second, " bytes");
    }
    return list;
}

} // namespace pi::sdk
