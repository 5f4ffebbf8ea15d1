// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fork.hpp"

#include "defaults.hpp"
#include "exit_watch.hpp"

#include <atomic>
#include <mutex>

#include <pthread.h>

namespace pi::loader {
namespace {

// One per process, as forks are.
struct Forks {
    std::atomic<uint32_t> count{0};
    std::mutex mutex; // a fork waits for it: take no other lock under it
    RefusedInChildren *first = nullptr;
};
constinit Forks process;

void before_fork() noexcept {
    ExitWatch::before_fork();
    process.mutex.lock();
}

void in_parent() noexcept {
    process.mutex.unlock();
    ExitWatch::after_fork();
}

void in_child() noexcept {
    process.count.fetch_add(1, std::memory_order_relaxed);
    RefusedInChildren::refuse_all(process.first);
    in_parent();
}

[[maybe_unused]] const int watched = ::pthread_atfork(&before_fork, &in_parent, &in_child);

} // namespace

uint32_t fork_count() noexcept {
    return process.count.load(std::memory_order_relaxed);
}

void RefusedInChildren::refuse_all(const RefusedInChildren *first) noexcept {
    for (const RefusedInChildren *each = first; each != nullptr; each = each->next_) {
        for (pi_dispatch &table : each->chain_.tables)
            refuse_after_fork(table);
    }
}

RefusedInChildren::RefusedInChildren(TableChain &chain) noexcept : chain_(chain) {
    const std::scoped_lock lock(process.mutex);
    next_ = process.first;
    if (next_ != nullptr)
        next_->previous_ = this;
    process.first = this;
}

RefusedInChildren::~RefusedInChildren() {
    const std::scoped_lock lock(process.mutex);
    (previous_ != nullptr ? previous_->next_ : process.first) = next_;
    if (next_ != nullptr)
        next_->previous_ = previous_;
}

} // namespace pi::loader
