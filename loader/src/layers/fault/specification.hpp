// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What PI_FAULT says:
//
//     piMemBufferCreate:2..5=fail(OUT_OF_DEVICE_MEMORY); piEnqueueMemBufferWrite:1=short
//
// Parts are separated by ';'. Each names a function, which of its calls (k, k..m, or k.. for all from the
// k-th on; counted from 1 in each plugin instance), and what happens to them:
//
//     fail(RESULT)        the call is not made and answers the result
//     fail_event(RESULT)  commands: the call succeeds, the command is not done, its event fails
//     short               commands that move bytes: the first half is moved, then the event fails with
//                         PI_ERROR_BACKEND; short(RESULT) with another one
//     delay(TIME)         commands are held for a time (5ns, 5us, 5ms, 5s), other calls sleep before they
//                         are made
//
// The first part that names a call counts.
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
    uint64_t first;       ///< of the calls that it is for, counted from 1
    uint64_t last;
    Action action;
    pi_result result; ///< unless a delay
    std::chrono::nanoseconds delay;
    std::string text; ///< the part itself, for messages
};

/// Appends the faults of a specification. Returns "" or which part is not understood, and what would be.
std::string parse(std::string_view specification, std::vector<Fault> &faults);

} // namespace pi::loader::fault
