// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the bytes of a storage must be when uses of it fail, from the uses and their results alone: the runtime is not
// asked.
#pragma once

#include <pi/runtime/range_set.hpp>
#include <pi/runtime/topology.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runtime_test {

/// The rule: bytes whose write failed are lost only if the command may have run, and no memory but the one that it
/// wrote to had them for certain before. A memory has them for certain after a write there that succeeded and after a
/// read there that did; so it needs a machine where no replica is given up for another storage.
class ByteModel {
public:
    using PlaceIndex = pi::runtime::PlaceIndex;
    using Range = pi::runtime::Range;

    /// All bytes unknown. `may_share`, by place: a bit for each place that may use the same memory, its own too.
    ByteModel(uint64_t size, std::vector<uint32_t> may_share)
        : may_share_(std::move(may_share)), bytes_(size), holders_(size) {}

    void write(PlaceIndex place, const Range &range, uint8_t value) {
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            bytes_[byte] = value;
            holders_[byte] = 1U << place;
        }
    }

    /// `may_have_run`: the command that writes was enqueued, and nothing says that it did nothing.
    void fail_write(PlaceIndex place, const Range &range, bool may_have_run) {
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            const uint32_t others = holders_[byte] & ~may_share_[place];
            if (others != 0) {
                holders_[byte] = others;
            } else if (may_have_run) {
                bytes_[byte].reset();
                holders_[byte] = 0;
            }
        }
    }

    void read(PlaceIndex place, const Range &range) {
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            holders_[byte] |= bytes_[byte] ? 1U << place : 0;
        }
    }

    /// "" or what is wrong with bytes that were seen.
    std::string compare(const Range &range, const std::vector<uint8_t> &seen) const {
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            const uint8_t found = seen[byte - range.begin];
            if (bytes_[byte] && found != *bytes_[byte]) {
                return "byte " + std::to_string(byte) + " is " + std::to_string(found) + ", not " +
                       std::to_string(*bytes_[byte]);
            }
        }
        return {};
    }

    /// How many are known.
    uint64_t known() const {
        return static_cast<uint64_t>(std::count_if(
            bytes_.begin(), bytes_.end(), [](const auto &byte) { return byte.has_value(); }));
    }

private:
    const std::vector<uint32_t> may_share_;
    std::vector<std::optional<uint8_t>> bytes_; // none: may be anything
    std::vector<uint32_t> holders_;             // places that have it for certain
};

} // namespace runtime_test
