// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's memory that a driver has pinned for a plugin. Drivers pin no byte twice, so
// imports of the same range share a pin.
#pragma once

#include <pi/sdk/address.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace pi::sdk {

/// The pinned ranges of one driver. Several pins may share a range, which is unpinned with the last
/// of them. Thread-safe.
class Registrations {
public:
    /// Pins a range that overlaps no pinned one. Returns a function that unpins it, which must not
    /// throw; throws on failure.
    using PinRange = std::function<std::function<void()>(std::byte *begin, uint64_t size)>;

    /// Pins the range until the last copy of the result is destroyed, which unpins it before it
    /// returns. PI_ERROR_UNSUPPORTED_FEATURE for a range that overlaps a pinned one without lying
    /// within it.
    std::shared_ptr<void> pin(const PinRange &pin_range, std::byte *begin, uint64_t size);

    /// As pin(), for the pages of the range, some of which may be pinned already: shares those, and
    /// pins each gap between them separately.
    std::shared_ptr<void> pin_pages(const PinRange &pin_range, std::byte *begin, uint64_t size);

private:
    struct Range {
        uint64_t size;
        uint32_t count;
        std::function<void()> unpin;
    };
    using Ranges = std::map<std::byte *, Range>;
    class Pieces;
    std::byte *add(const PinRange &pin_range, std::byte *begin, uint64_t size);
    /// The pinned range that contains the address, or the end.
    Ranges::iterator around(std::byte *address);
    /// Pins a range that overlaps none. Call it with mutex_ locked.
    void pin_new(const PinRange &pin_range, std::byte *begin, uint64_t size);
    void remove(std::byte *begin) noexcept;

    std::mutex mutex_;
    Ranges ranges_; ///< by their start, disjoint; guarded by mutex_
};

inline std::shared_ptr<void> Registrations::pin(const PinRange &pin_range, std::byte *begin,
                                                uint64_t size) {
    std::byte *const range = add(pin_range, begin, size);
    return {range, [this](void *pointer) { remove(static_cast<std::byte *>(pointer)); }};
}

inline Registrations::Ranges::iterator Registrations::around(std::byte *address) {
    const auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin())
        return ranges_.end();
    const auto before = std::prev(next);
    return static_cast<uint64_t>(address - before->first) < before->second.size ? before
                                                                                : ranges_.end();
}

inline std::byte *Registrations::add(const PinRange &pin_range, std::byte *begin, uint64_t size) {
    std::lock_guard lock(mutex_);
    if (const auto found = around(begin); found != ranges_.end()) {
        if (size <= found->second.size - static_cast<uint64_t>(begin - found->first)) {
            ++found->second.count;
            return found->first;
        }
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the range from ", static_cast<void *>(begin),
             " begins within another one that is pinned, of ", found->second.size, " bytes from ",
             static_cast<void *>(found->first), ", and ends behind it: no byte is pinned twice");
    }
    const auto next = ranges_.upper_bound(begin);
    if (next != ranges_.end() && static_cast<uint64_t>(next->first - begin) < size)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the range of ", size, " bytes from ",
             static_cast<void *>(begin), " overlaps another one that is pinned, which begins at ",
             static_cast<void *>(next->first), ": no byte is pinned twice");
    pin_new(pin_range, begin, size);
    return begin;
}

inline void Registrations::pin_new(const PinRange &pin_range, std::byte *begin, uint64_t size) {
    const auto entry = ranges_.emplace(begin, Range{size, 1, {}}).first;
    try {
        entry->second.unpin = pin_range(begin, size);
    } catch (...) {
        ranges_.erase(entry);
        throw;
    }
}

/// Ranges that one pin holds together.
class Registrations::Pieces {
public:
    explicit Pieces(Registrations &registrations) : registrations_(registrations) {}
    Pieces(const Pieces &) = delete;
    ~Pieces() {
        for (std::byte *begin : begins_)
            registrations_.remove(begin);
    }
    /// Adds a share of the range that take() returns.
    template <class Take>
    void add(Take &&take) {
        begins_.push_back(nullptr);
        try {
            begins_.back() = take();
        } catch (...) {
            begins_.pop_back();
            throw;
        }
    }

private:
    Registrations &registrations_;
    std::vector<std::byte *> begins_;
};

inline std::shared_ptr<void> Registrations::pin_pages(const PinRange &pin_range, std::byte *begin,
                                                      uint64_t size) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    std::byte *const end = begin + size;
    begin -= reinterpret_cast<uintptr_t>(begin) % page;
    const auto pieces = std::make_shared<Pieces>(*this); // on failure destroyed after the lock
    std::lock_guard lock(mutex_);
    while (begin < end)
        pieces->add([&] {
            std::byte *const here = begin;
            if (const auto found = around(here); found != ranges_.end()) {
                ++found->second.count;
                begin = found->first + found->second.size;
                return found->first;
            }
            const auto next = ranges_.upper_bound(here);
            uint64_t gap = align_up(static_cast<uint64_t>(end - here), page);
            if (next != ranges_.end())
                gap = std::min(gap, static_cast<uint64_t>(next->first - here));
            pin_new(pin_range, here, gap);
            begin = here + gap;
            return here;
        });
    return pieces;
}

inline void Registrations::remove(std::byte *begin) noexcept {
    std::function<void()> unpin; // destroyed after the lock
    std::lock_guard lock(mutex_);
    const auto entry = ranges_.find(begin);
    if (--entry->second.count)
        return;
    unpin = std::move(entry->second.unpin);
    ranges_.erase(entry);
    unpin();
}

} // namespace pi::sdk
