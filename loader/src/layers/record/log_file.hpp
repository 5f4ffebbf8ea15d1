// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The log of all plugins of one loader, and the numbering of its lines: ids, threads, open maps.
#pragma once

#include "file_descriptor.hpp"
#include "layers/record/text_archive.hpp"

#include <pi/pi.h>

#include <cstdint>
#include <map>
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
    uint64_t id; ///< as for an object
    uint64_t flags;
    uint64_t size;
    const void *pointer; ///< nullptr: not yet known when the call returned
};

/// Thread-safe.
class LogFile {
public:
    /// %p in `path` stands for the process ID. Errors are logged, and then nothing is written.
    LogFile(const std::string &path, Log &log);

    bool is_open() const noexcept { return file_.get() >= 0; }

    /// The id of the current object at this address.
    uint64_t find(const void *handle);
    /// A new object was created at this address.
    uint64_t make(const void *handle);
    /// The bytes of a pixel of an image; 0 if they are not known.
    uint64_t pixel_bytes(pi_mem image);
    void add_image(pi_mem image, uint64_t pixel_bytes);

    /// Returns the allocation's id.
    uint64_t add_usm(const void *base, uint64_t size);
    /// The allocation that contains the address; empty if there is none.
    std::optional<UsmPlace> find_usm(const void *address);
    void remove_usm(uint64_t id);

    /// The calling thread's number.
    uint64_t thread();

    /// Sets and returns its id.
    uint64_t add_map(pi_mem mem, Map map);
    /// The map that an unmap of this address ends. A map with an unknown address is meant if it is
    /// the object's only one; empty if that is ambiguous.
    std::optional<Map> find_map(pi_mem mem, const void *pointer);
    void remove_map(pi_mem mem, const Map &map);

    /// The number of lines.
    uint64_t line_count();
    /// Writes a line, given without its end; returns its number, from 1 on.
    uint64_t write(std::string line);
    /// A call is missing in the log.
    void lose(const char *function) noexcept;
    /// Logs which calls are missing, once.
    void report() noexcept;

private:
    int put(std::string_view rest) noexcept; ///< the error that ended the log, as an errno; else 0
    void report_end(int error) noexcept;

    Log &log_;
    FileDescriptor file_;
    std::mutex mutex_;
    uint64_t lost_ = 0;
    const char *first_lost_ = nullptr;
    uint64_t ids_ = 0;
    uint64_t lines_ = 0;
    std::unordered_map<const void *, uint64_t> objects_;
    struct Usm {
        uint64_t id;
        uint64_t size;
    };
    std::unordered_map<pi_mem, uint64_t> pixels_;
    std::map<std::uintptr_t, Usm> usm_; ///< by address
    std::unordered_map<int64_t, uint64_t> threads_;
    std::unordered_map<pi_mem, std::vector<Map>> maps_;
};

} // namespace pi::loader::record
