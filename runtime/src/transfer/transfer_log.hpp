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

/// Nanoseconds of the steady clock, the same for all threads.
uint64_t steady_time();

/// An acquire that needed no copy. There are many, and few are ever read: so the texts are shared,
/// and the record is made when it is read.
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

/// The newest records, up to a capacity: transfers in the order of their ends, acquires that needed
/// no copy in the order of their times. Thread-safe; each thread logs the latter separately.
class TransferLog {
public:
    explicit TransferLog(uint64_t capacity) : capacity_(capacity) {}
    /// Adds a piece to the line of its acquire and route, if there is one.
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

    struct Logged {
        UpToDate acquire;
        std::shared_ptr<const UpToDate::Texts> texts;
    };

    bool join(const TransferRecord &record);

    const uint64_t capacity_;
    Ring<TransferRecord> transfers_;
    PerThread<Ring<Logged>> up_to_date_;
};

} // namespace pi::runtime
