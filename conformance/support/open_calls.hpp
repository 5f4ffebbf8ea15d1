// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls of PI's functions that have not returned. A program that is linked with open_calls.cpp
// calls them through it: its functions are found before those of libpi_loader.
#pragma once

#include <atomic>

namespace pi_test {

struct OpenCall {
    const char *function = nullptr; ///< nullptr: no call is open
    double seconds = 0;             ///< since it began
};

/// The innermost call of the thread that has been inside PI's functions for longest. May be called
/// in a signal handler.
OpenCall longest_open_call() noexcept;

/// The function of a plugin in which the loader waits, instead of its own function: a string that
/// is never destroyed, or nullptr.
extern std::atomic<const char *> stalled_function;

} // namespace pi_test
