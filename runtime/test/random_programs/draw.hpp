// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace random_programs {

/// The numbers that decide a step. Any are legal, since each is taken modulo the number of choices:
/// a shrunk program is a valid program.
struct Step {
    std::array<uint16_t, 12> numbers{};
};
/// The numbers that decide the machine and the initial state of a program.
struct Shape {
    std::array<uint16_t, 64> numbers{};
};

/// Takes such numbers one by one. Zero selects the simplest choice.
class Draw {
public:
    explicit Draw(std::span<const uint16_t> numbers) : numbers_(numbers.begin(), numbers.end()) {}
    /// A number from low to high, inclusive; low when no numbers are left.
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

/// The program violates the model.
struct Failure {
    std::string text;
};

} // namespace random_programs
