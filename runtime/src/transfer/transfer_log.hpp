// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/per_thread.hpp"

#include <pi/runtime/transfer.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pi::runtime {

/// Nanoseconds of the steady clock, which is one for all threads.
uint64_t steady_time();

/// An acquire that needed no copy. There are many of them, and few are ever read: the texts are not copied, and
/// the record is made of it when it is.
struct UpToDate {
    struct Texts {
        std::string storage; ///< its name
        std::string reason;  ///< why the place has its bytes where it has them
    };

    uint64_t acquisition;
    uint64_t time;
    PlaceIndex source, destination;
    Range range;
    RouteKind kind;
    bool overwritten;
    uint64_t bytes_copy_in_copy_out;

    TransferRecord record(const Texts &texts) const;
};

/// The newest records, up to a capacity: transfers by their ends, the others by their times. Thread-safe; acquires that
/// needed no copy are put down by each thread apart.
class TransferLog {
public:
    explicit TransferLog(uint64_t capacity) : capacity_(capacity) {}
    /// A piece is put to the line of the others of its acquire and route, if there is one.
    void add(TransferRecord record, bool is_piece = false);
    void add(const UpToDate &entry, const std::shared_ptr<const UpToDate::Texts> &texts);
    std::vector<TransferRecord> read() const; ///< the oldest first
    void clear();

private:
    template <class Entry>
    struct Ring {
        mutable std::mutex mutex;
        std::vector<Entry> entries; // full, it is a ring
        uint64_t oldest = 0;
    };

    struct Told {
        UpToDate acquire;
        std::shared_ptr<const UpToDate::Texts> texts;
    };

    bool join(const TransferRecord &record);

    const uint64_t capacity_;
    Ring<TransferRecord> transfers_;
    PerThread<Ring<Told>> up_to_date_;
};

} // namespace pi::runtime
