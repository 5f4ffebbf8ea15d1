// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ends what has ended in a context, on a thread of the instance's while there are enough. The driver wakes a thread for one
// event alone: so it waits for a little for the oldest one of one list, and then asks all of them. While nobody is to be told
// of an end at once, it looks now and then, as the instance's watcher does for contexts that have no thread.
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
    /// There is something to look at now.
    void wake() noexcept;
    /// Ends, on this thread, what has ended in any list.
    void sweep();

    /// Nothing is under way any more: waits until the thread has let go of all lists. False on that thread itself, which
    /// cannot wait for itself.
    bool settle();

private:
    void run();
    /// Ends what has ended. False: nothing is under way any more. `wait`: for a little if nothing had ended, at that list's turn.
    bool look(const size_t *wait);
    void wait_for_one(size_t turn);
    /// The list of this index; NULL behind the last.
    std::shared_ptr<List> at(size_t index);
    bool remove(const std::shared_ptr<List> &list);

    DriverContext &context_;
    std::mutex mutex_;                ///< guards what follows
    std::condition_variable settled_; ///< running_ is false
    std::condition_variable woken_;   ///< look_ is true
    bool look_ = false;
    std::vector<std::shared_ptr<List>> lists_;
    bool running_ = false;
    std::thread::id thread_; ///< while it is running
};

} // namespace pi::level_zero
