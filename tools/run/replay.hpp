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

namespace pi_run {

struct Counts {
    uint64_t run = 0;
    uint64_t different = 0;
    uint64_t other_bytes = 0;
    uint64_t could_not_run = 0;
    uint64_t compared = 0;
    uint64_t not_compared = 0;
    uint64_t unknown = 0; ///< because calls could not run
};

/// A line for people: number, thread, call, result, created objects.
std::string describe(const Line &line);

/// A loader's layers, as in PI_LAYERS, or "".
std::string layers_of(pi_loader loader);

class Replay {
public:
    /// `report` receives "LINE: text".
    Replay(const std::string &selector, bool check_data,
           std::function<void(const std::string &)> report);
    ~Replay();
    Replay(const Replay &) = delete;
    Replay &operator=(const Replay &) = delete;

    /// The layers of the replay, as in PI_LAYERS, or "".
    std::string layers() const;
    /// Runs the whole log. Throws Refusal for a line that the layer would not write.
    void run(Log &log);
    const Counts &counts() const noexcept { return counts_; }

    /// The objects and memory that the calls use; defined in state.hpp.
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
    std::map<uint64_t, std::unique_ptr<Begun>> begun_; ///< by line number
};

} // namespace pi_run
