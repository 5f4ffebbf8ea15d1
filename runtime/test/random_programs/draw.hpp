// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace random_programs {

/// The numbers that a step is made of. Any are legal, since each is taken modulo what is possible:
/// so a shrunk program is a program, too.
struct Step {
    std::array<uint16_t, 12> numbers{};
};
/// Likewise those of the machine that a program runs on, and of what is there when it begins.
struct Shape {
    std::array<uint16_t, 64> numbers{};
};

/// Takes such numbers one after another. Those of zero are the plainest choice.
class Draw {
public:
    explicit Draw(std::span<const uint16_t> numbers) : numbers_(numbers.begin(), numbers.end()) {}
    /// From low to high, both included; low when there are no more numbers.
    uint64_t operator()(uint64_t low, uint64_t high) {
        const uint64_t number = next_ < numbers_.size() ? numbers_[next_++] : 0;
        return low + number % (high - low + 1);
    }
    bool coin() { return (*this)(0, 1) != 0; }
    template <class Things>
    auto &one_of(Things &things) {
        return things[(*this)(0, std::size(things) - 1)];
    }

private:
    std::vector<uint16_t> numbers_;
    std::size_t next_ = 0;
};

/// The program does not do what it must.
struct Failure {
    std::string text;
};

} // namespace random_programs
