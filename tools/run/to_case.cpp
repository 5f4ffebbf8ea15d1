// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "to_case.hpp"

#include "call_shapes.hpp"
#include "player.hpp"
#include "statement.hpp"
#include "values.hpp"

#include "functions.hpp"
#include "layers/record/format.hpp"

#include <pi/pi.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace pi_run {
namespace {

using pi::loader::function_rows;
namespace record = pi::loader::record;

// Members of descriptors whose numbers are ids, and those whose strings are texts: all other
// strings are bytes.
constexpr std::string_view handle_members[] = {"device",  "devices", "pool",    "mem",
                                               "src",     "dst",     "image",   "image_sampler",
                                               "sampler", "kernel",  "program", "programs"};
constexpr std::string_view text_members[] = {"name", "options", "target"};

template <std::size_t Size>
bool is_one_of(std::string_view word, const std::string_view (&words)[Size]) {
    return std::find(words, words + Size, word) != words + Size;
}

bool is_zero(const Json &value) {
    return value.is_null() || value == false || (value.is_number() && value == 0) ||
           (value.is_array() && std::all_of(value.begin(), value.end(), is_zero));
}

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (const char letter : text) {
        if (letter == '\n')
            result += "\\n";
        else if (letter == '\t')
            result += "\\t";
        else
            result +=
                letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string{letter};
    }
    return result + '"';
}

/// A call of the log.
struct LogCall {
    Line line;
    std::size_t index;
    const Json &at(std::size_t i) const { return line.content["arguments"].at(i); }
};

class Writer {
public:
    std::string statement(const LogCall &call) {
        lines_before_.clear();
        const std::string function = function_rows[call.index].name;
        std::string text, names, on;
        for (const Parameter &parameter : parameters_of(call.index)) {
            const std::size_t i = &parameter - parameters_of(call.index).data();
            text += parameter_text(function, parameter, call.at(i));
            if (parameter.object == PI_KIND_PLATFORM)
                on = " on " + device_name(call);
        }
        const Json &line = call.line.content;
        for (const Json &id : line.value("made", Json::array()))
            names += (names.empty() ? "" : ", ") + made_name(call, id.get<uint64_t>());
        const auto add_address = [&](const std::string &name) {
            names = name + (names.empty() ? "" : ", ") + names;
        };
        if (line.contains("usm"))
            add_address(name_of(line["usm"].get<uint64_t>(), "usm"));
        if (line.contains("map") && function != "piEnqueueMemUnmap")
            add_address(name_of(line["map"].get<uint64_t>() + map_ids, "map"));
        else if (line.contains("map"))
            text += " map=" + name_of(line["map"].get<uint64_t>() + map_ids, "map");
        if (line.contains("data"))
            text += " data=" + bytes_text(line["data"].get<std::string>());
        if (line.contains("hash"))
            text += " hash=" + quoted(line["hash"].get<std::string>());
        const auto result = line.value("result", pi_result{PI_SUCCESS});
        std::string before;
        for (const std::string &added : lines_before_)
            before += added + '\n';
        return before + (names.empty() || result != PI_SUCCESS ? "" : names + " = ") +
               (result != PI_SUCCESS ? fmt::format("fails {} ", code(result)) : "") +
               verb_of(call.index) + on + text + '\n';
    }

private:
    // Maps have ids of their own in a log.
    static constexpr uint64_t map_ids = UINT64_C(1) << 40;

