// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ends completed commands of a context, on a thread of the instance if one is free. The driver can
// wake a thread for a single event only: the thread waits briefly for the oldest event of one list,
// then polls all lists. While no end must be noticed at once it polls now and then, as the
// instance's watcher does for contexts that have no thread.
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

    /// The list has work from now on, until its leave() returns true.
    void add(std::shared_ptr<List> list);
    /// Something has changed: poll now.
    void wake() noexcept;
    /// Ends, on the calling thread, completed commands of all lists.
    void sweep();

    /// To be called when no work is pending: waits until the thread has released all lists. Returns
    /// false if called on that thread.
    bool settle();

private:
    void run();
    /// Ends completed commands. Returns false if nothing is pending any more. With `wait`: if
    /// nothing had completed, waits briefly, for the list whose turn it is.
    bool look(const size_t *wait);
    void wait_for_one(size_t turn);
    /// The list of this index; NULL behind the last.
    std::shared_ptr<List> at(size_t index);
    bool remove(const std::shared_ptr<List> &list);

    DriverContext &context_;
    std::mutex mutex_;                ///< guards what follows
    std::condition_variable settled_; ///< running_ became false
    std::condition_variable woken_;   ///< look_ became true
    bool look_ = false;
    std::vector<std::shared_ptr<List>> lists_;
    bool running_ = false;
    std::thread::id thread_; ///< while it is running
};

} // namespace pi::level_zero
