// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a target reads its input and reports a finding. It reads bytes from the front; when none are
// left, all values are 0, so that every input is valid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <string_view>
#include <vector>

namespace pi::fuzz {

class Input {
public:
    Input(const uint8_t *data, size_t size) : data_(data), left_(size) {}

    bool empty() const { return left_ == 0; }
    template <class T>
    T take() {
        T value{};
        const size_t count = std::min(sizeof value, left_);
        std::memcpy(&value, data_, count);
        data_ += count;
        left_ -= count;
        return value;
    }
    /// From 0 to count - 1.
    uint32_t below(uint32_t count) { return take<uint8_t>() % count; }
    /// Mostly small, sometimes any: for offsets and sizes.
    uint64_t number() {
        const uint8_t kind = take<uint8_t>();
        return kind < 0xF0 ? take<uint16_t>() % (kind < 0x80 ? 256U : 8192U) : take<uint64_t>();
    }

private:
    const uint8_t *data_;
    size_t left_;
};

/// Reports a finding and ends the process: libFuzzer takes that for a crash, and stores the input.
template <class... Parts>
[[noreturn]] void finding(const Parts &...parts) {
    std::ostringstream text;
    (text << ... << parts);
    std::fprintf(stderr, "finding: %s\n", text.str().c_str());
    std::abort();
}

/// Inputs that are generated rather than stored in the corpus, always the same; each target has the
/// function.
std::vector<std::vector<uint8_t>> generated_inputs();

/// `count` random inputs, always the same.
inline std::vector<std::vector<uint8_t>> random_inputs(size_t count, size_t size) {
    std::mt19937 random(1);
    std::vector<std::vector<uint8_t>> inputs(count, std::vector<uint8_t>(size));
    for (std::vector<uint8_t> &input : inputs) {
        for (uint8_t &byte : input) {
            byte = static_cast<uint8_t>(random());
        }
    }
    return inputs;
}

} // namespace pi::fuzz

/// The entry of each target, by libFuzzer's name. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
