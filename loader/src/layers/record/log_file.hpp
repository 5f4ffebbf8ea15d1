// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The log of all plugins of one loader, and what its lines are written with: ids, threads, open maps.
#pragma once

#include "file_descriptor.hpp"

#include <pi/pi.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pi::loader {
class Log;
}

namespace pi::loader::record {

/// A range that the application has mapped.
struct Map {
    uint64_t id; ///< as an object has one
    uint64_t flags;
    uint64_t size;
    const void *pointer; ///< nullptr: it was not there yet when the call returned
};

/// Thread-safe.
class LogFile {
public:
    /// %p in `path` is the process's number. What goes wrong is logged, and then nothing is written.
    LogFile(const std::string &path, Log &log);

    bool is_open() const noexcept { return file_.get() >= 0; }

    /// The id of the object that has this address now.
    uint64_t find(const void *handle);
    /// A new object has this address.
    uint64_t make(const void *handle);
    /// The calling thread's number.
    uint64_t thread();

    /// Gives it its id.
    uint64_t add_map(pi_mem mem, Map map);
    /// The map that an unmap of this address ends. One whose address is not known is meant where it is the only
    /// one of its object that is not; nothing where it cannot be told.
    std::optional<Map> find_map(pi_mem mem, const void *pointer);
    void remove_map(pi_mem mem, const Map &map);

    /// How many lines there are.
    uint64_t line_count();
    /// A line, without its end; its number, from 1 on.
    uint64_t write(std::string line);
    /// A call is missing in the log.
    void lose(const char *function) noexcept;
    /// Says which calls are missing, once.
    void report() noexcept;

private:
    int put(std::string_view rest) noexcept; ///< what has ended the log, as an errno; else 0
    void tell(int error) noexcept;

    Log &log_;
    FileDescriptor file_;
    std::mutex mutex_;
    uint64_t lost_ = 0;
    const char *first_lost_ = nullptr;
    uint64_t ids_ = 0;
    uint64_t lines_ = 0;
    std::unordered_map<const void *, uint64_t> objects_;
    std::unordered_map<int64_t, uint64_t> threads_;
    std::unordered_map<pi_mem, std::vector<Map>> maps_;
};

} // namespace pi::loader::record
