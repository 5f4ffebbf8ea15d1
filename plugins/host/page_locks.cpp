// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "page_locks.hpp"

#include <pi/sdk/bytes.hpp>
#include <pi/sdk/error.hpp>

#include <sys/mman.h>
#include <sys/resource.h>

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>

namespace pi::host {

namespace {

void *as_pointer(uintptr_t address) {
    return reinterpret_cast<void *>(address);
}

std::string lock_refusal(uint64_t size, int error) {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    return sdk::text("mlock of ", sdk::Bytes(size), ": ", std::strerror(error),
                     "; this process may lock ", sdk::Bytes(limit.rlim_cur),
                     " in all (RLIMIT_MEMLOCK), which an administrator can raise (ulimit -l, or "
                     "LimitMEMLOCK= of a systemd unit)");
}

/// Counts the locks of each page of the process. Thread-safe.
class PageLocks {
public:
    /// One for the process, not for each instance, as mlock's state is. Never destroyed: a process
    /// may exit with locked pages. A forked child inherits no locked page, and starts with none.
    static PageLocks &of_process() {
        static constinit std::atomic<PageLocks *> current{nullptr};
        PageLocks *locks = current.load(std::memory_order_acquire);
        if (locks)
            return *locks;
        auto made = std::make_unique<PageLocks>();
        if (pthread_atfork(nullptr, nullptr, [] { current = nullptr; }))
            throw std::bad_alloc();
        if (!current.compare_exchange_strong(locks, made.get(), std::memory_order_acq_rel))
            return *locks;
        return *made.release();
    }
    /// Addresses are multiples of the page size. Returns errno; after a failure nothing has
    /// changed.
    int lock(uintptr_t begin, uintptr_t end);
    /// Undoes one lock() of the same range.
    void unlock(uintptr_t begin, uintptr_t end) noexcept;

private:
    /// The count of pages from each key to the next; 0 before the first key.
    using Counts = std::map<uintptr_t, uint32_t>;
    /// Makes `at` a key.
    Counts::iterator split(uintptr_t at);
    /// Removes the keys from begin to end at which the count does not change.
    void merge(uintptr_t begin, uintptr_t end) noexcept;
    /// Unlocks pages whose count is 0.
    static void unlock_pages(Counts::iterator first, Counts::iterator last) noexcept;

    std::mutex mutex_;
    Counts counts_;
};

PageLocks::Counts::iterator PageLocks::split(uintptr_t at) {
    const auto next = counts_.upper_bound(at);
    const uint32_t count = next == counts_.begin() ? 0 : std::prev(next)->second;
    return counts_.emplace(at, count).first;
}

void PageLocks::merge(uintptr_t begin, uintptr_t end) noexcept {
    for (auto entry = counts_.lower_bound(begin); entry != counts_.end() && entry->first <= end;) {
        const uint32_t before = entry == counts_.begin() ? 0 : std::prev(entry)->second;
        entry = entry->second == before ? counts_.erase(entry) : std::next(entry);
    }
}

void PageLocks::unlock_pages(Counts::iterator first, Counts::iterator last) noexcept {
    for (; first != last; ++first)
        if (!first->second)
            munlock(as_pointer(first->first), std::next(first)->first - first->first);
}

int PageLocks::lock(uintptr_t begin, uintptr_t end) {
    const std::lock_guard guard(mutex_);
    const auto first = split(begin), last = split(end);
    // The whole range: counted pages may have been unmapped, and mapped again without a lock.
    const int error = mlock(as_pointer(begin), end - begin) ? errno : 0;
    if (error)
        unlock_pages(first, last);
    else
        for (auto part = first; part != last; ++part)
            ++part->second;
    merge(begin, end);
    return error;
}

void PageLocks::unlock(uintptr_t begin, uintptr_t end) noexcept {
    try {
        const std::lock_guard guard(mutex_);
        const auto first = split(begin), last = split(end);
        for (auto part = first; part != last; ++part)
            --part->second;
        unlock_pages(first, last);
        merge(begin, end);
    } catch (const std::bad_alloc &) {
        // The pages stay locked, which costs memory but is otherwise correct.
    }
}

} // namespace

PinnedPages::PinnedPages(const void *begin, uint64_t size)
    : begin_(reinterpret_cast<uintptr_t>(begin)), end_(begin_ + size) {
    if (const int error = PageLocks::of_process().lock(begin_, end_)) {
        end_ = begin_;
        refusal_ = lock_refusal(size, error);
    }
}

PinnedPages::~PinnedPages() {
    if (begin_ != end_)
        PageLocks::of_process().unlock(begin_, end_);
}

} // namespace pi::host
