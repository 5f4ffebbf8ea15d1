// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "specification.hpp"

#include "error.hpp"
#include "layers/fault/shorten.hpp"
#include "layers/layers.hpp"
#include "nearest.hpp"
#include "text.hpp"

#include <optional>

namespace pi::loader::fault {
namespace {

template <typename Function>
struct CommandOf {
    static constexpr bool command = false;
    static constexpr bool bytes = false;
};
template <typename Desc>
struct CommandOf<pi_result (*)(pi_queue, const Desc *, uint32_t, const pi_event *, pi_event *)> {
    static constexpr bool command = true;
    static constexpr bool bytes = can_shorten<Desc>;
};

struct Row {
    bool command;
    bool bytes;
};
constexpr Row rows[] = {
#define PI_FUNCTION(name, group, needs, since)                                                     \
    {CommandOf<decltype(pi_dispatch::name)>::command,                                              \
     CommandOf<decltype(pi_dispatch::name)>::bytes},
#include <pi/pi_functions.def>
};

std::string parse_calls(std::string_view text, Fault &fault) {
    const std::size_t dots = text.find("..");
    const auto first = parse_number(trim(text.substr(0, dots)));
    std::optional<uint64_t> last = first;
    if (dots != std::string_view::npos) {
        const std::string_view end = trim(text.substr(dots + 2));
        if (end.empty())
            last = UINT64_MAX;
        else
            last = parse_number(end);
    }
    if (!first || !last || *first == 0 || *last < *first)
        return fmt::format(
            "\"{}\" is not a call number or range; write 3, 2..5 or 2.. (calls count "
            "from 1)",
            text);
    fault.first = *first;
    fault.last = *last;
    return "";
}

std::string parse_result(std::string_view text, Fault &fault) {
    const std::optional<pi_result> result = find_result(text);
    if (!result || *result == PI_SUCCESS)
        return fmt::format("\"{}\" is not an error of pi.h; write for example OUT_OF_DEVICE_MEMORY",
                           text);
    fault.result = *result;
    return "";
}

std::string parse_delay(std::string_view text, Fault &fault) {
    struct Unit {
        std::string_view name;
        int64_t nanoseconds;
    };
    constexpr Unit units[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (const auto number = parse_number(text.substr(0, digits));
        number && digits != std::string_view::npos) {
        for (const Unit &unit : units) {
            if (trim(text.substr(digits)) == unit.name) {
                fault.delay = std::chrono::nanoseconds(*number * unit.nanoseconds);
                return "";
            }
        }
    }
    return fmt::format("\"{}\" is not a time; write for example 10ms (units: ns, us, ms, s)", text);
}

// Splits "fail(DEVICE_LOST)" into the word and the optional text in brackets.
bool split_action(std::string_view text, std::string_view &word,
                  std::optional<std::string_view> &argument) {
    const std::size_t open = text.find('(');
    word = trim(text.substr(0, open));
    if (open == std::string_view::npos)
        return true;
    if (text.back() != ')')
        return false;
    argument = trim(text.substr(open + 1, text.size() - open - 2));
    return true;
}

std::string parse_action(std::string_view text, Fault &fault) {
    constexpr const char *should =
        "should be fail(RESULT), fail_event(RESULT), short, short(RESULT) or delay(TIME)";
    std::string_view word;
    std::optional<std::string_view> argument;
    if (!split_action(text, word, argument))
        return fmt::format("\"{}\" does not end with ')'; {}", text, should);
    const char *name = function_rows[fault.function].name;
    if (word == "fail" && argument) {
        fault.action = Action::fail;
        return parse_result(*argument, fault);
    }
    if (word == "delay" && argument) {
        fault.action = Action::delay;
        return parse_delay(*argument, fault);
    }
    if (word == "fail_event" && argument) {
        if (!rows[fault.function].command)
            return fmt::format("fail_event is for commands, and {} is not a command; use fail or "
                               "delay",
                               name);
        fault.action = Action::fail_event;
        return parse_result(*argument, fault);
    }
    if (word == "short") {
        if (!rows[fault.function].bytes)
            return fmt::format(
                "short is for commands that move bytes, and {} moves none; use fail, {}delay", name,
                rows[fault.function].command ? "fail_event or " : "");
        fault.action = Action::shorten;
        fault.result = PI_ERROR_BACKEND;
        return argument ? parse_result(*argument, fault) : "";
    }
    return fmt::format("\"{}\" is not a fault; {}", text, should);
}

std::string parse_part(std::string_view part, Fault &fault) {
    const std::size_t equals = part.find('=');
    const std::size_t colon = part.substr(0, equals).find(':');
    if (equals == std::string_view::npos || colon == std::string_view::npos)
        return "should be <function>:<call>=<fault>, for example "
               "piMemBufferCreate:3=fail(OUT_OF_DEVICE_MEMORY)";
    const std::string_view name = trim(part.substr(0, colon));
    fault.function = find_function(name);
    if (fault.function == function_rows.size()) {
        const std::string similar = nearest(name, function_rows, &FunctionRow::name);
        return fmt::format("\"{}\" is not a function of plugins{}", name,
                           similar.empty() ? "" : "; did you mean " + similar + "?");
    }
    fault.text = part;
    std::string problem = parse_calls(trim(part.substr(colon + 1, equals - colon - 1)), fault);
    if (problem.empty())
        problem = parse_action(trim(part.substr(equals + 1)), fault);
    return problem;
}

} // namespace

std::string parse(std::string_view specification, std::vector<Fault> &faults) {
    for (const std::string_view part : split(specification, ';')) {
        if (part.empty())
            continue;
        Fault fault{};
        const std::string problem = parse_part(part, fault);
        if (!problem.empty())
            return fmt::format("\"{}\": {}", part, problem);
        faults.push_back(std::move(fault));
    }
    return "";
}

} // namespace pi::loader::fault
