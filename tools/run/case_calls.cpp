// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "case_calls.hpp"

#include "call_shapes.hpp"
#include "constants.hpp"
#include "nearest.hpp"
#include "player.hpp"
#include "values.hpp"

#include "layers/record/format.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/pi.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pi_run {
namespace {

using pi::loader::function_rows;

/// Sizes follow from bytes: that of a pattern, a program and an argument's value.
void add_sizes(Json &value) {
    if (!value.is_structured())
        return;
    for (const auto &[bytes, size] :
         {std::pair{"pattern", "pattern_size"}, {"data", "size"}, {"value", "size"}}) {
        const auto found = value.is_object() ? value.find(bytes) : value.end();
        if (found == value.end() || value.contains(size))
            continue;
        if (found->is_binary())
            value[size] = found->get_binary().size();
        else if (found->is_string())
            value[size] = found->get_ref<const std::string &>().size();
    }
    for (Json &element : value)
        add_sizes(element);
}

} // namespace

CaseCalls::CaseCalls(std::span<const pi_device> devices, pi_loader loader,
                     std::span<const Statement> statements)
    : loader_(loader) {
    state_.by_hand = true;
    state_.devices.assign(devices.begin(), devices.end());
    std::set<std::string> may_fail;
    for (const Statement &statement : statements) {
        if (statement.verb == "expect" && statement.words.size() == 2 &&
            find_result(statement.words[1]))
            may_fail.insert(statement.words[0]);
        if (statement.verb == "wait" && !statement.fails.empty()) {
            may_fail.insert(statement.words.begin(), statement.words.end());
            for (const auto &[member, value] : statement.members)
                may_fail.insert(value);
        }
    }
    for (const Statement &statement : statements) {
        for (const std::string &name : statement.names) {
            if (may_fail.count(name) != 0)
                may_fail_.insert(statement.line);
        }
    }
}

bool CaseCalls::run(Statement &statement) {
    if (statement.verb == "place") {
        add_place(statement);
    } else if (statement.verb == "memory") {
        add_memory(statement);
    } else if (statement.verb == "connected") {
        need_connection(statement);
    } else if (statement.verb == "release") {
        if (is_of_other_level(statement))
            return false;
        release(statement);
    } else if (statement.verb == "expect") {
        if (is_of_other_level(statement))
            return false;
        expect(statement);
    } else if (const auto index = find_function(statement.verb)) {
        call(statement, *index);
    } else {
        return false;
    }
    return true;
}

/// Whether it may name a storage.
bool CaseCalls::is_of_other_level(const Statement &statement) const {
    return !statement.words.empty() && names_.count(statement.words[0]) == 0;
}

std::vector<Level::Place> CaseCalls::places() const {
    std::vector<Level::Place> places;
    const auto handle = [&](uint64_t id) { return state_.objects.at(id).handle; };
    for (const std::string &name : place_order_) {
        const PlaceIds &ids = places_.at(name);
        places.push_back({name, static_cast<pi_device>(handle(ids.device)),
                          static_cast<pi_context>(handle(ids.context)),
                          static_cast<pi_queue>(handle(ids.queue))});
    }
    return places;
}

// ----- Names -----

uint64_t CaseCalls::add_object(void *handle, pi_kind kind, bool root) {
    state_.objects[next_id_] = {handle, kind, 1, root};
    return next_id_++;
}

void CaseCalls::add_name(const std::string &name, Named named) {
    if (named.kind != Kind::place)
        state_.names[named.id] = name;
    if (!names_.emplace(name, std::move(named)).second)
        throw Refusal(fmt::format("the name {} is in use", name));
}

const CaseCalls::Named &CaseCalls::find(const std::string &name) const {
    const auto found = names_.find(name);
    if (found != names_.end())
        return found->second;
    std::vector<std::string> known;
    for (const auto &[known_name, named] : names_)
        known.push_back(known_name);
    const std::string similar = pi::loader::nearest(name, known);
    const std::string constant = similar.empty() ? similar_constants(name) : similar;
    if (!constant.empty())
        throw Refusal(fmt::format("{} is neither a name of this case nor a constant of pi.h; did "
                                  "you mean {}?",
                                  name, constant));
    throw Refusal(
        fmt::format("{} is neither a name of this case ({}) nor a constant of pi.h", name,
                    known.empty() ? "it has none yet" : fmt::format("{}", fmt::join(known, ", "))));
}

