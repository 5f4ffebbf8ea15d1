// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The expected bytes of a storage when uses of it fail, computed only from the uses and their
// results, not from the runtime.
#pragma once

#include <pi/runtime/range_set.hpp>
#include <pi/runtime/topology.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pi_test {

/// The rule: bytes whose write failed are lost only if the command may have run, and no memory but
/// the one that it wrote to had them for certain before. A memory has them for certain after a
/// write there that succeeded, and after a read there that did, if it is not given up for others
/// then; no longer after a write there that failed: a replica elsewhere, perhaps at a device that
/// will be lost, counts instead. Places that may share a memory perhaps do and perhaps do not.
class ByteModel {
public:
    using PlaceIndex = pi::runtime::PlaceIndex;
    using Range = pi::runtime::Range;

    /// All bytes unknown. `may_share`, by place: a bit for each place that may use the same memory,
    /// its own too.
    ByteModel(uint64_t size, std::vector<uint32_t> may_share)
        : may_share_(std::move(may_share)), bytes_(size), holders_(size) {}

    /// The last bytes of the range were written; those before them kept their value.
    void write(PlaceIndex place, const Range &range, const std::vector<uint8_t> &last_bytes) {
        const uint64_t begin = range.end - last_bytes.size();
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            holders_[byte] = 1U << place;
            if (byte >= begin) {
                bytes_[byte] = last_bytes[byte - begin];
            }
        }
    }

    /// `may_have_run`: the command that writes was enqueued, and nothing says that it did nothing.
    void fail_write(PlaceIndex place, const Range &range, bool may_have_run) {
        for (uint64_t byte = range.begin; byte < range.end; ++byte) {
            const uint32_t others = holders_[byte] & ~may_share_[place];
            holders_[byte] = others;
            if (others == 0 && may_have_run) {
                bytes_[byte].reset();
            }
        }
    }

    /// A read from a replica that is never evicted.
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

    /// "" or why these cannot have been lost with some devices. `safe`: a bit for each place whose
    /// memory cannot.
    std::string check_lost(const pi::runtime::RangeSet &lost, uint32_t safe) const {
        for (const Range &range : lost.ranges()) {
            for (uint64_t byte = range.begin; byte < range.end; ++byte) {
                if ((holders_[byte] & safe) != 0) {
                    return "byte " + std::to_string(byte) +
                           " is reported lost, and another memory has it";
                }
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
    std::vector<uint32_t> may_share_;
    std::vector<std::optional<uint8_t>> bytes_; // none: may be anything
    std::vector<uint32_t> holders_;             // places that have it for certain
};

} // namespace pi_test
