// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The child processes of this one: those that it started and, once it adopts them, those that they
// left running, in any group and session.
#pragma once

#include <map>
#include <string>

namespace pi::suite {

struct ChildProcess {
    std::string name;
    bool has_ended = false; // and is not reaped yet
};

/// From now on a process that descendants leave running becomes a child of this process, not of
/// init.
void adopt_orphans();

/// Child processes by process id.
std::map<int, ChildProcess> children_now();

} // namespace pi::suite
