// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log.hpp"

#include "layers/record/format.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>

namespace pi_run {
namespace {

// More than in any line that the layer writes.
constexpr int max_depth = 16;

/// Discarded if it is not JSON. A deeply nested value would be printed and freed by recursion.
Json parse(const std::string &text) {
    bool deep = false;
    Json content = Json::parse(
        text,
        [&](int depth, Json::parse_event_t, Json &) {
            deep = deep || depth > max_depth;
            return !deep;
        },
        false);
    return deep ? Json(Json::value_t::discarded) : content;
}

} // namespace

ReadLock::ReadLock(const std::string &path)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_.get() >= 0)
        ::flock(file_.get(), LOCK_SH | LOCK_NB);
}

Log::Log(const std::string &path) : path_(path), stream_(path, std::ios::binary), lock_(path) {
    if (!stream_)
        throw Refusal(fmt::format("{}: cannot be read", path));
    const std::optional<Line> header = next();
    if (!header || !header->content.contains("pi_record"))
        throw Refusal(fmt::format(
            "{}:1: not a log of the layer record: its first line must have \"pi_record\"", path));
    const Json &version = header->content["pi_record"];
    if (version != pi::loader::record::format_version)
        throw Refusal(fmt::format("{}:1: log format version {}; this program reads version {}",
                                  path, version.dump(), pi::loader::record::format_version));
    // Minor versions only add: newer calls are here, or are reported as unknown.
    const Json abi = header->content.value("abi", Json());
    if (!abi.is_string() ||
        !abi.get<std::string>().starts_with(fmt::format("{}.", PI_VERSION_MAJOR)))
        throw Refusal(fmt::format("{}:1: recorded with ABI {}; this program has ABI {}.{}", path,
                                  abi.dump(), PI_VERSION_MAJOR, PI_VERSION_MINOR));
    look_ahead();
}

void Log::look_ahead() {
    const Place begin = place();
    // A broken line is reported when its turn comes.
    for (Place here = begin;; here = place()) {
        const std::optional<Line> line = read();
        if (!line || !line->content.is_object())
            break;
        const auto number_of = [&](const char *name) {
            const auto found = line->content.find(name);
            return found != line->content.end() && found->is_number_unsigned()
                       ? std::optional(found->get<uint64_t>())
                       : std::nullopt;
        };
        if (const auto of = number_of("of"); of && line->content.contains("result"))
            results_[*of] = line->content["result"];
        if (const auto began = number_of("began"); began && *began < here.number)
            begun_.emplace(*began, here);
    }
    go_to(begin);
    cut_ = false;
}

void Log::go_to(const Place &place) {
    stream_.clear();
    if (place.position < 0 || !stream_.seekg(place.position))
        throw Refusal(
            fmt::format("{}: must be a regular file, because it is read more than once", path_));
    number_ = place.number;
}

std::vector<Line> Log::begun_behind(uint64_t number) {
    std::vector<Line> lines;
    const auto [first, last] = begun_.equal_range(number);
    if (first == last)
        return lines;
    const Place here = place();
    for (auto begun = first; begun != last; ++begun) {
        go_to(begun->second);
        if (std::optional<Line> line = next())
            lines.push_back(*std::move(line));
    }
    go_to(here);
    return lines;
}

std::optional<Line> Log::next() {
    std::optional<Line> line = read();
    if (!line)
        return line;
    if (!line->content.is_object())
        throw Refusal(
            fmt::format("{}:{}: not a line of a log, which is a JSON object", path_, line->number));
    const auto result = results_.find(line->number);
    if (result != results_.end() && line->content.contains("function"))
        line->content["result"] = result->second;
    return line;
}

std::optional<Line> Log::read() {
    std::string text;
    if (!std::getline(stream_, text))
        return std::nullopt;
    ++number_;
    if (stream_.eof()) {
        cut_ = true;
        return std::nullopt;
    }
    return Line{number_, parse(text)};
}

} // namespace pi_run
