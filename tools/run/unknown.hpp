// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracks bytes that may differ from the log's only because calls could not run.
#pragma once

#include "log.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace pi_run {

/// The bytes that a call would have written, had it run, are unknown, and so are all that later
/// commands derived from them. Objects are the log's ids; a view counts as its root, and a kernel
/// as its program. A command that waits for the log's program counts again when that lets it
/// continue, because others behind it may have run before.
class Unknown {
public:
    /// A call that succeeded in the log, in the log's order; `runs`: here, too.
    void note(std::string_view function, const Line &line, bool runs);
    /// The line that could not run, if it makes the bytes of this line's read or map unknown.
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
        std::optional<uint64_t> cannot_run; ///< its line
    };

    void note_made(std::string_view function, const Json &arguments, uint64_t made);
    void note_cannot_run(std::string_view function, const Json &arguments, uint64_t line);
    void note_command(std::string_view function, const Line &line, const Json &arguments,
                      bool runs);
    bool is_held(const Command &command, std::size_t before) const;
    void continue_held();
    /// The line since which the bytes that it writes are unknown.
    std::optional<uint64_t> mark_written(const Command &command);
    Object object(uint64_t id) const;
    void mark(uint64_t id, uint64_t since, bool for_good = false);
    std::optional<uint64_t> mark_of(uint64_t id) const;
    bool writes_whole(uint64_t id, const Json &desc) const;

    std::map<uint64_t, Object> objects_;
    std::map<uint64_t, Mark> marks_; ///< by root
    /// events that are not complete: the host's, and those of held-back commands
    std::set<uint64_t> closed_;
    std::vector<Command> held_;
};

} // namespace pi_run
