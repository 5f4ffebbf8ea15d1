// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads, file descriptors and processes that a use of a plugin leaves after its loader is
// released.
//
// A vendor's library may keep some by design, once per process: a thread pool, an open device file.
// So it is a leak only if each of three uses in a row leaves more than there was before it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

namespace pi::suite {

/// The threads, the file descriptors and the children of this process.
struct Resources {
    std::map<int, std::string> threads;   // by their numbers: their names
    std::map<int, std::string> files;     // what they lead to, "/dev/null", "socket:[4711]"
    std::map<int, std::string> processes; // their names, of those that run
};

Resources resources_now();

/// What `after` has more of than `before`: "1 thread (acme-worker) and 2 file descriptors (2
/// /dev/acme0)", or "". Only numbers count: a resource that replaces another is not more.
std::string growth(const Resources &before, const Resources &after);

/// Called after a first use; `before` is the state before it. Returns what each use leaves, or "".
/// Calls `use_again` at most twice, and not at all if the first use left nothing. Waits at most
/// twice, for a second or `patience` if that is less, for threads and processes that are about to
/// end.
std::string left_by_each_use(const Resources &before, const std::function<void()> &use_again,
                             std::chrono::milliseconds patience);

} // namespace pi::suite
