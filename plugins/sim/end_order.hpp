// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers that run at the same time become final in the order of their ends on the virtual clock, one after the
// other, callbacks included. So what callbacks enqueue comes in the order of the simulated machine, and not in that in
// which the threads that do the work happen to be done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace pi::sim {

class EndOrder {
public:
    using Key = std::pair<uint64_t, uint64_t>; ///< the end; a number where several have the same

    /// A transfer runs now, and nothing that it waits for is missing: it will be done, whatever
    /// else happens. `finish` is called then.
    Key begin(uint64_t end, std::function<void()> finish) {
        std::lock_guard lock(mutex_);
        const Key key{end, ++count_};
        running_.emplace(key, Transfer{std::move(finish)});
        return key;
    }

    /// It is done. Its `finish` is called once those with earlier ends are finished, on this thread
    /// or on that of the one before. Never with a lock held; what it calls may begin() others.
    void done(const Key &key) {
        std::unique_lock lock(mutex_);
        running_.find(key)->second.done = true;
        finish_those_done(lock);
    }

    /// It did not begin after all.
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
            next = nullptr; // what it holds is destroyed without the lock
            lock.lock();
        }
        finishing_ = false;
    }

    std::mutex mutex_; ///< no other is taken under it
    std::map<Key, Transfer> running_;
    uint64_t count_ = 0;
    bool finishing_ = false;
};

} // namespace pi::sim
