// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of Chrome trace events, which Perfetto opens. Each event is written as soon as it is
// known, over the end of the text before: the file is valid JSON at every moment, however the
// process ends.
#pragma once

#include "file_descriptor.hpp"

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

/// Where an event is shown: a host thread, a queue, or a track named by the application.
struct Track {
    int64_t process;
    int64_t thread;
};

class TraceFile;

/// Numbers the tracks of a process.
struct Process {
    int64_t number;
    int64_t tracks = 0;
};

/// The tracks of one name: one for each overlapping slice, since slices of one track must not
/// overlap. Not thread-safe.
class Lanes {
public:
    /// Creates the first one.
    Lanes(TraceFile &file, Process &process, std::string name);

    /// The end of the last slice on the first one.
    uint64_t free_from() const noexcept { return lanes_.front().free_from; }
    /// The track for a slice, which is occupied for that time from now on.
    Track take(uint64_t begin, uint64_t end);

private:
    struct Lane {
        Track track;
        uint64_t free_from; ///< the end of its last slice
    };
    Track add(uint64_t end);

    TraceFile &file_;
    Process &process_;
    std::string name_;
    std::vector<Lane> lanes_;
};

class TraceFile {
public:
    /// %p in `path` stands for the process ID. If another loader or process writes the file,
    /// numbers are appended to the name. Errors are logged, and then nothing is written.
    TraceFile(const std::string &path, Log &log);
    ~TraceFile();
    TraceFile(const TraceFile &) = delete;
    TraceFile &operator=(const TraceFile &) = delete;

    bool is_open() const noexcept { return file_.get() >= 0; }
    /// Logs, once, why nothing more is written. Never call it under a lock that a call of the
    /// application may take: its log callback may make calls.
    void report_failure() noexcept;

    /// For commands and arrows: unique in the file, across plugins.
    uint64_t new_id() noexcept { return ids_.fetch_add(1, std::memory_order_relaxed) + 1; }

    /// The calling thread's track; writes its name the first time.
    Track host_track();
    /// A separate process for the queues of a plugin instance.
    int64_t add_process(const std::string &name);
    void name_track(const Track &track, const std::string &name);

    /// A slice with a begin and an end: "X". `arguments` is the inside of a JSON object.
    void slice(const Track &track, std::string_view name, std::string_view category, uint64_t begin,
               uint64_t end, std::string_view arguments);
    /// A slice on the lanes of a name, created when first used, in a separate process for each
    /// group.
    void span(const std::string &group, const std::string &track, std::string_view name,
              std::string_view category, uint64_t begin, uint64_t end, std::string_view arguments);
    /// An arrow from the innermost slice that is open at one moment to that of another: "s" and
    /// "f".
    void arrow(const char *name, uint64_t id, const Track &from, uint64_t from_time,
               const Track &to, uint64_t to_time);

private:
    struct Group {
        Process process;
        std::map<std::string, Lanes> lanes{}; ///< by name
    };

    Track find_lane(const std::string &group, const std::string &track, uint64_t begin,
                    uint64_t end);
    void write(std::string_view events) noexcept;
    bool write_at(std::string_view text, uint64_t offset) noexcept;

    Log &log_;
    FileDescriptor file_;
    const int64_t process_;
    std::atomic<uint64_t> ids_{0};
    /// the error that ended the file, as an errno, until it is logged
    std::atomic<int> failure_{0};
    std::mutex mutex_;
    std::set<int64_t> threads_; ///< threads that have a name
    int64_t processes_ = 0;
    bool empty_ = true;
    uint64_t end_ = 0; ///< where the next event goes

    std::mutex groups_mutex_;             ///< taken before mutex_
    std::map<std::string, Group> groups_; ///< elements do not move
};

} // namespace pi::loader::trace
