// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace pi::suite {

/// Begins the line in which a failing test prints its reason on standard error before it unwinds,
/// so that the reason is known even if unwinding crashes.
inline constexpr const char *broken_mark = "broken: ";

/// Begins the line that hang_signal() prints on standard error before the calls: which function of
/// PI has not returned, and after how long.
inline constexpr const char *hang_mark = "hang: ";

/// How a process ended and what it said.
struct Ended {
    bool started = false;
    bool timed_out = false;
    bool stopped = false; // by the token
    int signal = 0;       // that ended it, or 0
    int exit_code = 0;    // when no signal did
    std::string output;   // of a long one the begin and the end, with the size of the omitted part
    std::string result;   // what it wrote on the descriptor given by --result-fd
    double seconds = 0;
};

/// Runs a program of PATH (or a file, if the name has a '/') with these arguments in a process
/// group of its own, and waits for its end. After `limit` it gets hang_signal(), then it is killed
/// with its children.
Ended run_program(const std::string &program, const std::vector<std::string> &arguments,
                  std::chrono::seconds limit);

/// Runs this program again, with a result descriptor. A stop request kills it with its children.
Ended run_self(std::vector<std::string> arguments, std::chrono::seconds limit,
               const std::stop_token &stop = {});

/// From now on processes that a program leaves running are killed when it ends, in any group and
/// session. Call it before the first program runs.
void end_what_programs_leave();

/// "signal 11 (Segmentation fault)"
std::string signal_text(int signal);

} // namespace pi::suite
