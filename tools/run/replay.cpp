// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay.hpp"

#include "player.hpp"
#include "state.hpp"

#include "layers/layers.hpp"
#include "layers/record/format.hpp"

#include <pi/pi.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace pi_run {

using namespace pi::loader::record;

struct Replay::Begun {
    std::shared_ptr<const Call> call;
    const char *function;
    End end;
    std::optional<uint64_t> unknown; ///< the line since which the bytes it reads are unknown
};

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
               std::function<void(const std::string &)> report)
    : state_(std::make_unique<State>()), report_(std::move(report)), check_data_(check_data) {
    check(piLoaderCreate(nullptr, &state_->loader), "piLoaderCreate");
    const char *const wanted = selector.empty() ? nullptr : selector.c_str();
    uint32_t count = 0;
    check(piLoaderSelectDevices(state_->loader, wanted, 0, nullptr, &count),
          "piLoaderSelectDevices");
    state_->devices.resize(count);
    check(piLoaderSelectDevices(state_->loader, wanted, count, state_->devices.data(), nullptr),
          "piLoaderSelectDevices");
    if (count == 0)
        throw Refusal("no device to run the log on; pi-info --plugins says why");
}

Replay::~Replay() = default;

std::string Replay::layers() const {
    return layers_of(state_->loader);
}

std::string layers_of(pi_loader loader) {
    uint32_t count = 0;
    check(piLoaderGetEnvironment(loader, 0, nullptr, &count), "piLoaderGetEnvironment");
    std::vector<pi_environment_variable> rows(count);
    check(piLoaderGetEnvironment(loader, count, rows.data(), nullptr), "piLoaderGetEnvironment");
    for (const pi_environment_variable &row : rows) {
        if (row.name == std::string_view("PI_LAYERS") && row.value != nullptr)
            return row.value;
    }
    return "";
}

namespace {

// Adds the line to a refusal.
template <typename Part>
void of_line(uint64_t number, const char *const &function, Part &&part) {
    try {
        part();
    } catch (const Refusal &refusal) {
        throw Refusal(fmt::format("line {}: {}{}{}", number, function,
                                  *function != '\0' ? ": " : "", refusal.what()));
    }
}

// A wait that timed out says nothing about its event, and a call that a callback must not make did
// nothing. The calls of a callback are in the log as calls of their own.
bool did_nothing(std::string_view function, pi_result result) {
    return result == PI_ERROR_WOULD_BLOCK || function == "piEventSetCallback" ||
           (function == "piEventWait" && result == PI_ERROR_TIMEOUT);
}

} // namespace

void Replay::run(Log &log) {
    while (std::optional<Line> line = log.next()) {
        const uint64_t number = line->number;
        if (begun_.count(number) == 0)
            begin(*std::move(line), false);
        if (const auto begun = begun_.extract(number))
            end(*begun.mapped());
        for (Line &early : log.begun_behind(number))
            begin(std::move(early), true);
    }
}

void Replay::begin(Line line, bool early) {
    if (!line.content.contains("function"))
        return;
    const uint64_t number = line.number;
    const char *function = "";
    of_line(number, function, [&] {
        const Json &name = line.content["function"];
        const std::size_t index =
            name.is_string() ? find_row(name.get<std::string>()) : function_rows.size();
        if (index == function_rows.size())
            throw Refusal(fmt::format("{} is not a function", name.dump()));
        function = function_rows[index].name;
        const auto result = as_word<pi_result>(member(line.content, "result"), "result");
        if (is_query(index) || did_nothing(function, result))
            return;
        auto begun = std::make_unique<Begun>();
        begun->function = function;
        begun->call = std::make_shared<const Call>(Call{std::move(line), result, early});
        bool runs = true;
        const auto cannot = begun->call->line.content.find("cannot");
        try {
            if (player_of(index) == nullptr)
                throw CannotRun(why_never(index));
            if (cannot != begun->call->line.content.end())
                throw CannotRun(cannot->is_string() ? cannot->get<std::string>()
                                                    : "the log says so");
            begun->end = player_of(index)(*state_, begun->call);
        } catch (const CannotRun &why) {
            if (early)
                return; // the objects that it needs may exist when its turn comes
            begun->end = [why]() -> Outcome { throw why; };
            runs = false;
        }
        if (begun->end == nullptr)
            return;
        begun->unknown = unknown_.since(begun->call->line);
        if (result == PI_SUCCESS)
            unknown_.note(function, begun->call->line, runs);
        begun_.emplace(number, std::move(begun));
    });
}

void Replay::end(const Begun &begun) {
    const Line &line = begun.call->line;
    const pi_result expected = begun.call->expected;
    const auto report = [&](const std::string &text) {
        report_(fmt::format("{}: {}: {}", line.number, begun.function, text));
    };
    of_line(line.number, begun.function, [&] {
        try {
            const Outcome outcome = begun.end();
            const std::optional<uint64_t> unknown =
                begun.unknown ? begun.unknown : unknown_.since(line);
            ++counts_.run;
            if (outcome.result != expected) {
                ++counts_.different;
                const char *text = "";
                if (outcome.result != PI_SUCCESS)
                    piGetLastError(nullptr, &text);
                report(fmt::format("recorded {} ({}), got {} ({}){}{}", pi::result_name(expected),
                                   expected, pi::result_name(outcome.result), outcome.result,
                                   *text != '\0' ? ": " : "", text));
                note_unmade(line, fmt::format("line {} did not create", line.number));
            } else if (check_data_ && line.content.contains("hash") && outcome.hash && unknown) {
                ++counts_.unknown;
                report(fmt::format("cannot be compared, because line {} could not run", *unknown));
            } else if (check_data_ && line.content.contains("hash") && outcome.hash) {
                ++counts_.compared;
                const std::string got = fmt::format("{:016x}", *outcome.hash);
                if (line.content["hash"] != got) {
                    ++counts_.other_bytes;
                    report(fmt::format("other bytes: hash recorded {}, got {}",
                                       line.content["hash"].dump(), got));
                }
            } else if (std::string_view(begun.function).ends_with("Read") &&
                       expected == PI_SUCCESS && !line.content.contains("hash")) {
                ++counts_.not_compared;
            }
        } catch (const CannotRun &why) {
            ++counts_.could_not_run;
            report(fmt::format("cannot run: {}", why.what()));
            note_unmade(line, fmt::format("line {} could not create", line.number));
        }
    });
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

} // namespace pi_run
