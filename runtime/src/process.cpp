// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <pi/runtime/error.hpp>

#include <atomic>
#include <string>

#include <pthread.h>

namespace pi::runtime {
namespace {

constinit std::atomic<uint32_t> forks{0};

void count_fork() noexcept {
    forks.fetch_add(1, std::memory_order_relaxed);
}

[[maybe_unused]] const int watched = ::pthread_atfork(nullptr, nullptr, &count_fork);

} // namespace

uint32_t fork_count() noexcept {
    return forks.load(std::memory_order_relaxed);
}

void Origin::require_here(const char *function) const {
    if (!is_here()) {
        throw Error(PI_ERROR_INVALID_OPERATION,
                    std::string(function) +
                        ": this process was forked after the object was made, whose threads stayed "
                        "in the parent: make a Runtime of the child's own");
    }
}

} // namespace pi::runtime
