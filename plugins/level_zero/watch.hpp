// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread for each context with work under way, which ends what has ended. The driver wakes a thread for one event
// alone: so it waits for a little for the oldest one of one list, and then asks all of them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pi::level_zero {

class DriverContext;
class List;

class Watch {
public:
    explicit Watch(DriverContext &context) : context_(context) {}

    /// The list has work from now on, until its poll() says otherwise.
    void add(std::shared_ptr<List> list);

    /// Nothing is under way any more: waits until the thread has let go of all lists. False on that thread itself, which
    /// cannot wait for itself.
    bool settle();

private:
    void run();
    void remove(const std::shared_ptr<List> &list);

    DriverContext &context_;
    std::mutex mutex_;                ///< guards what follows
    std::condition_variable settled_; ///< running_ is false
    std::vector<std::shared_ptr<List>> lists_;
    bool running_ = false;
    std::thread::id thread_; ///< while it is running
};

} // namespace pi::level_zero
