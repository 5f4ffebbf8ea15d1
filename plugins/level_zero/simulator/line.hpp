// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines: the command threads of queues and immediate lists.
#pragma once

#include "event.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

namespace pi::level_zero::simulated {

/// Thrown by work that does something forbidden. The device is lost then; the text goes to standard
/// error.
struct Lost : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Command {
    std::function<void()> work; ///< runs without the driver's lock
    std::function<void()> then; ///< runs with it, after the work
    std::vector<std::shared_ptr<Event>> waits;
    std::shared_ptr<Event> signal;
    std::vector<std::shared_ptr<Object>> uses; ///< must not be destroyed until it is done
    bool follows = false;     ///< begins when all earlier commands in its line are done
    bool holds = false;       ///< later commands begin when it is done
    std::uint64_t number = 0; ///< in its line
};

struct Line {
    Device *device = nullptr;
    std::deque<Command> commands;
    std::uint64_t submitted = 0, running = 0;
    bool closed = false;
    std::minstd_rand choice;

    /// Whether the command of this number and all before it are done.
    bool reached(std::uint64_t number) const {
        return (!running || running > number) &&
               (commands.empty() || commands.front().number > number);
    }
};

/// Creates a line with its thread.
std::shared_ptr<Line> open_line(Device &device);

/// Its thread ends after the commands that were submitted.
void close_line(Line &line);

/// Returns the command's number.
std::uint64_t submit(Line &line, Command command);

} // namespace pi::level_zero::simulated
