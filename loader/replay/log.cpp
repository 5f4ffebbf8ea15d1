// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log.hpp"

#include "layers/record/format.hpp"
#include "layers/shallow_json.hpp"

#include <fmt/format.h>

namespace pi_replay {
namespace {

// More than any line of the layer's.
constexpr int max_depth = 16;

Json parse(const std::string &text) {
    bool deep = false;
    return pi::loader::parse_shallow<Json>(text, max_depth, deep);
}

} // namespace

Log::Log(const std::string &path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_)
        throw Refusal(fmt::format("{}: cannot be read", path));
    const std::optional<Line> header = next();
    if (!header || !header->content.contains("pi_record"))
        throw Refusal(fmt::format(
            "{}:1: is no log of the layer record: its first line has \"pi_record\"", path));
    const Json &version = header->content["pi_record"];
    if (version != pi::loader::record::format_version)
        throw Refusal(fmt::format("{}:1: is of the version {} of logs; this program knows {}", path,
                                  version.dump(), pi::loader::record::format_version));
    // Minor versions only add: what a log of another one has is here, or is told as unknown.
    const Json abi = header->content.value("abi", Json());
    if (!abi.is_string() ||
        !abi.get<std::string>().starts_with(fmt::format("{}.", PI_VERSION_MAJOR)))
        throw Refusal(fmt::format("{}:1: was recorded with the ABI {}; this program has {}.{}",
                                  path, abi.dump(), PI_VERSION_MAJOR, PI_VERSION_MINOR));
    look_ahead();
}

void Log::look_ahead() {
    const std::streampos begin = stream_.tellg();
    const uint64_t number = number_;
    // A line that is broken is told when its turn has come.
    for (std::optional<Line> line = read(); line && line->content.is_object(); line = read()) {
        const auto of = line->content.find("of");
        const auto result = line->content.find("result");
        if (of != line->content.end() && of->is_number_unsigned() && result != line->content.end())
            results_[of->get<uint64_t>()] = *result;
    }
    stream_.clear();
    if (begin < 0 || !stream_.seekg(begin))
        throw Refusal(fmt::format("{}: is read twice, so it must be a file", path_));
    number_ = number;
    cut_ = false;
}

std::optional<Line> Log::next() {
    std::optional<Line> line = read();
    if (!line)
        return line;
    if (!line->content.is_object())
        throw Refusal(
            fmt::format("{}:{}: is no line of a log: a JSON object is one", path_, line->number));
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

} // namespace pi_replay