pi_device CaseCalls::device_for(const std::string &selector) {
    if (selector.empty()) {
        if (state_.devices.empty())
            throw Unsupported("there is no device");
        return state_.devices[next_device_++ % state_.devices.size()];
    }
    if (loader_ == nullptr)
        throw Unsupported("the case selects its devices itself");
    pi_device device = nullptr;
    const pi_result result = piLoaderSelectDevices(loader_, selector.c_str(), 1, &device, nullptr);
    if (result != PI_SUCCESS || device == nullptr)
        throw Unsupported(fmt::format("no device {}: {}", selector, last_error()));
    return device;
}

void CaseCalls::add_place(Statement &statement) {
    if (statement.words.empty() || statement.words.size() > 2 || !statement.members.empty())
        throw Refusal("place NAME [SELECTOR], for example: place a, or: place b sim:0:1");
    const std::string &name = statement.words[0];
    pi_device device = device_for(statement.words.size() > 1 ? statement.words[1] : "");
    pi_platform platform = nullptr;
    require_success(
        piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr),
        "piDeviceGetInfo");
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &device;
    pi_context context = nullptr;
    pi_queue queue = nullptr;
    PlaceIds ids{};
    ids.platform = add_object(platform, PI_KIND_PLATFORM, true);
    ids.device = add_object(device, PI_KIND_DEVICE, true);
    require_success(piContextCreate(platform, &desc, &context), "piContextCreate");
    ids.context = add_object(context, PI_KIND_CONTEXT, false);
    require_success(piQueueCreate(context, device, nullptr, &queue), "piQueueCreate");
    ids.queue = add_object(queue, PI_KIND_QUEUE, false);
    for (const uint64_t id : {ids.platform, ids.device, ids.context, ids.queue})
        state_.names[id] = name;
    add_name(name, {.kind = Kind::place, .place = name});
    places_[name] = ids;
    place_order_.push_back(name);
}

void CaseCalls::add_memory(Statement &statement) {
    if (statement.names.size() != 1 || statement.words.size() != 1)
        throw Refusal("NAME = memory <bytes>");
    const std::vector<unsigned char> bytes = bytes_of(statement.words[0]);
    const auto storage = std::make_shared<Storage>();
    unsigned char *const memory = storage->bytes(bytes.size());
    std::copy(bytes.begin(), bytes.end(), memory);
    state_.shared_memory.push_back(storage);
    state_.named_memory[next_id_] = {memory, bytes.size(), 0};
    add_name(statement.names[0], {.kind = Kind::memory, .id = next_id_++, .size = bytes.size()});
}

void CaseCalls::need_connection(const Statement &statement) const {
    if (statement.words.size() != 2 || places_.count(statement.words[0]) == 0 ||
        places_.count(statement.words[1]) == 0)
        throw Refusal("connected PLACE PLACE: the second can use memory of the first");
    const auto handle = [&](std::size_t word, uint64_t PlaceIds::*id) {
        return state_.objects.at(places_.at(statement.words[word]).*id).handle;
    };
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    require_success(piGetMemoryConnection(static_cast<pi_device>(handle(0, &PlaceIds::device)),
                                          static_cast<pi_context>(handle(0, &PlaceIds::context)),
                                          static_cast<pi_device>(handle(1, &PlaceIds::device)),
                                          static_cast<pi_context>(handle(1, &PlaceIds::context)),
                                          &connection),
                    "piGetMemoryConnection");
    if (connection == PI_MEMORY_CONNECTION_NONE)
        throw Unsupported(fmt::format("memory of {} has no connection to {}", statement.words[0],
                                      statement.words[1]));
}

void CaseCalls::require_alive(const std::string &name, const Named &named) const {
    if (named.kind == Kind::object && state_.objects.count(named.id) == 0)
        throw Refusal(fmt::format("{} is released", name));
    if (named.kind == Kind::usm && state_.usm.count(named.id) == 0)
        throw Refusal(fmt::format("{} is freed", name));
}

