// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/range_set.hpp>

#include <algorithm>
#include <deque>

namespace pi::runtime {

/// The ranges in portions of at most `size` bytes, in order: large ranges are cut, small ones
/// gathered, so that each portion is one call. `size` is not 0.
inline std::deque<RangeSet> portions(const RangeSet &ranges, uint64_t size) {
    std::deque<RangeSet> result;
    uint64_t room = 0;
    for (Range rest : ranges.ranges()) {
        while (!rest.empty()) {
            if (room == 0) {
                result.emplace_back();
                room = size;
            }
            const uint64_t taken = std::min(room, rest.size());
            result.back().add(Range{rest.begin, rest.begin + taken});
            rest.begin += taken;
            room -= taken;
        }
    }
    return result;
}

} // namespace pi::runtime
