// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer_log.hpp"

#include <algorithm>
#include <utility>

namespace pi::runtime {

namespace {

bool is_piece_of(const TransferRecord &record, const TransferRecord &other) {
    return record.acquisition == other.acquisition && record.source == other.source &&
           record.destination == other.destination && record.kind == other.kind &&
           record.style == other.style && record.result == PI_SUCCESS &&
           other.result == PI_SUCCESS && record.reason == other.reason;
}

} // namespace

TransferRecord UpToDate::record() const {
    TransferRecord record;
    record.acquisition = acquisition;
    record.storage = *storage;
    record.source = source;
    record.destination = destination;
    record.ranges = range;
    record.kind = kind;
    record.reason = overwritten ? "overwritten: nothing to fetch; " : "nothing stale; ";
    record.reason += *reason;
    record.bytes_copy_in_copy_out = bytes_copy_in_copy_out;
    return record;
}

void TransferLog::push(Entry entry) {
    if (entries_.size() < capacity_) {
        entries_.push_back(std::move(entry));
    } else {
        entries_[oldest_] = std::move(entry);
        oldest_ = (oldest_ + 1) % capacity_;
    }
}

void TransferLog::add(UpToDate entry) {
    if (capacity_ == 0) {
        return;
    }
    const std::lock_guard lock(mutex_);
    push(std::move(entry));
}

void TransferLog::add(TransferRecord record, bool is_piece) {
    if (capacity_ == 0) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (!is_piece || !join(record)) {
        push(std::move(record));
    }
}

/// False if there is no line of the record's other pieces.
bool TransferLog::join(const TransferRecord &record) {
    // Those of others may have come in between.
    const uint64_t count = std::min<uint64_t>(entries_.size(), 64);
    for (uint64_t back = 1; back <= count; ++back) {
        Entry &entry = entries_[(oldest_ + entries_.size() - back) % entries_.size()];
        TransferRecord *const same = std::get_if<TransferRecord>(&entry);
        if (same == nullptr || !is_piece_of(*same, record)) {
            continue;
        }
        same->ranges.add(record.ranges);
        same->bytes += record.bytes;
        same->pieces += record.pieces;
        same->predicted += record.predicted;
        same->begin = std::min(same->begin, record.begin);
        same->end = std::max(same->end, record.end);
        same->bytes_copy_in_copy_out += record.bytes_copy_in_copy_out;
        return true;
    }
    return false;
}

std::vector<TransferRecord> TransferLog::read() const {
    const std::lock_guard lock(mutex_);
    std::vector<TransferRecord> records;
    records.reserve(entries_.size());
    for (uint64_t index = 0; index < entries_.size(); ++index) {
        const Entry &entry = entries_[(oldest_ + index) % entries_.size()];
        if (const auto *up_to_date = std::get_if<UpToDate>(&entry)) {
            records.push_back(up_to_date->record());
        } else {
            records.push_back(std::get<TransferRecord>(entry));
        }
    }
    return records;
}

void TransferLog::clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    oldest_ = 0;
}

} // namespace pi::runtime