Resolve CaseCalls::resolver(std::string &place) const {
    return [this, &place](const std::string &name, uint64_t offset) -> Json {
        const Named &named = find(name);
        require_alive(name, named);
        if (place.empty())
            place = named.place;
        switch (named.kind) {
        case Kind::usm:
            if (offset > named.size)
                throw Refusal(
                    fmt::format("{}+{}: {} has {} bytes", name, offset, name, named.size));
            return {{"usm", named.id}, {"offset", offset}};
        case Kind::memory:
            return {{"memory", named.id}, {"offset", offset}};
        case Kind::place:
            return {{"place", name}};
        default:
            if (offset != 0)
                throw Refusal(
                    fmt::format("{}+{}: {} is not memory with an address", name, offset, name));
            return named.id;
        }
    };
}

void CaseCalls::settle(Json &value, pi_kind kind) const {
    if (value.is_object() && value.contains("place")) {
        const PlaceIds &ids = places_.at(value["place"].get<std::string>());
        value = kind == PI_KIND_CONTEXT    ? ids.context
                : kind == PI_KIND_QUEUE    ? ids.queue
                : kind == PI_KIND_PLATFORM ? ids.platform
                                           : ids.device;
    } else if (value.is_structured()) {
        for (Json &element : value)
            settle(element, kind);
    }
}

const CaseCalls::PlaceIds &CaseCalls::place_of(std::string &name) const {
    if (name.empty() && place_order_.size() == 1)
        name = place_order_[0];
    const auto found = places_.find(name);
    if (found != places_.end())
        return found->second;
    if (!name.empty())
        throw Refusal(fmt::format("there is no place {0}; write before: place {0}", name));
    throw Refusal(place_order_.empty() ? "no place: begin with a line like \"place a\""
                                       : "say where: on PLACE");
}

// ----- Calls -----

void CaseCalls::release(Statement &statement) {
    if (statement.words.size() != 1 || !statement.members.empty())
        throw Refusal("release NAME");
    const std::string name = statement.words[0];
    const Named named = find(name);
    if (named.kind == Kind::usm)
        throw Refusal(fmt::format("USM is freed: free pointer={}", name));
    if (named.kind != Kind::object)
        throw Refusal(fmt::format("{} is not an object of pi.h", name));
    const auto function = releasing_function(named.object);
    if (!function)
        throw Refusal(fmt::format("{} has no references", name));
    call(statement, *function);
}

/// A call on its way from the statement to the log's form.
struct CaseCalls::Draft {
    const std::size_t index;
    const std::string function = function_rows[index].name;
    const bool unmaps = function == "piEnqueueMemUnmap";
    const bool maps = function == "piEnqueueMemBufferMap";
    const bool allocates = function == "piUsmAlloc" || function == "piEnqueueUsmAlloc";
    const bool makes_address = maps || allocates; ///< its first name; its event is the second
    pi_result expected = PI_SUCCESS;
    std::string place{};
    std::string first{};               ///< the object that the function is about, if it is a word
    std::optional<std::string> hash{}; ///< of the bytes that it reads
    Json line = Json::object();
    Json descriptor{};
    uint64_t first_id = 0;
};

void CaseCalls::call(Statement &statement, std::size_t index) {
    Draft draft{.index = index};
    if (player_of(index) == nullptr) {
        const char *const why = pi::loader::record::why_never(index);
        throw Refusal(fmt::format("{}: {}", draft.function,
                                  why != nullptr ? why : "a query: write expect NAME INFO=VALUE"));
    }
    if (!statement.fails.empty()) {
        const auto code = find_result(statement.fails);
        if (!code)
            throw Refusal(fmt::format("{} is not a result of pi.h", statement.fails));
        draft.expected = *code;
    }
    draft.line = {{"function", draft.function}, {"result", draft.expected}};
    read_words(statement, draft);
    write_out(statement, draft);
    draft.line["arguments"] = arguments(statement, draft);
    reserve_ids(statement, draft);
    if (make(statement, draft) == PI_SUCCESS)
        name_made(statement, draft);
}

