// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What commands that have no event keep alive: a backend whose queue is a vendor's stream gives such a command to the
// stream at once, past the graph, and lets go of what it names when it learns that the stream has come so far.
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

/// References to the objects that one command names. A few take no memory of their own.
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

/// The references of many commands, by the commands' numbers, which ascend. Its memory is used again.
class ReferenceQueue {
public:
    bool empty() const { return first_ == all_.size(); }
    /// Makes room, so that the next add() of so many cannot fail.
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
    /// Takes out references of commands through this number; fewer than `out` has room for are the last ones. What goes
    /// with the last reference to an object may call back: the caller lets go of them without its locks.
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
    size_t first_ = 0; ///< those before it have been taken
};

/// How long what commands without events name is kept at most beyond their end, if nobody waits: their end is looked for so
/// often.
inline constexpr std::chrono::milliseconds release_poll_interval{10};

/// What commands without an event keep of one stream of a vendor's, under that stream's mutex.
class DeferredReleases {
public:
    /// Makes room, so that the next defer() of so many cannot fail.
    void reserve(size_t references) { references_.reserve(references); }
    /// Takes over the references of the stream's newest command. True after many: it is time to look which have ended. To
    /// let go of what they name may wait for other work, so that no enqueue does it.
    bool defer(uint64_t number, CommandReferences &references) noexcept {
        constexpr uint64_t commands_between_looks = 256;
        newest_ = number;
        references_.add(number, references);
        const bool due = number >= next_look_;
        if (due)
            next_look_ = number + commands_between_looks;
        return due;
    }
    /// The number of the newest command without an event; 0: there was none.
    uint64_t newest() const { return newest_; }
    /// Lets go of what commands through this number keep. `lock` is open meanwhile, since what goes with a last reference
    /// may call back. On return nothing of it is kept any more, by threads that came before neither.
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
    uint64_t next_look_ = 0; ///< the number of the command with which one is due
    unsigned releasing_ = 0; ///< threads that let go of references
    std::condition_variable released_;
};

} // namespace pi::sdk