    static std::string code(pi_result result) {
        const std::string name = pi::result_name(result);
        return name.starts_with("PI_ERROR_") ? name.substr(9) : name;
    }
    std::string name_of(uint64_t id, const std::string &word) {
        auto &name = names_[id];
        if (name.empty()) {
            name = fmt::format("{}{}", word, ++counts_[word]);
            if (word == "place")
                lines_before_.push_back("place " + name);
        }
        return name;
    }
    static std::string word_of(pi_kind kind) {
        constexpr const char *words[] = {"",        "",        "",    "",      "place",
                                         "context", "queue",   "mem", "event", "program",
                                         "kernel",  "sampler", "pool"};
        return words[kind];
    }
    std::string made_name(const LogCall &call, uint64_t id) {
        for (const Parameter &parameter : parameters_of(call.index)) {
            if (parameter.kind == Parameter::Kind::made)
                return name_of(id, parameter.object == PI_KIND_DEVICE ? "device"
                                                                      : word_of(parameter.object));
        }
        return name_of(id, "object");
    }
    std::string handle_text(const Json &id, const std::string &word) {
        return id.is_null() ? "null" : name_of(id.get<uint64_t>(), word);
    }
    std::string device_name(const LogCall &call) {
        const Json &desc = call.at(1);
        const bool has = desc.is_object() && desc.contains("devices") &&
                         desc["devices"].is_array() && !desc["devices"].empty();
        return has ? handle_text(desc["devices"][0], "place") : "place1";
    }
    static std::string bytes_text(const std::string &base64) {
        const auto bytes = record::decode(base64);
        if (!bytes)
            throw Refusal("bytes that are not base64");
        const bool readable =
            bytes->size() > 8 && std::all_of(bytes->begin(), bytes->end(), [](unsigned char byte) {
                return byte == '\n' || byte == '\t' || (byte >= 32 && byte < 127);
            });
        return readable ? quoted(std::string(bytes->begin(), bytes->end()))
                        : text_of_bytes({bytes->data(), bytes->size()});
    }
    // Host memory in place: equal addresses are the same memory.
    std::string memory_text(const Json &shared) {
        const uint64_t address = shared["address"].get<uint64_t>();
        auto &name = memory_[address];
        if (name.empty()) {
            name = fmt::format("memory{}", memory_.size());
            lines_before_.push_back(fmt::format("{} = memory {}", name,
                                                shared.contains("bytes")
                                                    ? bytes_text(shared["bytes"].get<std::string>())
                                                    : "<00>"));
        }
        return name;
    }
    std::string value_text(const std::string &member, const Json &value) {
        if (value.is_array()) {
            std::vector<std::string> elements;
            for (const Json &element : value)
                elements.push_back(value_text(member, element));
            const bool numbers =
                !value.empty() && value[0].is_number() && !is_one_of(member, handle_members);
            while (numbers && elements.size() > 1 && elements.back() == "0")
                elements.pop_back();
            return numbers && elements.size() > 0 ? fmt::format("{}", fmt::join(elements, ","))
                                                  : fmt::format("[{}]", fmt::join(elements, " "));
        }
        if (value.is_object()) {
            if (value.contains("usm")) {
                const uint64_t offset = value.value("offset", uint64_t{0});
                return name_of(value["usm"].get<uint64_t>(), "usm") +
                       (offset != 0 ? fmt::format("+{}", offset) : "");
            }
            if (value.contains("address"))
                return memory_text(value);
            std::string text;
            for (const auto &[name, inner] : value.items()) {
                if (!is_zero(inner))
                    text += (text.empty() ? "" : " ") + name + '=' + value_text(name, inner);
            }
            return '{' + text + '}';
        }
        if (value.is_string()) {
            const auto &text = value.get_ref<const std::string &>();
            return is_one_of(member, text_members) ? quoted(text) : bytes_text(text);
        }
        if (value.is_number() && is_one_of(member, handle_members))
            return handle_text(value, member == "device" || member == "devices" ? "place"
                                      : member.starts_with("program")           ? "program"
                                      : member == "kernel"                      ? "kernel"
                                                                                : "mem");
        return value.dump();
    }
    std::string members_text(const std::string &function, const Json &desc) {
        std::string text;
        for (const auto &[name, value] : desc.items()) {
            const bool unmapped =
                function == "piEnqueueMemUnmap" && (name == "mem" || name == "pointer");
            const bool own_target = value == true && (function.ends_with("Read") ||
                                                      name == "out_pointer" || name == "dst");
            if (is_zero(value) || unmapped || own_target)
                continue;
            if (name == "regions" && value.is_array() && value.size() == 1)
                text += members_text(function, value[0]);
            else
                text += ' ' + name + '=' + value_text(name, value);
        }
        return text;
    }
    std::string parameter_text(const std::string &function, const Parameter &parameter,
                               const Json &value) {
        using Kind = Parameter::Kind;
        const std::string name(parameter.name);
        switch (parameter.kind) {
        case Kind::handle:
            return parameter.object == PI_KIND_PLATFORM
                       ? ""
                       : ' ' + name + '=' + handle_text(value, word_of(parameter.object));
        case Kind::number:
            return name == "capacity" || name.ends_with("count") || name == "timeout"
                       ? ""
                       : ' ' + name + '=' + value.dump();
        case Kind::text:
            return ' ' + name + '=' + (value.is_null() ? "null" : quoted(value.get<std::string>()));
        case Kind::descriptor:
            return value.is_object() ? members_text(function, value) : "";
        case Kind::list: {
            if (!value.is_array() || value.empty())
                return "";
            std::vector<std::string> elements;
            for (const Json &element : value)
                elements.push_back(parameter.object != 0
                                       ? handle_text(element, word_of(parameter.object))
                                       : value_text(name, element));
            return fmt::format(" {}=[{}]", name == "wait_list" ? "after" : name,
                               fmt::join(elements, " "));
        }
        case Kind::address:
            return ' ' + name + '=' + value_text(name, value);
        default:
            return "";
        }
    }

