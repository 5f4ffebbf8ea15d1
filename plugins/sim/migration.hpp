// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that migrate as a whole to the device that uses them
// (PI_RESIDENCY_MIGRATES_WHOLE_OBJECT). If two devices write one at the same time, each has all of
// it, and the one that ends last brings all of it back: the other's writes are lost, wherever in
// the object they are.
#pragma once

#include "queue.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <span>

namespace pi::sim {

class Mem;

/// The writes to one object that others may overlap on the virtual clock. Thread-safe.
class WriteLog {
public:
    /// A command that writes the object. While it lives, the writes that it may overlap are kept.
    class Writer {
    public:
        /// `known`: the program may know what ended before this time to be over.
        Writer(WriteLog &log, uint64_t known);
        ~Writer();
        Writer(const Writer &) = delete;

        struct When {
            /// on the virtual clock; after everything that was known to be over
            uint64_t start, end;
            Site device;   ///< the writing device
            bool migrates; ///< the object migrates there as a whole
        };
        /// Calls `body`, which writes, under a lock. Then the object has the surviving writes:
        /// if the writes of two devices overlap in time and the object migrates to one of them, the
        /// write that ended last survives, whatever their real order.
        template <class Body>
        void write(When when, std::span<std::byte> object, Body &&body) {
            std::lock_guard lock(log_.mutex_);
            when.start = std::max(when.start, *known_);
            const std::vector<std::byte> before(object.begin(), object.end());
            body();
            log_.add(when, before, object);
        }

    private:
        WriteLog &log_;
        const std::multiset<uint64_t>::iterator known_;
    };

private:
    /// The bytes that a command changed.
    struct Change {
        uint64_t offset;
        std::vector<std::byte> before, after;
    };
    struct Record {
        Writer::When when;
        std::vector<Change> changes;
    };

    static bool collide(const Writer::When &a, const Writer::When &b);
    static bool later(const Writer::When &a, const Writer::When &b);
    bool lost(const Record &record) const;
    void add(const Writer::When &when, std::span<const std::byte> before,
             std::span<std::byte> object);
    void settle(std::span<std::byte> object) const;

    std::mutex mutex_; ///< locked while a command writes
    std::vector<Record> records_;
    std::mutex known_mutex_;        ///< no other lock is taken under it
    std::multiset<uint64_t> known_; ///< one for each writer
};

/// A log for memory of this device; NULL if it does not migrate.
std::unique_ptr<WriteLog> make_write_log(const Device &owner);

/// The body of a command of the queue that writes these objects.
Work::Body writing(const Queue &queue, std::vector<Mem *> written, Work::Body body);

} // namespace pi::sim
