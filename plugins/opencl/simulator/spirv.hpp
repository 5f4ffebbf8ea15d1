// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a SPIR-V module, and changes one thing in it: the values of specialization constants.
// Independent of the plugins' reader, so that each checks the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace simulated {

class Module {
public:
    /// nullopt unless the bytes are a well-formed module of a version up to 1.4.
    static std::optional<Module> read(const void *bytes, size_t size);

    /// The bytes of a specialization constant's value (1 for a boolean); nullopt if there is none
    /// with this id.
    std::optional<size_t> constant_size(uint32_t id) const;
    /// Changes the constant's value; `value` has constant_size(id) bytes.
    void set_constant(uint32_t id, const void *value);

    /// The sub-group size that a kernel's execution mode requires; 0 = none.
    uint32_t required_sub_group_size(const std::string &kernel) const;

    const std::vector<uint32_t> &words() const { return words_; }

private:
    struct Constant {
        size_t position; ///< of the instruction
        size_t size;     ///< bytes
        bool boolean, is_signed;
    };

    bool scan();

    std::vector<uint32_t> words_;
    std::map<uint32_t, Constant> constants_; ///< by SpecId
    std::map<std::string, uint32_t> sub_group_sizes_;
};

} // namespace simulated