    std::map<uint64_t, std::string> names_; ///< by id
    std::map<std::string, int> counts_;
    std::map<uint64_t, std::string> memory_; ///< by address
    std::vector<std::string> lines_before_;
};

/// Ids that a call names or makes. Those of `memory`, events and programs connect calls; devices,
/// contexts and queues do not.
struct Ids {
    std::set<uint64_t> connecting;
    std::set<uint64_t> all;
    std::set<uint64_t> made;

    void add(uint64_t id, bool connects) {
        all.insert(id);
        if (connects)
            connecting.insert(id);
    }
    void add_members(const Json &value) {
        if (value.is_object() && value.contains("usm"))
            return add(value["usm"].get<uint64_t>(), true);
        if (!value.is_structured())
            return;
        for (const auto &[name, inner] : value.items()) {
            const bool connects = !name.starts_with("device");
            if (is_one_of(name, handle_members)) {
                for (const Json &id : inner.is_array() ? inner : Json::array({inner})) {
                    if (id.is_number_unsigned())
                        add(id.get<uint64_t>(), connects);
                }
            }
            add_members(inner);
        }
    }
};

bool connects(pi_kind kind) {
    return kind != PI_KIND_PLATFORM && kind != PI_KIND_DEVICE && kind != PI_KIND_CONTEXT &&
           kind != PI_KIND_QUEUE;
}

Ids ids_of(const LogCall &call) {
    Ids ids;
    const std::vector<Parameter> &parameters = parameters_of(call.index);
    bool makes_connecting = true;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Json &value = call.at(i);
        if (parameters[i].kind == Parameter::Kind::made)
            makes_connecting = connects(parameters[i].object);
        for (const Json &id : value.is_array() ? value : Json::array({value})) {
            if (parameters[i].object != 0 && id.is_number_unsigned())
                ids.add(id.get<uint64_t>(), connects(parameters[i].object));
        }
        ids.add_members(value);
    }
    for (const char *const name : {"made", "usm"}) {
        const Json made = call.line.content.value(name, Json::array());
        for (const Json &id : made.is_array() ? made : Json::array({made})) {
            if (!id.is_number_unsigned())
                continue;
            ids.add(id.get<uint64_t>(), makes_connecting);
            ids.made.insert(id.get<uint64_t>());
        }
    }
    return ids;
}