/// Words: on PLACE, <bytes> of a new buffer, and the object that a function is about.
void CaseCalls::read_words(Statement &statement, Draft &draft) const {
    for (std::size_t i = 0; i < statement.words.size(); ++i) {
        const std::string &word = statement.words[i];
        if (word == "on" && i + 1 < statement.words.size())
            draft.place = statement.words[++i];
        else if (word.front() == '<' && draft.function == "piMemBufferCreate")
            statement.members.emplace_back("bytes", word);
        else if (draft.first.empty() && word.front() != '<')
            draft.first = word;
        else
            throw Refusal(fmt::format("\"{}\": write member=value", word));
    }
}

/// Members of cases only, in the words of pi.h.
void CaseCalls::write_out(Statement &statement, Draft &draft) const {
    const auto add = [&](const char *member, std::string value) {
        statement.members.emplace_back(member, std::move(value));
    };
    if (const auto bytes = statement.take("bytes")) {
        add("flags", statement.take("flags").value_or("0") + "|MEM_COPY_HOST_PTR");
        add("size", std::to_string(bytes_of(*bytes).size()));
        add("host_ptr", *bytes);
    }
    const auto gives = [&](const char *name) {
        return std::any_of(statement.members.begin(), statement.members.end(),
                           [&](const auto &member) { return member.first == name; });
    };
    if (draft.function == "piMemImport" && gives("memory") && !gives("handle"))
        add("handle", "{type=EXTERNAL_HOST_POINTER}");
    if (const auto after = statement.take("after"))
        add("wait_list", *after);
    draft.hash = statement.take("hash");
    const auto map = statement.take("map");
    if (draft.unmaps != map.has_value())
        throw Refusal(map ? "map=NAME is for unmap" : "map=NAME is missing");
    if (!map)
        return;
    const Named &named = find(*map);
    if (named.kind != Kind::map)
        throw Refusal(fmt::format("{} is not a map", *map));
    const auto data = statement.take("data");
    draft.line["map"] = named.id;
    draft.line["data"] = data ? Json::binary(bytes_of(*data)) : Json();
    if (draft.place.empty())
        draft.place = named.place;
    add("mem", std::to_string(named.mem));
}

/// The parameter that the word of a call is for: the first of its kind.
std::string CaseCalls::parameter_for(const Draft &draft) const {
    const Named &named = find(draft.first);
    const std::vector<Parameter> &parameters = parameters_of(draft.index);
    for (const Parameter &parameter : parameters) {
        const bool handle = parameter.kind == Parameter::Kind::handle;
        if (named.kind == Kind::usm
                ? parameter.kind == Parameter::Kind::address
                : handle && (named.kind == Kind::place || parameter.object == named.object))
            return std::string(parameter.name);
    }
    throw Refusal(fmt::format("{}: no parameter of {} is for it; write member={}", draft.first,
                              draft.function, draft.first));
}

/// The function's arguments. What is no parameter belongs to the descriptor.
Json CaseCalls::arguments(const Statement &statement, Draft &draft) const {
    using Shape = Parameter::Kind;
    const std::vector<Parameter> &parameters = parameters_of(draft.index);
    const Resolve resolve = resolver(draft.place);
    Json given = Json::object();
    for (const auto &[member, value] : statement.members)
        given[member] = value_of(value, resolve);
    add_sizes(given);
    if (!draft.first.empty()) {
        const std::string name = parameter_for(draft);
        if (given.contains(name))
            throw Refusal(
                fmt::format("{} and {}: two values of the parameter {}", draft.first, name, name));
        given[name] = resolve(draft.first, 0);
    }
    Json arguments = Json::array();
    std::size_t descriptor_at = parameters.size();
    for (const Parameter &parameter : parameters) {
        const std::string name(parameter.name);
        Json value;
        if (const auto found = given.find(name); found != given.end()) {
            value = *found;
            given.erase(name);
            if (parameter.kind == Shape::list && !value.is_array())
                value = Json::array({value});
            settle(value, parameter.object);
        } else if (parameter.kind == Shape::handle) {
            value = of_place(draft, parameter);
        } else if (parameter.kind == Shape::descriptor) {
            descriptor_at = arguments.size();
        } else if (parameter.kind == Shape::number) {
            value = name == "capacity" ? statement.names.size() : 0;
        } else if (parameter.kind == Shape::made || parameter.kind == Shape::output) {
            value = name != "out_event" || statement.names.size() > (draft.makes_address ? 1 : 0);
        } else if (parameter.kind == Shape::list) {
            value = Json::array();
        }
        if (parameter.kind == Shape::list && arguments.back() == 0)
            arguments.back() = value.size();
        arguments.push_back(std::move(value));
    }
    if (descriptor_at != parameters.size()) {
        settle(given, PI_KIND_DEVICE);
        draft.descriptor = std::exchange(given, Json::object());
        arguments[descriptor_at] = draft.descriptor;
    }
    if (!given.empty()) {
        std::vector<std::string_view> known;
        for (const Parameter &parameter : parameters)
            known.push_back(parameter.name);
        throw Refusal(fmt::format("{} has no parameter {}; it has {}", draft.function,
                                  given.begin().key(), fmt::join(known, ", ")));
    }
    return arguments;
}

