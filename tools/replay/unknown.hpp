// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where bytes may be others than the log's only because calls could not be run.
#pragma once

#include "log.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace pi_replay {

/// What a command that could not be run would have written is not known, and so is what others that ran have made of it. All
/// objects are the log's ids; a view counts as its root, and a kernel as its program. A command that waits for the log's
/// program counts again when that lets it go on: others that were enqueued behind it may have come before it.
class Unknown {
public:
    /// A call that succeeded in the log, in the log's order; `runs`: here too.
    void note(std::string_view function, const Line &line, bool runs);
    /// The line that could not be run, if the bytes which the line's read or map gives are not known for it.
    std::optional<uint64_t> since(const Line &line) const;

private:
    struct Object {
        uint64_t root;
        uint64_t size;  ///< of a whole buffer; else 0
        bool read_only; ///< for kernels
    };
    struct Mark {
        uint64_t since; ///< a line
        bool for_good;  ///< the log does not say what is written there
    };

    struct Command {
        uint64_t queue = 0;
        uint64_t event = 0; ///< 0 without one
        std::vector<uint64_t> waits;
        std::vector<uint64_t> reads;
        std::vector<uint64_t> writes;
        std::optional<uint64_t> left_out; ///< its line
    };

    void note_made(std::string_view function, const Json &arguments, uint64_t made);
    void note_left_out(std::string_view function, const Json &arguments, uint64_t line);
    void note_command(std::string_view function, const Line &line, const Json &arguments,
                      bool runs);
    bool is_held(const Command &command, std::size_t before) const;
    void let_go();
    /// The line since which what it writes is not known.
    std::optional<uint64_t> mark_written(const Command &command);
    Object object(uint64_t id) const;
    void mark(uint64_t id, uint64_t since, bool for_good = false);
    std::optional<uint64_t> mark_of(uint64_t id) const;
    bool writes_whole(uint64_t id, const Json &desc) const;

    std::map<uint64_t, Object> objects_;
    std::map<uint64_t, Mark> marks_; ///< of roots
    std::set<uint64_t> closed_; ///< events: the host's, and those of the commands that are held
    std::vector<Command> held_;
};

} // namespace pi_replay
