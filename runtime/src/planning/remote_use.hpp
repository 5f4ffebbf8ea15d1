// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/range_set.hpp>

#include <cstdint>

namespace pi::runtime {

/// What it has cost a place to use another device's memory over a link, where it could have memory of its own.
///
/// A copy crosses the link once. So does the first use of what another place wrote, and what this one writes for another:
/// there is nothing to gain. But each use of bytes that nobody else has touched since this place's last one is a
/// crossing that memory of its own would have spared. Once those come to as much as a copy, a copy is made: whatever
/// comes then, no more than twice the fewest bytes have crossed (the ski rental problem). Not synchronised.
class RemoteUse {
public:
    void used(const Range &range, bool writes);
    /// By another place.
    void used_elsewhere(const Range &range, bool writes);

    /// Bytes that have crossed again, this use included.
    uint64_t again(const Range &range) const;
    /// What memory of its own would have to be given, so that the place has what it has used, and this.
    RangeSet needed(const Range &range) const;
    /// Whether as much has crossed again as a copy takes: then its cost is worth a look.
    bool is_due(const Range &range) const;
    /// The look has shown that the link is cheaper still, or that there is no memory: the next one is when twice as much
    /// has crossed.
    void put_off(const Range &range);

private:
    RangeSet known_;   // what a copy would still be good for
    RangeSet written_; // of that, what nobody else has read yet
    uint64_t again_ = 0;
    uint64_t due_ = 0;
};

} // namespace pi::runtime
