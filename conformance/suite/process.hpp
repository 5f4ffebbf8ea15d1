// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace pi::suite {

/// Begins the line by which a test says on standard error what does not hold, before it unwinds: should it crash then, while
/// commands still use what goes, that is known.
inline constexpr const char *broken_mark = "broken: ";

/// How a process ended and what it said.
struct Ended {
    bool started = false;
    bool timed_out = false;
    bool stopped = false; // by the token
    int signal = 0;       // that ended it, or 0
    int exit_code = 0;    // when no signal did
    std::string output;   // of a flood the begin and the end, and between how much is left out
    std::string result;   // what it wrote on the descriptor given by --result-fd
    double seconds = 0;
};

/// Runs a program of PATH (or a file, if the name has a '/') with these arguments in a process group of
/// its own, and waits for its end. After `limit` it is asked where it is, then killed with its children.
Ended run_program(const std::string &program, const std::vector<std::string> &arguments,
                  std::chrono::seconds limit);

/// Runs this very program like that, with a result descriptor. Killed, with its children, when a stop is asked for.
Ended run_self(std::vector<std::string> arguments, std::chrono::seconds limit,
               const std::stop_token &stop = {});

/// From here on what a program has left running when it ends, in whatever group and session, is ended with it. To be called before the
/// first one is run.
void end_what_programs_leave();

/// "signal 11 (Segmentation fault)"
std::string signal_text(int signal);

} // namespace pi::suite
