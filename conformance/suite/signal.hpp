// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace pi::suite {

/// Set once by any thread; waited for with an end.
class Flag {
public:
    void set() {
        const std::scoped_lock lock(mutex_);
        set_ = true;
        changed_.notify_all();
    }
    bool is_set() {
        const std::scoped_lock lock(mutex_);
        return set_;
    }
    /// False when the time is over.
    bool wait_for(std::chrono::seconds time) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, time, [&] { return set_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
};

} // namespace pi::suite
