// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "watch.hpp"
#include "list.hpp"

#include <algorithm>

namespace pi::level_zero {

namespace {

/// How long one list is waited for while another one may have come.
constexpr uint64_t a_moment = 100'000;

} // namespace

void Watch::add(std::shared_ptr<List> list) {
    std::lock_guard lock(mutex_);
    lists_.push_back(std::move(list));
    if (running_)
        return;
    try {
        context_.instance().run_waiting([self = context_.shared_from_this(), this] { run(); });
    } catch (...) {
        lists_.pop_back();
        throw;
    }
    running_ = true;
}

void Watch::run() {
    for (size_t turn = 0;; ++turn) {
        std::vector<std::shared_ptr<List>> lists;
        {
            std::lock_guard lock(mutex_);
            thread_ = std::this_thread::get_id();
            if (lists_.empty()) {
                running_ = false;
                thread_ = {};
                settled_.notify_all();
                return;
            }
            lists = lists_;
        }
        bool any = false;
        for (const auto &list : lists)
            any = list->poll() || any;
        if (!any)
            lists[turn % lists.size()]->wait_for_oldest(a_moment);
        // Not under the lock, which is taken under a list's.
        for (const auto &list : lists)
            if (list->leave())
                remove(list);
    }
}

bool Watch::settle() {
    std::unique_lock lock(mutex_);
    if (thread_ == std::this_thread::get_id())
        return false;
    settled_.wait(lock, [this] { return !running_; });
    return true;
}

/// One entry: it may be there again already.
void Watch::remove(const std::shared_ptr<List> &list) {
    std::lock_guard lock(mutex_);
    lists_.erase(std::find(lists_.begin(), lists_.end(), list));
}

} // namespace pi::level_zero
