// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines: what queues and immediate lists give their commands to. Each has a thread.
#pragma once

#include "event.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

namespace pi::level_zero::simulated {

/// Work that did what no device may do. The device is lost then, with this text on standard error.
struct Lost : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Command {
    std::function<void()> work; ///< runs without the driver's lock
    std::function<void()> then; ///< with it, after the work
    std::vector<std::shared_ptr<Event>> waits;
    std::shared_ptr<Event> signal;
    std::vector<std::shared_ptr<Object>> uses; ///< what must not be destroyed until it is done
    bool follows = false;                      ///< begins when all before it in its line is done
    bool holds = false;                        ///< nothing behind it begins until it is done
    std::uint64_t number = 0;                  ///< in its line
};

struct Line {
    Device *device = nullptr;
    std::deque<Command> commands;
    std::uint64_t submitted = 0, running = 0;
    bool closed = false;
    std::minstd_rand choice;

    /// Whether the command of this number, and all before it, are done.
    bool reached(std::uint64_t number) const {
        return (!running || running > number) &&
               (commands.empty() || commands.front().number > number);
    }
};

/// Makes a line with its thread.
std::shared_ptr<Line> open_line(Device &device);

/// Lets its thread end after what was submitted.
void close_line(Line &line);

/// Returns the number of the command.
std::uint64_t submit(Line &line, Command command);

} // namespace pi::level_zero::simulated
