// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/range_set.hpp>

#include <cstdint>

namespace pi::runtime {

/// Counts what it costs a place to use another device's memory over a link, where it could have
/// memory of its own.
///
/// A copy crosses the link once. So does the first use of bytes that another place wrote, and a
/// write of bytes that another place reads: memory of its own would spare nothing. But a use of
/// bytes that no other place has touched since this place's last use is a crossing that it would
/// have spared. Once these crossings amount to a copy, a copy is made: then, whatever follows, at
/// most twice the fewest possible bytes have crossed (the ski rental problem). Not synchronised.
class RemoteUse {
public:
    void used(const Range &range, bool writes);
    /// Notes a use by another place.
    void used_elsewhere(const Range &range, bool writes);

    /// Bytes that have crossed again, including this use.
    uint64_t again(const Range &range) const;
    /// The bytes that memory of its own would need: what the place has used, and this range.
    RangeSet needed(const Range &range) const;
    /// Whether as much has crossed again as a copy moves: then the caller compares the costs.
    bool is_due(const Range &range) const;
    /// The link is still cheaper, or there is no memory: compare again when twice as much has
    /// crossed.
    void put_off(const Range &range);

private:
    RangeSet known_;   // bytes that a copy would still spare
    RangeSet written_; // of these, written here and not read by another place yet
    uint64_t again_ = 0;
    uint64_t due_ = 0;
};

} // namespace pi::runtime
