// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay.hpp"

#include "player.hpp"
#include "state.hpp"

#include "layers/layers.hpp"
#include "layers/record/format.hpp"

#include <fmt/format.h>

#include <utility>

namespace pi_replay {

using namespace pi::loader::record;

std::string describe(const Line &line) {
    if (!line.content.contains("function"))
        return fmt::format("{}: {}", line.number, line.content.dump());
    std::string text = fmt::format(
        "{}: thread {}: {}{} = {}", line.number, line.content.value("thread", Json()).dump(),
        line.content["function"].is_string() ? line.content["function"].get<std::string>() : "?",
        line.content.value("arguments", Json()).dump(),
        line.content.value("result", Json()).dump());
    for (const char *name : {"made", "map", "hash", "cannot"}) {
        if (line.content.contains(name))
            text += fmt::format(", {} {}", name, line.content[name].dump());
    }
    return text;
}

Replay::Replay(const std::string &selector, bool check_data,
               std::function<void(const std::string &)> tell)
    : state_(std::make_unique<State>()), tell_(std::move(tell)), check_data_(check_data) {
    check(piLoaderCreate(nullptr, &state_->loader), "piLoaderCreate");
    const char *const wanted = selector.empty() ? nullptr : selector.c_str();
    uint32_t count = 0;
    check(piLoaderSelectDevices(state_->loader, wanted, 0, nullptr, &count),
          "piLoaderSelectDevices");
    state_->devices.resize(count);
    check(piLoaderSelectDevices(state_->loader, wanted, count, state_->devices.data(), nullptr),
          "piLoaderSelectDevices");
    if (count == 0)
        throw Refusal("there is no device to run the log on; pi-info --plugins tells why");
}

Replay::~Replay() = default;

void Replay::run(const Line &line) {
    if (!line.content.contains("function"))
        return;
    const auto told = [&](const std::string &text) {
        tell_(fmt::format("{}: {}", line.number, text));
    };
    std::string function;
    try {
        const Json &name = line.content["function"];
        const std::size_t index =
            name.is_string() ? find_row(name.get<std::string>()) : function_rows.size();
        if (index == function_rows.size())
            throw Refusal(fmt::format("{} is no function", name.dump()));
        function = function_rows[index].name;
        const Call call{line.content, array_of(member(line.content, "arguments"), "arguments"),
                        as_word<pi_result>(member(line.content, "result"), "result")};
        if (is_question(index) || (function == "piEventWait" && call.expected == PI_ERROR_TIMEOUT))
            return;
        try {
            if (player_of(index) == nullptr)
                throw LeftOut(why_never(index));
            if (line.content.contains("cannot"))
                throw LeftOut(line.content["cannot"].is_string()
                                  ? line.content["cannot"].get<std::string>()
                                  : "the log says so");
            const Outcome outcome = player_of(index)(*state_, call);
            ++counts_.run;
            if (outcome.result != call.expected) {
                ++counts_.different;
                const char *text = "";
                if (outcome.result != PI_SUCCESS)
                    piGetLastError(nullptr, &text);
                told(fmt::format("{}: recorded {}, got {}{}{}", function, call.expected,
                                 outcome.result, *text != '\0' ? ": " : "", text));
                note_unmade(line, fmt::format("line {} has not made", line.number));
            } else if (check_data_ && line.content.contains("hash") && outcome.hash) {
                ++counts_.compared;
                const std::string got = fmt::format("{:016x}", *outcome.hash);
                if (line.content["hash"] != got) {
                    ++counts_.other_bytes;
                    told(fmt::format("{} gave other bytes: hash recorded {}, got {}", function,
                                     line.content["hash"].dump(), got));
                }
            } else if (function == "piEnqueueMemBufferRead" && call.expected == PI_SUCCESS &&
                       !line.content.contains("hash")) {
                ++counts_.not_compared;
            }
        } catch (const LeftOut &why) {
            ++counts_.left_out;
            told(fmt::format("{} cannot be run: {}", function, why.what()));
            note_unmade(line, fmt::format("line {} could not make", line.number));
        }
    } catch (const Refusal &refusal) {
        throw Refusal(fmt::format("line {}: {}{}{}", line.number, function,
                                  function.empty() ? "" : ": ", refusal.what()));
    }
}

std::size_t Replay::find_row(const std::string &name) {
    std::size_t i = 0;
    while (i < function_rows.size() && function_rows[i].name != name)
        ++i;
    return i;
}

void Replay::note_unmade(const Line &line, const std::string &why) {
    const auto made = line.content.find("made");
    if (made == line.content.end() || !made->is_array())
        return;
    for (const Json &id : *made) {
        if (id.is_number_unsigned() && state_->objects.count(id.get<uint64_t>()) == 0)
            state_->unmade[id.get<uint64_t>()] = why;
    }
}

} // namespace pi_replay
