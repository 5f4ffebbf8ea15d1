// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulated driver reads in a SPIR-V module, and the one thing that it changes: the values of
// specialization constants. Written apart from the plugins' own reader, so that each checks the other.
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
    /// nullopt unless the bytes are a module of a version up to 1.4, its instructions ending where the bytes do.
    static std::optional<Module> read(const void *bytes, size_t size);

    /// The bytes of a specialization constant's value (1 for a boolean); nullopt: there is none with this id.
    std::optional<size_t> constant_size(uint32_t id) const;
    /// Gives the constant another value than its default; `value` has constant_size(id) bytes.
    void set_constant(uint32_t id, const void *value);

    /// The size of sub-groups that a kernel's execution mode demands; 0 = none.
    uint32_t demanded_sub_group_size(const std::string &kernel) const;

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
