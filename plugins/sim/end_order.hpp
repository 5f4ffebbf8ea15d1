// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Completes concurrent transfers in the order of their ends on the virtual clock, one after the
// other, callbacks included. So the commands that callbacks enqueue come in the order of the
// simulated machine, not in the order in which the threads happen to finish.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace pi::sim {

class EndOrder {
public:
    using Key = std::pair<uint64_t, uint64_t>; ///< the end, and a number that orders equal ends

    /// A transfer starts, and waits for nothing else: it will be done, whatever happens. Then
    /// `finish` is called.
    Key begin(uint64_t end, std::function<void()> finish) {
        std::lock_guard lock(mutex_);
        const Key key{end, ++count_};
        running_.emplace(key, Transfer{std::move(finish)});
        return key;
    }

    /// The transfer is done. Its `finish` is called once those with earlier ends have finished, on
    /// this thread or on that of the transfer before. No lock is held; it may call begin().
    void done(const Key &key) {
        std::unique_lock lock(mutex_);
        running_.find(key)->second.done = true;
        finish_those_done(lock);
    }

    /// The transfer did not start after all.
    void withdraw(const Key &key) {
        std::unique_lock lock(mutex_);
        running_.erase(key);
        finish_those_done(lock);
    }

private:
    struct Transfer {
        std::function<void()> finish;
        bool done = false;
    };

    void finish_those_done(std::unique_lock<std::mutex> &lock) {
        if (finishing_)
            return;
        finishing_ = true;
        while (!running_.empty() && running_.begin()->second.done) {
            std::function<void()> next = std::move(running_.begin()->second.finish);
            running_.erase(running_.begin());
            lock.unlock();
            next();
            next = nullptr; // its captures are destroyed without the lock
            lock.lock();
        }
        finishing_ = false;
    }

    std::mutex mutex_; ///< no other lock is taken under it
    std::map<Key, Transfer> running_;
    uint64_t count_ = 0;
    bool finishing_ = false;
};

} // namespace pi::sim
