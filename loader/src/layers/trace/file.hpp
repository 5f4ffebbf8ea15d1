// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of Chrome trace events, which Perfetto opens. Each event is written when it is known, over the end
// of the text before: the file is valid JSON at every moment, however the process ends.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace pi::loader {
class Log;
}

namespace pi::loader::trace {

/// Nanoseconds of CLOCK_MONOTONIC.
uint64_t now() noexcept;

/// As it stands in JSON, with its quotes.
std::string json_text(std::string_view text);

/// Where an event is shown: a thread of the host, a queue, or what somebody else has named.
struct Track {
    int64_t process;
    int64_t thread;
};

class TraceFile {
public:
    /// %p in `path` is the process's number. If another loader or process writes the file, one with numbers
    /// behind its name is made. What goes wrong is logged, and then nothing is written.
    TraceFile(const std::string &path, Log &log);
    ~TraceFile();
    TraceFile(const TraceFile &) = delete;
    TraceFile &operator=(const TraceFile &) = delete;

    bool is_open() const noexcept { return file_ >= 0; }
    /// Logs, once, why nothing more is written. Never under a lock that a call of the application's may take: its log callback may
    /// make calls.
    void tell_failure() noexcept;

    /// For commands and arrows: no other of the file has it, whatever plugin it is of.
    uint64_t new_id() noexcept { return ids_.fetch_add(1, std::memory_order_relaxed) + 1; }

    /// The calling thread's track; the first time its name is written.
    Track host_track();
    /// A process of its own for the queues of a plugin instance.
    int64_t add_process(const std::string &name);
    void name_track(const Track &track, const std::string &name);

    /// Something that began and ended: "X". `arguments` is the inside of a JSON object.
    void slice(const Track &track, std::string_view name, std::string_view category, uint64_t begin,
               uint64_t end, std::string_view arguments);
    /// A slice on a track that is made when it is first named, in a process of its own for each group. What
    /// overlaps is shown on further tracks of that name.
    void span(const std::string &group, const std::string &track, std::string_view name,
              std::string_view category, uint64_t begin, uint64_t end, std::string_view arguments);
    /// The same where others of its track may be under way at the same time: "b" and "e".
    void overlapping(const Track &track, std::string_view name, uint64_t id, uint64_t begin,
                     uint64_t end, std::string_view arguments);
    /// An arrow between what is shown at two moments: "s" and "f".
    void arrow(const char *name, uint64_t id, const Track &from, uint64_t from_time,
               const Track &to, uint64_t to_time);

private:
    struct Lane {
        Track track;
        uint64_t free_from; ///< the end of what is on it
    };
    struct Group {
        int64_t process = 0;
        int64_t track_count = 0;
        std::map<std::string, std::vector<Lane>> lanes; ///< by the track's name
    };

    Track find_lane(const std::string &group, const std::string &track, uint64_t begin,
                    uint64_t end);
    void write(std::string_view events) noexcept;
    bool write_at(std::string_view text, uint64_t offset) noexcept;

    Log &log_;
    int file_ = -1;
    const int64_t process_;
    std::atomic<uint64_t> ids_{0};
    std::atomic<int> failure_{0}; ///< what ended the file, as an errno, until it is told
    std::mutex mutex_;
    std::set<int64_t> threads_; ///< those that have a name
    int64_t processes_ = 0;
    bool empty_ = true;
    uint64_t end_ = 0; ///< where the next event goes

    std::mutex groups_mutex_; ///< taken before mutex_
    std::map<std::string, Group> groups_;
};

} // namespace pi::loader::trace
