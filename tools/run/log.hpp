// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A log of the layer record, line by line.
#pragma once

#include "file_descriptor.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pi_run {

using Json = nlohmann::ordered_json;

/// An error of the log or of the machine: nothing more can be run.
struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Line {
    uint64_t number;
    Json content; ///< an object
};

/// No layer writes a file with this lock. If another process is writing the file, there is no lock,
/// and none is needed.
class ReadLock {
public:
    explicit ReadLock(const std::string &path);

private:
    pi::loader::FileDescriptor file_;
};

class Log {
public:
    /// Reads the header: refuses files that are not a log, and those of another version or ABI.
    /// While the object lives, no layer of a loader writes the file, whatever the environment says.
    explicit Log(const std::string &path);

    /// The next line, with the final result of its call; empty at the end.
    std::optional<Line> next();
    /// The lines of the calls that began after that line, and were interrupted by other lines.
    std::vector<Line> begun_behind(uint64_t number);
    /// Whether the last line is incomplete: the program ended while writing it.
    bool cut() const noexcept { return cut_; }
    uint64_t line_number() const noexcept { return number_; }

private:
    struct Place {
        std::streampos position;
        uint64_t number; ///< of the line before
    };
    Place place() { return {stream_.tellg(), number_}; }
    void go_to(const Place &place);
    void look_ahead();
    std::optional<Line> read(); ///< the content may be any JSON

    std::string path_;
    std::ifstream stream_;
    ReadLock lock_;
    std::map<uint64_t, Json> results_;     ///< results that later lines replace, by line
    std::multimap<uint64_t, Place> begun_; ///< by the line after which they began
    uint64_t number_ = 0;
    bool cut_ = false;
};

} // namespace pi_run
