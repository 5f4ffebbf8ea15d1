// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The references of commands without an event. A backend whose queue is a vendor's stream puts such
// a command into the stream at once, past the graph, and releases its references after it finds
// that the stream has passed it.
#pragma once

#include <pi/sdk/object.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace pi::sdk {

/// References to the objects that one command names. The first few need no allocation.
class CommandReferences {
public:
    template <class T>
    void add(T &object) {
        if (count_ < few_.size())
            few_[count_] = AnyRef(Ref<T>(object));
        else
            more_.emplace_back(Ref<T>(object));
        ++count_;
    }
    size_t size() const { return count_; }
    AnyRef &operator[](size_t i) { return i < few_.size() ? few_[i] : more_[i - few_.size()]; }

private:
    std::array<AnyRef, 6> few_;
    std::vector<AnyRef> more_;
    size_t count_ = 0;
};

/// The references of many commands by command number, in ascending order. Reuses its memory.
class ReferenceQueue {
public:
    bool empty() const { return first_ == all_.size(); }
    /// Reserves room: the next add() calls of so many references cannot fail.
    void reserve(size_t more) {
        if (all_.size() + more <= all_.capacity())
            return;
        all_.erase(all_.begin(), all_.begin() + static_cast<ptrdiff_t>(first_));
        first_ = 0;
        if (all_.size() + more > all_.capacity() / 2)
            all_.reserve(std::max(all_.size() + more, 2 * all_.capacity()));
    }
    void add(uint64_t number, CommandReferences &references) noexcept {
        for (size_t i = 0; i < references.size(); ++i)
            all_.push_back({number, std::move(references[i])});
    }
    /// Moves references of the commands up to number `through` to `out`, at most its size, and
    /// returns how many. Fewer than that are the last ones. Releasing the last reference to an
    /// object may call back: release them without a lock.
    size_t take(uint64_t through, std::span<AnyRef> out) {
        size_t taken = 0;
        for (; taken < out.size() && !empty() && all_[first_].number <= through; ++first_)
            out[taken++] = std::move(all_[first_].object);
        if (empty()) {
            all_.clear();
            first_ = 0;
        }
        return taken;
    }

private:
    struct Entry {
        uint64_t number;
        AnyRef object;
    };
    std::vector<Entry> all_;
    size_t first_ = 0; ///< the entries before it are taken
};

/// How often threads look for ended commands without events: the longest time for which their
/// references are held after their end while no thread waits.
inline constexpr std::chrono::milliseconds release_poll_interval{10};

/// The references of commands without an event of one vendor stream; used under that stream's
/// mutex.
class DeferredReleases {
public:
    /// Reserves room: the next defer() of so many references cannot fail.
    void reserve(size_t references) { references_.reserve(references); }
    /// Adds the references of the stream's newest command. Returns true when many were added: it is
    /// time to look for ended commands. Enqueue calls do not release references themselves, since a
    /// release may wait for other work.
    bool defer(uint64_t number, CommandReferences &references) noexcept {
        constexpr uint64_t commands_between_looks = 256;
        newest_ = number;
        references_.add(number, references);
        const bool due = number >= next_look_;
        if (due)
            next_look_ = number + commands_between_looks;
        return due;
    }
    /// The number of the newest command without an event; 0 if there was none.
    uint64_t newest() const { return newest_; }
    /// Releases the references of commands up to number `through`. `lock` is unlocked meanwhile,
    /// since the last release of an object may call back. On return all of them are released,
    /// including those that other threads took before.
    void release(uint64_t through, std::unique_lock<std::mutex> &lock) {
        std::array<AnyRef, 16> gone;
        ++releasing_;
        while (const size_t count = references_.take(through, gone)) {
            lock.unlock();
            for (size_t i = 0; i < count; ++i)
                gone[i] = AnyRef();
            lock.lock();
        }
        if (--releasing_ == 0)
            released_.notify_all();
        else
            released_.wait(lock, [this] { return releasing_ == 0; });
    }

private:
    ReferenceQueue references_;
    uint64_t newest_ = 0;
    uint64_t next_look_ = 0; ///< the number of the command after which to look
    unsigned releasing_ = 0; ///< threads that are releasing references
    std::condition_variable released_;
};

} // namespace pi::sdk
