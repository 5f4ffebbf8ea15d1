// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/transfer.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace pi::runtime {

/// An acquire that needed no copy. There are many of them, and few are ever read: the texts are not copied, and
/// the record is made of it when it is.
struct UpToDate {
    uint64_t acquisition;
    std::shared_ptr<const std::string> storage; ///< its name
    PlaceIndex source, destination;
    Range range;
    RouteKind kind;
    bool overwritten;
    std::shared_ptr<const std::string> reason; ///< why the place has its bytes where it has them
    uint64_t bytes_copy_in_copy_out;

    TransferRecord record() const;
};

/// The newest records, up to a capacity. Thread-safe.
class TransferLog {
public:
    explicit TransferLog(uint64_t capacity) : capacity_(capacity) {}
    /// A piece is put to the line of the others of its acquire and route, if there is one.
    void add(TransferRecord record, bool is_piece = false);
    void add(UpToDate entry);
    std::vector<TransferRecord> read() const; ///< the oldest first
    void clear();

private:
    using Entry = std::variant<UpToDate, TransferRecord>;

    void push(Entry entry);
    bool join(const TransferRecord &record);

    const uint64_t capacity_;
    mutable std::mutex mutex_;
    std::vector<Entry> entries_; // full, it is a ring
    uint64_t oldest_ = 0;
};

} // namespace pi::runtime
