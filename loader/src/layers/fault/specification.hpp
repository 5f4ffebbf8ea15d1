// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The language of PI_FAULT:
//
//     piMemBufferCreate:2..5=fail(OUT_OF_DEVICE_MEMORY); piEnqueueMemBufferWrite:1=short
//
// Parts are separated by ';'. Each names a function, some of its calls (k, k..m, or k.. for all
// from the k-th on; counted from 1 in each plugin instance), and their fault:
//
//     fail(RESULT)        the call is not made and returns the result
//     fail_event(RESULT)  commands: the call succeeds, the command is not done, its event fails
//     short               commands that move bytes: the first half is moved, then the event fails
//                         with PI_ERROR_BACKEND; short(RESULT) with that result
//     delay(TIME)         commands are delayed (5ns, 5us, 5ms, 5s), other calls sleep first
//
// The first part that matches a call applies.
#pragma once

#include <pi/pi.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pi::loader::fault {

enum class Action { fail, fail_event, shorten, delay };

/// One part of a specification.
struct Fault {
    std::size_t function; ///< its row in function_rows
    uint64_t first;       ///< the calls that it applies to, counted from 1
    uint64_t last;
    Action action;
    pi_result result; ///< unless a delay
    std::chrono::nanoseconds delay;
    std::string text; ///< the part itself, for messages
};

/// Appends the faults of a specification. Returns "" or which part is invalid, and what would be
/// right.
std::string parse(std::string_view specification, std::vector<Fault> &faults);

} // namespace pi::loader::fault
