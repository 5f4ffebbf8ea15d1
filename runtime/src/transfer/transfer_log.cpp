// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/transfer_log.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pi::runtime {

namespace {

bool is_piece_of(const TransferRecord &record, const TransferRecord &other) {
    return record.acquisition == other.acquisition && record.source == other.source &&
           record.destination == other.destination && record.kind == other.kind &&
           record.style == other.style && record.result == PI_SUCCESS &&
           other.result == PI_SUCCESS && record.reason == other.reason;
}

/// Where the next entry goes.
template <class Ring>
auto &next_slot(Ring &ring, uint64_t capacity) {
    if (ring.entries.size() < capacity) {
        return ring.entries.emplace_back();
    }
    return ring.entries[std::exchange(ring.oldest, (ring.oldest + 1) % capacity)];
}

} // namespace

uint64_t steady_time() {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

TransferRecord UpToDate::record(const Texts &texts) const {
    TransferRecord record;
    record.acquisition = acquisition;
    record.storage = texts.storage;
    record.source = source;
    record.destination = destination;
    record.ranges = range;
    record.kind = kind;
    record.reason = overwritten ? "overwritten: nothing to fetch; " : "nothing stale; ";
    record.reason += texts.reason;
    record.bytes_copy_in_copy_out = bytes_copy_in_copy_out;
    return record;
}

void TransferLog::add(const UpToDate &entry, const std::shared_ptr<const UpToDate::Texts> &texts) {
    if (capacity_ == 0) {
        return;
    }
    Ring<Logged> &ring = up_to_date_.here();
    const std::lock_guard lock(ring.mutex);
    Logged &slot = next_slot(ring, capacity_);
    slot.acquire = entry;
    if (slot.texts !=
        texts) { // mostly the same as in the ring's last round: a reference count costs
        slot.texts = texts;
    }
}

void TransferLog::add(TransferRecord record, bool is_piece) {
    if (capacity_ == 0) {
        return;
    }
    const std::lock_guard lock(transfers_.mutex);
    if (!is_piece || !join(record)) {
        next_slot(transfers_, capacity_) = std::move(record);
    }
}

/// False if the log has no line of the record's other pieces.
bool TransferLog::join(const TransferRecord &record) {
    // Other transfers' records may be in between.
    std::vector<TransferRecord> &entries = transfers_.entries;
    const uint64_t count = std::min<uint64_t>(entries.size(), 64);
    for (uint64_t back = 1; back <= count; ++back) {
        TransferRecord &same =
            entries[(transfers_.oldest + entries.size() - back) % entries.size()];
        if (!is_piece_of(same, record)) {
            continue;
        }
        same.ranges.add(record.ranges);
        same.bytes += record.bytes;
        same.pieces += record.pieces;
        same.predicted += record.predicted;
        same.predicted_delay = std::max(same.predicted_delay, record.predicted_delay);
        same.begin = std::min(same.begin, record.begin);
        same.end = std::max(same.end, record.end);
        same.bytes_copy_in_copy_out += record.bytes_copy_in_copy_out;
        return true;
    }
    return false;
}

std::vector<TransferRecord> TransferLog::read() const {
    std::vector<std::pair<uint64_t, TransferRecord>> timed;
    const auto add_ring = [&](const auto &ring, const auto &time_of, const auto &record_of) {
        const std::lock_guard lock(ring.mutex);
        for (uint64_t index = 0; index < ring.entries.size(); ++index) {
            const auto &entry = ring.entries[(ring.oldest + index) % ring.entries.size()];
            timed.emplace_back(time_of(entry), record_of(entry));
        }
    };
    add_ring(
        transfers_, [](const TransferRecord &record) { return record.end; },
        [](const TransferRecord &record) { return record; });
    up_to_date_.for_each([&](const Ring<Logged> &ring) {
        add_ring(
            ring, [](const Logged &logged) { return logged.acquire.time; },
            [](const Logged &logged) { return logged.acquire.record(*logged.texts); });
    });
    std::stable_sort(timed.begin(), timed.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<TransferRecord> records;
    for (size_t index = timed.size() - std::min<size_t>(timed.size(), capacity_);
         index < timed.size(); ++index) {
        records.push_back(std::move(timed[index].second));
    }
    return records;
}

void TransferLog::clear() {
    const auto empty = [](auto &ring) {
        const std::lock_guard lock(ring.mutex);
        ring.entries.clear();
        ring.oldest = 0;
    };
    empty(transfers_);
    up_to_date_.for_each(empty);
}

} // namespace pi::runtime
