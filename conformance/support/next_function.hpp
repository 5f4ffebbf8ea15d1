// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For code that stands between a program and libpi_loader.
#pragma once

#include <atomic>

#include <dlfcn.h>

namespace pi_test {

/// The function of this name behind the caller's library. `next` caches it.
template <typename Function>
Function *next_function(const char *name, std::atomic<Function *> &next) noexcept {
    Function *function = next.load(std::memory_order_relaxed);
    if (function == nullptr) {
        function = reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, name));
        next.store(function, std::memory_order_relaxed);
    }
    return function;
}

} // namespace pi_test
