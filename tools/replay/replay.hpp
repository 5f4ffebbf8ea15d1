// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the lines of a log.
#pragma once

#include "log.hpp"
#include "unknown.hpp"

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
    uint64_t unknown = 0; ///< because calls could not be run
};

/// A line for a reader: number, thread, call, result, what it made.
std::string describe(const Line &line);

class Replay {
public:
    /// `report` receives "LINE: text".
    Replay(const std::string &selector, bool check_data,
           std::function<void(const std::string &)> report);
    ~Replay();
    Replay(const Replay &) = delete;
    Replay &operator=(const Replay &) = delete;

    /// The layers around the replay, as PI_LAYERS says them, or "".
    std::string layers() const;
    /// All of it. Throws Refusal for a line that is no call as the layer writes it.
    void run(Log &log);
    const Counts &counts() const noexcept { return counts_; }

    /// What the calls of one line use; defined beside them.
    struct State;

private:
    struct Begun;

    static std::size_t find_row(const std::string &name);
    /// Makes the call of a line; a call that blocks, which is `early`, without waiting.
    void begin(Line line, bool early);
    void end(const Begun &begun);
    void note_unmade(const Line &line, const std::string &why);

    Counts counts_;
    std::unique_ptr<State> state_;
    Unknown unknown_;
    std::function<void(const std::string &)> report_;
    const bool check_data_;
    std::map<uint64_t, std::unique_ptr<Begun>> begun_; ///< by the numbers of their lines
};

} // namespace pi_replay
