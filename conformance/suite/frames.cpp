// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frames.hpp"

#include "process.hpp"
#include "text.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <system_error>
#include <vector>

namespace pi::suite {
namespace {

// Debug info may be large.
constexpr std::chrono::seconds patience{20};
// After the handler's own call come the kernel's return from it and the faulting instruction, both
// exact. The other addresses are return addresses, which may be of the next line.
constexpr int return_from_handler = 2;
constexpr int failed_instruction = 3;

struct Frame {
    std::size_t line;
    std::string offset;
};

std::vector<std::string> lines_of(const std::string &text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

// This program, whose name has no path.
std::string file_of(const std::string &name) {
    if (name.find('/') != std::string::npos)
        return name;
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

// Frames by file.
std::map<std::string, std::vector<Frame>> find_frames(const std::vector<std::string> &lines) {
    const std::regex nameless(R"((.*)\(\+0x([0-9a-f]{1,15})\)\[0x[0-9a-f]+\])");
    std::map<std::string, std::vector<Frame>> frames;
    int depth = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        depth = lines[i].rfind("*** ", 0) == 0 ? 0 : depth + 1;
        std::smatch match;
        if (lines[i].size() > 4096 || !std::regex_match(lines[i], match, nameless))
            continue;
        const uint64_t offset = std::stoull(match[2], nullptr, 16);
        const bool is_exact = depth == return_from_handler || depth == failed_instruction;
        frames[file_of(match[1])].push_back(
            {i, join("0x", std::hex, offset - (is_exact || offset == 0 ? 0 : 1))});
    }
    return frames;
}

// " crash at toy.c:28", or less: what addr2line does not know is "??", "?" or nothing at all.
std::string place_of(const std::string &function, std::string line) {
    if (function == "??")
        return "";
    if (line.ends_with(":?") || line.ends_with(":0"))
        line.resize(line.size() - 2);
    return join(" ", function, line.empty() || line == "??" ? "" : " at " + line);
}

void add_names(const std::string &file, const std::vector<Frame> &frames,
               std::vector<std::string> &lines) {
    std::vector<std::string> arguments{"-f", "-C", "-e", file};
    for (const Frame &frame : frames)
        arguments.push_back(frame.offset);
    const Ended ended = run_program("addr2line", arguments, patience);
    if (!ended.started || ended.timed_out || ended.signal != 0 || ended.exit_code != 0)
        return;
    std::vector<std::string> answers = lines_of(ended.output);
    std::erase_if(answers, [](const std::string &text) {
        return text.find("addr2line: ") != std::string::npos; // its warnings
    });
    if (answers.size() != 2 * frames.size())
        return;
    for (std::size_t i = 0; i < frames.size(); ++i)
        lines[frames[i].line] += place_of(answers[2 * i], answers[2 * i + 1]);
}

} // namespace

std::string with_names(const std::string &output) {
    if (output.find("\n*** ") == std::string::npos)
        return output;
    std::vector<std::string> lines = lines_of(output);
    const auto frames = find_frames(lines);
    for (const auto &[file, of_file] : frames)
        add_names(file, of_file, lines);
    std::string text;
    for (const std::string &line : lines)
        text += line + "\n";
    if (!output.ends_with('\n'))
        text.pop_back();
    return text;
}

} // namespace pi::suite