/// The place's object for a parameter that a statement leaves out.
uint64_t CaseCalls::of_place(Draft &draft, const Parameter &parameter) const {
    switch (parameter.object) {
    case PI_KIND_PLATFORM:
        return place_of(draft.place).platform;
    case PI_KIND_DEVICE:
        return place_of(draft.place).device;
    case PI_KIND_CONTEXT:
        return place_of(draft.place).context;
    case PI_KIND_QUEUE:
        return place_of(draft.place).queue;
    default:
        throw Refusal(fmt::format("{} is missing", parameter.name));
    }
}

/// Ids of what the call makes, for its names.
void CaseCalls::reserve_ids(const Statement &statement, Draft &draft) {
    const std::size_t addresses = draft.makes_address ? 1 : 0;
    draft.first_id = next_id_;
    next_id_ += std::max<std::size_t>(statement.names.size(), addresses + 1);
    Json made = Json::array();
    for (uint64_t id = draft.first_id + addresses; id < next_id_; ++id)
        made.push_back(id);
    draft.line["made"] = made;
    if (draft.makes_address)
        draft.line[draft.maps ? "map" : "usm"] = draft.first_id;
}

pi_result CaseCalls::make(const Statement &statement, const Draft &draft) {
    Outcome outcome{};
    try {
        const auto call = std::make_shared<const Call>(
            Call{Line{statement.line, draft.line}, draft.expected, false});
        outcome = player_of(draft.index)(state_, call)();
    } catch (const CannotRun &why) {
        throw Refusal(why.what());
    }
    if (outcome.result != draft.expected) {
        const bool failed = outcome.result != PI_SUCCESS;
        const std::string text = fmt::format(
            "{}: expected {}, got {}{}{}", statement.verb, name_of_code(draft.expected),
            name_of_code(outcome.result), failed ? ": " : "", failed ? last_error() : "");
        if (outcome.result == PI_ERROR_UNSUPPORTED_FEATURE)
            throw Unsupported(text);
        throw Failure(text);
    }
    if (draft.hash && (!outcome.hash || fmt::format("\"{:016x}\"", *outcome.hash) != *draft.hash))
        throw Failure(
            fmt::format("{}: its bytes have another hash than {}", statement.verb, *draft.hash));
    return outcome.result;
}

void CaseCalls::name_made(const Statement &statement, const Draft &draft) {
    const auto number = [&](const char *member) {
        return as_number(draft.descriptor.value(member, Json(0U)), member);
    };
    for (std::size_t i = 0; i < statement.names.size(); ++i) {
        Named named{.kind = Kind::object, .id = draft.first_id + i, .place = draft.place};
        const auto object = state_.objects.find(named.id);
        if (draft.maps && i == 0) {
            named.kind = Kind::map;
            named.mem = number("mem");
        } else if (draft.allocates && i == 0) {
            named.kind = Kind::usm;
            named.size = number("size");
        } else if (object == state_.objects.end()) {
            throw Refusal(fmt::format("{} = {}: {} makes nothing", statement.names[i],
                                      statement.verb, draft.function));
        } else {
            named.object = object->second.kind;
            if (draft.function == "piMemImageCreate" || draft.function == "piMemImageViewCreate")
                named.extent = {number("width"), number("height"),
                                std::max(number("depth"), number("array_size"))};
        }
        add_name(statement.names[i], named);
    }
}

} // namespace pi_run
