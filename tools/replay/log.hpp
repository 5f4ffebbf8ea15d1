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

namespace pi_replay {

using Json = nlohmann::ordered_json;

/// What is wrong with a log, or with the machine: nothing more can be run.
struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Line {
    uint64_t number;
    Json content; ///< an object
};

/// Layers write no file that it has. If somebody is writing the file there is no lock, and none is needed.
class ReadLock {
public:
    explicit ReadLock(const std::string &path);

private:
    pi::loader::FileDescriptor file_;
};

class Log {
public:
    /// Reads the header: refuses what is no log, and one of another version or ABI. As long as the object lives no layer
    /// of a loader writes the file, whatever the environment says.
    explicit Log(const std::string &path);

    /// The next line, with the result that its call had in the end; nothing at the end.
    std::optional<Line> next();
    /// The lines of the calls that began behind that line, and have other lines in between.
    std::vector<Line> begun_behind(uint64_t number);
    /// Whether the last line ended in the middle: its program ended while it wrote.
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
    std::optional<Line> read(); ///< the content is any

    std::string path_;
    std::ifstream stream_;
    ReadLock lock_;
    std::map<uint64_t, Json> results_;     ///< of lines that others give another one
    std::multimap<uint64_t, Place> begun_; ///< by the line that they began behind
    uint64_t number_ = 0;
    bool cut_ = false;
};

} // namespace pi_replay
