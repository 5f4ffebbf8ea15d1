// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processes that this one is the parent of: those that it began, and, once it adopts them, what such processes left running,
// whatever its group and its session.
#pragma once

#include <map>
#include <string>

namespace pi::suite {

struct ChildProcess {
    std::string name;
    bool has_ended = false; // and was not waited for
};

/// From here on what this process's descendants leave running when they end becomes a child of this process, not of init.
void adopt_orphans();

/// By their numbers.
std::map<int, ChildProcess> children_now();

} // namespace pi::suite
