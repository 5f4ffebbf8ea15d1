// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that migrate as a whole to who uses them (PI_RESIDENCY_MIGRATES_WHOLE_OBJECT): of two devices that write one
// at the same time each has all of it, and the one that is done last brings all of it back. So the other's bytes are
// lost, wherever in the object they lie.
#pragma once

#include "queue.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <span>

namespace pi::sim {

class Mem;

/// What has been written to one object, as far as others may write it at the same time of the virtual clock.
/// Thread-safe.
class WriteLog {
public:
    /// A command that writes the object. Until it is gone, what it may have overlapped is known.
    class Writer {
    public:
        /// `known`: what has ended by then, the program may know to be over.
        Writer(WriteLog &log, uint64_t known);
        ~Writer();
        Writer(const Writer &) = delete;

        struct When {
            uint64_t start, end; ///< of the virtual clock; it follows all that was known to be over
            Site device;         ///< that writes
            bool migrates;       ///< the object goes there as a whole
        };
        /// Calls `body`, which writes, alone. Then the object has what is left of all that was written at the same
        /// time: of two devices, to one of which it migrates, what was done last; the same one whichever really
        /// came first.
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
    /// Bytes that a command has changed.
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

    std::mutex mutex_; ///< held while a command writes
    std::vector<Record> records_;
    std::mutex known_mutex_;        ///< no other is taken under it
    std::multiset<uint64_t> known_; ///< by each writer
};

/// A log for memory of this device; NULL if it migrates to none.
std::unique_ptr<WriteLog> make_write_log(const Device &owner);

/// The body of a command of the queue that writes these objects.
Work::Body writing(const Queue &queue, std::vector<Mem *> written, Work::Body body);

} // namespace pi::sim
