// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the lines of a log.
#pragma once

#include "log.hpp"

#include <pi/pi_loader.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pi_replay {

struct Counts {
    uint64_t run = 0;
    uint64_t different = 0;
    uint64_t other_bytes = 0;
    uint64_t left_out = 0;
    uint64_t compared = 0;
    uint64_t not_compared = 0;
};

/// A line for a reader: number, thread, call, result, what it made.
std::string describe(const Line &line);

class Replay {
public:
    /// `tell` receives "LINE: what is to be told of it".
    Replay(const std::string &selector, bool check_data,
           std::function<void(const std::string &)> tell);
    ~Replay();
    Replay(const Replay &) = delete;
    Replay &operator=(const Replay &) = delete;

    /// Throws Refusal for a line that is no call as the layer writes it.
    void run(const Line &line);
    const Counts &counts() const noexcept { return counts_; }

    /// What the calls of one line use; defined beside them.
    struct State;

private:
    static std::size_t find_row(const std::string &name);
    void note_unmade(const Line &line, const std::string &why);

    Counts counts_;
    std::unique_ptr<State> state_;
    std::function<void(const std::string &)> tell_;
    const bool check_data_;
};

} // namespace pi_replay
