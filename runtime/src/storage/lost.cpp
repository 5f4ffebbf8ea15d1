// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The remaining bytes of a storage when a device is lost.
#include "storage/storage_state.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>

namespace pi::runtime {

/// Lost places are noticed before each end, so that a failed write takes nothing more away, and
/// after it, as bytes that it made valid there are gone all the same.
void StorageState::learn_ends() {
    for (notice_lost_places(); operations_.owed() != 0; notice_lost_places()) {
        operations_.learn_next();
    }
}

/// With the lock. Replicas at lost devices are not valid any more. Bytes that were only there are
/// lost until they are valid somewhere: a later write may have been overtaken by the one whose
/// bytes are lost, and a copy of them may still arrive.
void StorageState::notice_lost_places() {
    if (runtime_->lost.count() == 0) {
        return;
    }
    const auto is_lost = [this](PlaceIndex place) { return runtime_->lost.is_lost(place); };
    for (ViewId view = 0; view < replicas_.views.size(); ++view) {
        if (is_lost(replicas_.views[view].home) && !replicas_.ledger.valid(view).empty()) {
            lost_.add(replicas_.ledger.only_at(view));
            replicas_.ledger.forget(view);
        }
    }
    for (PlaceIndex place = 0; place < attachments_.all().size(); ++place) {
        std::optional<Attachment> &attachment = attachments_[place];
        if (attachment && is_lost(attachment->lender) && !is_lost(place)) {
            attachment.reset(); // it used a lost device's memory
        }
    }
    for (ViewId view = 0; view < replicas_.views.size() && !lost_.empty(); ++view) {
        lost_.remove(replicas_.ledger.valid(view));
    }
}

/// With the lock, where there are lost places, and after catch_up().
void StorageState::forbid_lost(PlaceIndex place, Access access, const Range &range) {
    if (runtime_->lost.is_lost(place)) {
        throw Error(PI_ERROR_DEVICE_LOST,
                    "the device of " + runtime_->topology->info(place).name + " is lost");
    }
    RangeSet gone = intersect(lost_, range);
    for (ViewId view = 0; view < replicas_.views.size() && !gone.empty(); ++view) {
        gone.remove(replicas_.ledger.expected(
            view)); // readable after the operations that write or copy them
    }
    if (fetches(access) && !gone.empty()) {
        throw Error(PI_ERROR_DEVICE_LOST,
                    to_string(gone) + " were valid only at a device that is lost: write them again "
                                      "(discard_write), then they can be read again");
    }
}

RangeSet StorageState::lost() {
    const std::lock_guard lock(mutex_);
    catch_up();
    return lost_;
}

} // namespace pi::runtime
