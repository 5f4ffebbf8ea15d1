// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Application memory that is pinned: its pages are locked, so that they are never paged out.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace pi::host {

class Context;

/// How often each page of the process is asked for. Pages are locked with the first and unlocked with the last, since
/// the system does not count. Not thread-safe.
class PageLocks {
public:
    /// Addresses are multiples of the page size. PI_ERROR_OUT_OF_RESOURCES with the system's reason; then nothing
    /// has changed.
    void lock(uintptr_t begin, uintptr_t end);
    /// Undoes one lock() of the same range.
    void unlock(uintptr_t begin, uintptr_t end) noexcept;

private:
    /// From each key to the next one, pages are asked for this often; before the first key never.
    using Counts = std::map<uintptr_t, uint32_t>;
    /// Makes `at` a key.
    Counts::iterator split(uintptr_t at);
    /// Removes the keys from begin to end at which nothing changes.
    void merge(uintptr_t begin, uintptr_t end) noexcept;

    Counts counts_;
};

/// The registrations of an instance. They may overlap, and one pointer may be registered many times. A context's go with
/// it at the latest. Thread-safe.
class Registrations {
public:
    /// PI_ERROR_INVALID_SIZE past the end of the address space; errors of PageLocks::lock.
    void add(const Context &context, const void *pointer, uint64_t size);
    /// Undoes the newest one of this pointer. PI_ERROR_INVALID_VALUE if there is none.
    void remove(const Context &context, const void *pointer);
    void drop(const Context &context);

private:
    struct Pages {
        uintptr_t begin, end;
    };
    using Key = std::pair<const Context *, const void *>;

    std::mutex mutex_;
    std::multimap<Key, Pages> registered_; ///< equal keys in the order of their registration
    PageLocks locks_;
};

} // namespace pi::host
