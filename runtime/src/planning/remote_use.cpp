// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/remote_use.hpp"

#include <algorithm>

namespace pi::runtime {

void RemoteUse::used(const Range &range, bool writes) {
    again_ = again(range);
    known_.add(range);
    if (writes) {
        written_.add(range);
    }
}

void RemoteUse::used_elsewhere(const Range &range, bool writes) {
    // Of this place's own memory what it wrote would have had to be brought there.
    const RangeSet gone = writes ? RangeSet(range) : intersect(written_, range);
    known_.remove(gone);
    written_.remove(gone);
}

uint64_t RemoteUse::again(const Range &range) const {
    return again_ + intersect(known_, range).bytes();
}

RangeSet RemoteUse::needed(const Range &range) const {
    RangeSet bytes = known_;
    bytes.add(range);
    return bytes;
}

bool RemoteUse::is_due(const Range &range) const {
    return again(range) >= std::max(due_, needed(range).bytes());
}

void RemoteUse::put_off(const Range &range) {
    due_ = 2 * again(range);
}

} // namespace pi::runtime
