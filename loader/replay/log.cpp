// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log.hpp"

#include "layers/record/format.hpp"

#include <fmt/format.h>

namespace pi_replay {
namespace {

// More than any line of the layer's; what is deeper would be printed and freed by recursion.
constexpr int max_depth = 16;

Json parse(const std::string &text) {
    bool deep = false;
    const Json content = Json::parse(
        text,
        [&](int depth, Json::parse_event_t, Json &) {
            deep = deep || depth > max_depth;
            return !deep;
        },
        false);
    return deep ? Json() : content;
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
}

std::optional<Line> Log::next() {
    std::string text;
    if (!std::getline(stream_, text))
        return std::nullopt;
    ++number_;
    if (stream_.eof()) {
        cut_ = true;
        return std::nullopt;
    }
    Line line{number_, parse(text)};
    if (!line.content.is_object())
        throw Refusal(
            fmt::format("{}:{}: is no line of a log: a JSON object is one", path_, number_));
    return line;
}

} // namespace pi_replay
