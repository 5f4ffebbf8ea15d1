// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/process.hpp"

#include <pi/runtime/error.hpp>

#include <string>

#include <pthread.h>

namespace pi::runtime {

constinit std::atomic<uint32_t> forks{0};

namespace {

void count_fork() noexcept {
    forks.fetch_add(1, std::memory_order_relaxed);
}

[[maybe_unused]] const int watched = ::pthread_atfork(nullptr, nullptr, &count_fork);

} // namespace

void Origin::refuse(const char *function) {
    throw Error(
        PI_ERROR_INVALID_OPERATION,
        std::string(function) +
            ": this process was forked after the object was made, and its threads stayed in "
            "the parent: make a new Runtime in the child");
}

} // namespace pi::runtime
