// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "watch.hpp"
#include "list.hpp"

#include <pi/sdk/deferred_release.hpp>

#include <algorithm>

namespace pi::level_zero {

namespace {

/// How long to wait for one list before looking at the others again.
constexpr uint64_t a_moment = 100'000;

} // namespace

void Watch::add(std::shared_ptr<List> list) {
    std::lock_guard lock(mutex_);
    lists_.push_back(std::move(list));
    if (running_)
        return;
    try {
        const auto self = context_.shared_from_this();
        if (!context_.instance().run_waiting([self, this] { run(); }))
            context_.instance().watcher().add([self, this] { return !look(nullptr); });
    } catch (...) {
        lists_.pop_back();
        throw;
    }
    running_ = true;
}

void Watch::wake() noexcept {
    std::lock_guard lock(mutex_);
    look_ = true;
    woken_.notify_one();
}

std::shared_ptr<List> Watch::at(size_t index) {
    std::lock_guard lock(mutex_);
    return index < lists_.size() ? lists_[index] : nullptr;
}

void Watch::sweep() {
    for (size_t i = 0; const auto list = at(i); ++i)
        list->poll();
}

void Watch::wait_for_one(size_t turn) {
    std::unique_lock lock(mutex_);
    const size_t count = lists_.size();
    lock.unlock();
    for (size_t i = 0; i < count; ++i)
        if (const auto list = at((turn + i) % count); list && list->urgent())
            return list->wait_for_oldest(a_moment);
    lock.lock();
    woken_.wait_for(lock, sdk::release_poll_interval, [this] { return look_; });
}

void Watch::run() {
    for (size_t turn = 0; look(&turn); ++turn)
        continue;
}

bool Watch::look(const size_t *wait) {
    {
        std::lock_guard lock(mutex_);
        thread_ = std::this_thread::get_id();
        if (lists_.empty()) {
            running_ = false;
            thread_ = {};
            settled_.notify_all();
            return false;
        }
        look_ = false;
    }
    bool any = false;
    for (size_t i = 0; const auto list = at(i);) {
        any = list->poll() || any;
        // Without mutex_: it is locked under a list's mutex elsewhere.
        if (!(list->leave() && remove(list)))
            ++i;
    }
    if (wait && !any && at(0))
        wait_for_one(*wait);
    return true;
}

bool Watch::settle() {
    std::unique_lock lock(mutex_);
    if (thread_ == std::this_thread::get_id())
        return false;
    look_ = true;
    woken_.notify_one();
    settled_.wait(lock, [this] { return !running_; });
    return true;
}

/// Removes one entry only: the list may have been added again already.
bool Watch::remove(const std::shared_ptr<List> &list) {
    std::lock_guard lock(mutex_);
    lists_.erase(std::find(lists_.begin(), lists_.end(), list));
    return true;
}

} // namespace pi::level_zero