/// "" for a call that a case can make.
std::string why_left_out(const LogCall &call, const Ids &ids, const std::set<uint64_t> &unmade) {
    const Json &content = call.line.content;
    if (const char *const never = record::why_never(call.index))
        return never;
    if (content.contains("cannot"))
        return content["cannot"].is_string() ? content["cannot"].get<std::string>()
                                             : "the log says so";
    for (const uint64_t id : ids.all) {
        if (unmade.count(id) != 0)
            return fmt::format("it needs object {}, which is left out", id);
    }
    return "";
}

/// The calls that the last one depends on, and itself.
std::vector<LogCall> cut(std::vector<LogCall> calls) {
    std::vector<Ids> ids;
    for (const LogCall &call : calls)
        ids.push_back(ids_of(call));
    std::vector<bool> wanted(calls.size(), false);
    std::set<uint64_t> connected = ids.back().connecting, needed = ids.back().all;
    wanted.back() = true;
    for (bool again = true; again;) {
        again = false;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const auto shares = [&](const std::set<uint64_t> &own, const std::set<uint64_t> &set) {
                return std::any_of(own.begin(), own.end(),
                                   [&](uint64_t id) { return set.count(id) != 0; });
            };
            const Json made = calls[i].line.content.value("made", Json::array());
            const bool creates = std::any_of(made.begin(), made.end(), [&](const Json &id) {
                return id.is_number_unsigned() && needed.count(id.get<uint64_t>()) != 0;
            });
            if (wanted[i] || (!creates && !shares(ids[i].connecting, connected)))
                continue;
            wanted[i] = again = true;
            connected.insert(ids[i].connecting.begin(), ids[i].connecting.end());
            needed.insert(ids[i].all.begin(), ids[i].all.end());
        }
    }
    std::vector<LogCall> kept;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (wanted[i])
            kept.push_back(std::move(calls[i]));
    }
    return kept;
}

} // namespace

Converted to_case(Log &log, uint64_t line) {
    Converted converted;
    std::vector<LogCall> calls;
    std::set<uint64_t> unmade;
    while (std::optional<Line> next = log.next()) {
        const Json &content = next->content;
        if (!content.contains("function") || !content["function"].is_string())
            continue;
        if (line != 0 && next->number > line)
            break;
        const std::string function = content["function"].get<std::string>();
        const auto index = find_function(function);
        if (!index || !content.contains("arguments") ||
            content["arguments"].size() != parameters_of(*index).size())
            throw Refusal(fmt::format("line {}: not a call of pi.h", next->number));
        const pi_result result = content.value("result", pi_result{PI_SUCCESS});
        if (record::is_query(*index) || result == PI_ERROR_WOULD_BLOCK ||
            (function == "piEventWait" && result == PI_ERROR_TIMEOUT))
            continue;
        LogCall call{*std::move(next), *index};
        const Ids ids = ids_of(call);
        const std::string why = why_left_out(call, ids, unmade);
        if (!why.empty()) {
            converted.left_out.push_back(
                fmt::format("line {}: {} is left out: {}", call.line.number, function, why));
            unmade.insert(ids.made.begin(), ids.made.end());
            continue;
        }
        calls.push_back(std::move(call));
    }
    if (line != 0 && (calls.empty() || calls.back().line.number != line))
        throw Refusal(fmt::format("line {} is not a call that a case can make", line));
    if (line != 0)
        calls = cut(std::move(calls));
    Writer writer;
    converted.text = fmt::format("# {} calls of a recorded log\n", calls.size());
    for (const LogCall &call : calls) {
        try {
            converted.text += writer.statement(call);
        } catch (const std::exception &error) {
            throw Refusal(fmt::format("line {}: {}", call.line.number, error.what()));
        }
    }
    return converted;
}

} // namespace pi_run
