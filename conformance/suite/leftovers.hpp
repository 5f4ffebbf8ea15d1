// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a use of a plugin leaves in its process after its loader is released: threads, file descriptors and processes.
//
// A vendor's library may keep some by design, once a process: a pool of threads, an open device file. So
// what is left is a leak only when each of three uses in a row leaves more than was there before it.
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

/// What `after` has more of than `before`: "1 thread (acme-worker) and 2 file descriptors (2 /dev/acme0)"; "" if it has more of none. Others in the place of as many that are gone are no more.
std::string growth(const Resources &before, const Resources &after);

/// After a first use, before which there was `before`: what each use leaves, or "". Calls `use_again`
/// at most twice, and not at all where the first one left nothing. What is about to end is waited for, for a second or, if that
/// is less, `patience`, twice at most.
std::string left_by_each_use(const Resources &before, const std::function<void()> &use_again,
                             std::chrono::milliseconds patience);

} // namespace pi::suite
