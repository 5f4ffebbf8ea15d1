// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "case_calls.hpp"

#include "call_shapes.hpp"
#include "constants.hpp"
#include "player.hpp"
#include "values.hpp"

#include "layers/record/format.hpp"

#include <pi/pi.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace pi_run {
namespace {

using pi::loader::function_rows;

std::string last_error() {
    const char *text = "";
    piGetLastError(nullptr, &text);
    return text;
}

std::string releasing_function(pi_kind kind) {
    switch (kind) {
    case PI_KIND_DEVICE:
        return "piDeviceRelease";
    case PI_KIND_CONTEXT:
        return "piContextRelease";
    case PI_KIND_QUEUE:
        return "piQueueRelease";
    case PI_KIND_MEM:
        return "piMemRelease";
    case PI_KIND_EVENT:
        return "piEventRelease";
    case PI_KIND_PROGRAM:
        return "piProgramRelease";
    case PI_KIND_KERNEL:
        return "piKernelRelease";
    case PI_KIND_SAMPLER:
        return "piSamplerRelease";
    case PI_KIND_USM_POOL:
        return "piUsmPoolRelease";
    default:
        throw Refusal("has no references");
    }
}

std::string name_of_code(pi_result result) {
    const std::string name = pi::result_name(result);
    const std::string_view prefix = name.starts_with("PI_ERROR_") ? "PI_ERROR_" : "PI_";
    return name.substr(prefix.size());
}

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

void require_success(pi_result result, const std::string &what) {
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        throw Unsupported(fmt::format("{}: {}", what, last_error()));
    if (result != PI_SUCCESS)
        throw Failure(fmt::format("{}: {}: {}", what, name_of_code(result), last_error()));
}

using Query = std::function<pi_result(uint32_t, uint64_t, void *, uint64_t *)>;

template <typename Handle>
Query query(pi_result(PI_CALL *function)(Handle, uint32_t, uint64_t, void *, uint64_t *),
            void *handle) {
    return [=](auto... rest) { return function(static_cast<Handle>(handle), rest...); };
}

/// The prefix of an object's infos, and their query.
std::pair<std::string, Query> infos_of(pi_kind kind, void *handle) {
    switch (kind) {
    case PI_KIND_DEVICE:
        return {"DEVICE_INFO_", query(&piDeviceGetInfo, handle)};
    case PI_KIND_QUEUE:
        return {"QUEUE_INFO_", query(&piQueueGetInfo, handle)};
    case PI_KIND_MEM:
        return {"MEM_INFO_", query(&piMemGetInfo, handle)};
    case PI_KIND_EVENT:
        return {"EVENT_INFO_", query(&piEventGetInfo, handle)};
    case PI_KIND_PROGRAM:
        return {"PROGRAM_INFO_", query(&piProgramGetInfo, handle)};
    case PI_KIND_KERNEL:
        return {"KERNEL_INFO_", query(&piKernelGetInfo, handle)};
    case PI_KIND_SAMPLER:
        return {"SAMPLER_INFO_", query(&piSamplerGetInfo, handle)};
    case PI_KIND_USM_POOL:
        return {"USM_POOL_INFO_", query(&piUsmPoolGetInfo, handle)};
    default:
        throw Refusal("has no infos");
    }
}

/// An info's bytes as a value says them: text, bytes, or numbers as wide as the info's.
std::vector<unsigned char> bytes_of_info(const Json &value, uint64_t size) {
    if (value.is_binary())
        return {value.get_binary().begin(), value.get_binary().end()};
    std::vector<unsigned char> bytes;
    if (value.is_string()) {
        const auto &text = value.get_ref<const std::string &>();
        bytes.assign(text.begin(), text.end());
        bytes.push_back(0);
        return bytes;
    }
    const Json list = value.is_array() ? value : Json::array({value});
    const uint64_t width = list.empty() ? 0 : std::clamp<uint64_t>(size / list.size(), 1, 8);
    for (const Json &element : list) {
        if (!element.is_null() && !element.is_number_integer())
            throw Refusal("an info is a number, a name, <bytes>, a \"text\", or a list of numbers");
        const uint64_t number = element.is_null() ? 0 : element.get<uint64_t>();
        for (uint64_t i = 0; i < width; ++i)
            bytes.push_back(static_cast<unsigned char>(number >> 8 * i));
    }
    return bytes;
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
        if (statement.words.size() != 1 || names_.count(statement.words[0]) == 0)
            return false;
        release(statement);
    } else if (statement.verb == "expect") {
        if (statement.words.empty() || names_.count(statement.words[0]) == 0)
            return false;
        expect(statement);
    } else if (const auto index = find_function(statement.verb)) {
        call(statement, *index);
    } else {
        return false;
    }
    return true;
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
    pi_context_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_CONTEXT_DESC;
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

Resolve CaseCalls::resolver(std::string &place) const {
    return [this, &place](const std::string &name, uint64_t offset) -> Json {
        const Named &named = find(name);
        if (place.empty())
            place = named.place;
        switch (named.kind) {
        case Kind::usm:
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
        throw Refusal(fmt::format("{} is not a place", name));
    throw Refusal(place_order_.empty() ? "no place: begin with a line like \"place a\""
                                       : "say where: on PLACE");
}

// ----- Calls -----

void CaseCalls::release(Statement &statement) {
    const std::string name = statement.words[0];
    const Named named = find(name);
    if (named.kind != Kind::object)
        throw Refusal(fmt::format("{} is not an object of pi.h", name));
    call(statement, *find_function(releasing_function(named.object)));
}

void CaseCalls::call(Statement &statement, std::size_t index) {
    using Shape = Parameter::Kind;
    const std::string function = function_rows[index].name;
    const std::vector<Parameter> &parameters = parameters_of(index);
    if (player_of(index) == nullptr) {
        const char *const why = pi::loader::record::why_never(index);
        throw Refusal(fmt::format("{}: {}", function,
                                  why != nullptr ? why : "a query: cases say bytes and results"));
    }
    pi_result expected = PI_SUCCESS;
    if (!statement.fails.empty()) {
        const auto code = find_result(statement.fails);
        if (!code)
            throw Refusal(fmt::format("{} is not a result of pi.h", statement.fails));
        expected = *code;
    }
    std::string place;
    const Resolve resolve = resolver(place);
    const bool unmaps = function == "piEnqueueMemUnmap";
    const bool maps = function == "piEnqueueMemBufferMap";
    const bool allocates = function == "piUsmAlloc" || function == "piEnqueueUsmAlloc";
    const bool makes_address = maps || allocates; // its first name; its event is the second
    Json line = {{"function", function}, {"result", expected}};

    // Words: on PLACE, <bytes> of a new buffer, and the object that a function is about.
    std::string first;
    for (std::size_t i = 0; i < statement.words.size(); ++i) {
        const std::string &word = statement.words[i];
        if (word == "on" && i + 1 < statement.words.size()) {
            place = statement.words[++i];
        } else if (word.front() == '<' && function == "piMemBufferCreate") {
            statement.members.emplace_back("bytes", word);
        } else if (first.empty() && word.front() != '<') {
            first = word;
        } else {
            throw Refusal(fmt::format("\"{}\": write member=value", word));
        }
    }
    if (const auto bytes = statement.take("bytes")) {
        const std::size_t size = bytes_of(*bytes).size();
        const std::string flags = statement.take("flags").value_or("0");
        for (const auto &[member, value] :
             {std::pair<std::string, std::string>{"flags", flags + "|MEM_COPY_HOST_PTR"},
              {"size", std::to_string(size)},
              {"host_ptr", *bytes}})
            statement.members.emplace_back(member, value);
    }
    const auto gives = [&](const char *name) {
        return std::any_of(statement.members.begin(), statement.members.end(),
                           [&](const auto &member) { return member.first == name; });
    };
    if (function == "piMemImport" && gives("memory") && !gives("handle"))
        statement.members.emplace_back("handle", "{type=EXTERNAL_HOST_POINTER}");
    if (const auto after = statement.take("after"))
        statement.members.emplace_back("wait_list", *after);
    if (const auto data = statement.take("data"); data && unmaps)
        line["data"] = Json::binary(bytes_of(*data));
    else if (data)
        statement.members.emplace_back("data", *data);
    const auto hash = statement.take("hash");
    if (const auto map = statement.take("map")) {
        const Named &named = find(*map);
        if (!unmaps || named.kind != Kind::map)
            throw Refusal(fmt::format("map={}: it is for unmap, and names a map", *map));
        line["map"] = named.id;
        if (!line.contains("data"))
            line["data"] = nullptr;
        if (place.empty())
            place = named.place;
        Json mem = named.mem;
        statement.members.emplace_back("mem", fmt::format("{}", mem.get<uint64_t>()));
    } else if (unmaps) {
        throw Refusal("map=NAME is missing");
    }

    // The members in JSON; those that are no parameters belong to the descriptor.
    Json given = Json::object();
    for (const auto &[member, value] : statement.members)
        given[member] = value_of(value, resolve);
    add_sizes(given);
    if (!first.empty()) {
        if (given.contains(std::string(parameters[0].name)))
            throw Refusal(fmt::format("{} and {}: two values of the parameter {}", first,
                                      parameters[0].name, parameters[0].name));
        given[std::string(parameters[0].name)] = resolve(first, 0);
    }
    Json arguments = Json::array();
    std::size_t descriptor = parameters.size();
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
            const PlaceIds *ids = nullptr;
            if (parameter.object == PI_KIND_DEVICE || parameter.object == PI_KIND_CONTEXT ||
                parameter.object == PI_KIND_QUEUE || parameter.object == PI_KIND_PLATFORM)
                ids = &place_of(place);
            if (ids == nullptr)
                throw Refusal(fmt::format("{} is missing", name));
            value = parameter.object == PI_KIND_DEVICE    ? ids->device
                    : parameter.object == PI_KIND_CONTEXT ? ids->context
                    : parameter.object == PI_KIND_QUEUE   ? ids->queue
                                                          : ids->platform;
        } else if (parameter.kind == Shape::descriptor) {
            descriptor = arguments.size();
        } else if (parameter.kind == Shape::number) {
            value = name == "capacity" ? statement.names.size() : 0;
        } else if (parameter.kind == Shape::made || parameter.kind == Shape::output) {
            value = name != "out_event" || statement.names.size() > (makes_address ? 1 : 0);
        } else if (parameter.kind == Shape::list) {
            value = Json::array();
        }
        if (parameter.kind == Shape::list && arguments.back() == 0)
            arguments.back() = value.size();
        arguments.push_back(std::move(value));
    }
    if (descriptor != parameters.size() && arguments[descriptor].is_null()) {
        settle(given, PI_KIND_DEVICE);
        arguments[descriptor] = std::exchange(given, Json::object());
    }
    if (!given.empty()) {
        std::vector<std::string_view> known;
        for (const Parameter &parameter : parameters)
            known.push_back(parameter.name);
        throw Refusal(fmt::format("{} has no parameter {}; it has {}", function,
                                  given.begin().key(), fmt::join(known, ", ")));
    }
    line["arguments"] = arguments;

    // What the call makes.
    const uint64_t first_id = next_id_;
    next_id_ += std::max<std::size_t>(statement.names.size(), makes_address ? 2 : 1);
    Json made = Json::array();
    for (uint64_t id = first_id + (makes_address ? 1 : 0); id < next_id_; ++id)
        made.push_back(id);
    line["made"] = made;
    line[maps ? "map" : "usm"] = first_id;

    Outcome outcome{};
    try {
        const auto recorded = std::make_shared<const Call>(
            Call{Line{statement.line, std::move(line)}, expected, false});
        const End end = player_of(index)(state_, recorded);
        outcome = end();
    } catch (const CannotRun &why) {
        throw Refusal(why.what());
    }
    if (outcome.result != expected) {
        const std::string text =
            fmt::format("{}: expected {}, got {}{}{}", statement.verb, name_of_code(expected),
                        name_of_code(outcome.result), outcome.result != PI_SUCCESS ? ": " : "",
                        outcome.result != PI_SUCCESS ? last_error() : "");
        if (outcome.result == PI_ERROR_UNSUPPORTED_FEATURE)
            throw Unsupported(text);
        throw Failure(text);
    }
    if (outcome.result != PI_SUCCESS)
        return;
    if (hash && (!outcome.hash || fmt::format("\"{:016x}\"", *outcome.hash) != *hash))
        throw Failure(
            fmt::format("{}: its bytes have another hash than {}", statement.verb, *hash));
    for (std::size_t i = 0; i < statement.names.size(); ++i) {
        Named named{.kind = Kind::object, .id = first_id + i, .place = place};
        if (maps && i == 0) {
            named.kind = Kind::map;
            named.mem = as_number(arguments[1].value("mem", Json(0)), "mem");
        } else if (allocates && i == 0) {
            named.kind = Kind::usm;
            named.size = as_number(arguments[descriptor].value("size", Json(0)), "size");
        } else if (const auto object = state_.objects.find(named.id);
                   object != state_.objects.end()) {
            named.object = object->second.kind;
            if (function == "piMemImageCreate" || function == "piMemImageViewCreate") {
                const auto axis = [&](const char *name) {
                    return as_number(arguments[descriptor].value(name, Json(0U)), name);
                };
                named.extent = {axis("width"), axis("height"),
                                std::max(axis("depth"), axis("array_size"))};
            }
        } else {
            throw Refusal(fmt::format("{} = {}: {} makes nothing", statement.names[i],
                                      statement.verb, function));
        }
        add_name(statement.names[i], named);
    }
}

// ----- Expectations -----

void CaseCalls::finish() {
    for (const auto &[line, event] : std::exchange(state_.enqueued, {})) {
        const pi_result result = piEventWait(event.get(), case_patience);
        if (result == PI_ERROR_TIMEOUT)
            throw Hang(fmt::format("the command of line {} does not end within 20 s (does it wait "
                                   "for a gate that no line signals?)",
                                   line));
        if (result != PI_SUCCESS && may_fail_.count(line) == 0)
            throw Failure(fmt::format("the command of line {} failed: {}: {}", line,
                                      name_of_code(result), last_error()));
    }
}

uint64_t CaseCalls::size_of(const Named &named) const {
    switch (named.kind) {
    case Kind::map:
        return state_.maps.at(named.id).size;
    case Kind::object: {
        const Object &object = state_.objects.at(named.id);
        uint64_t size = 0;
        if (object.kind != PI_KIND_MEM)
            throw Refusal("has no bytes");
        require_success(piMemGetInfo(static_cast<pi_mem>(object.handle), PI_MEM_INFO_SIZE,
                                     sizeof size, &size, nullptr),
                        "piMemGetInfo");
        return size;
    }
    case Kind::place:
        throw Refusal("a place has no bytes");
    default:
        return named.size;
    }
}

std::vector<unsigned char> CaseCalls::bytes_at(const std::string &name, uint64_t offset,
                                               uint64_t size) {
    const Named &named = find(name);
    std::vector<unsigned char> bytes(size);
    const auto copied = [&](const void *from) {
        const auto *const begin = static_cast<const unsigned char *>(from) + offset;
        std::copy(begin, begin + size, bytes.begin());
        return bytes;
    };
    if (named.kind == Kind::memory)
        return copied(state_.named_memory.at(named.id).bytes);
    if (named.kind == Kind::map) {
        const OpenMap &map = state_.maps.at(named.id);
        if (!map.stands())
            throw Refusal(fmt::format("{} is unmapped", name));
        require_success(piEventWait(map.event.get(), case_patience), "map");
        return copied(*map.place);
    }
    std::string place = named.place;
    const auto queue = static_cast<pi_queue>(state_.objects.at(place_of(place).queue).handle);
    pi_region region{};
    region.extent[0] = size;
    region.src_offset = offset;
    if (named.kind == Kind::usm) {
        pi_usm_copy_desc desc{};
        desc.struct_size = sizeof desc;
        desc.type = PI_TYPE_USM_COPY_DESC;
        desc.flags = PI_COMMAND_BLOCKING;
        desc.src = state_.usm.at(named.id);
        desc.dst = bytes.data();
        desc.region_count = 1;
        desc.regions = &region;
        require_success(piEnqueueUsmCopy(queue, &desc, 0, nullptr, nullptr), "piEnqueueUsmCopy");
    } else if (named.extent[0] != 0) {
        read_image(queue, named, bytes.data());
    } else {
        pi_buffer_read_desc desc{};
        desc.struct_size = sizeof desc;
        desc.type = PI_TYPE_BUFFER_READ_DESC;
        desc.flags = PI_COMMAND_BLOCKING;
        desc.mem = static_cast<pi_mem>(state_.objects.at(named.id).handle);
        desc.host_ptr = bytes.data();
        desc.region_count = 1;
        desc.regions = &region;
        require_success(piEnqueueMemBufferRead(queue, &desc, 0, nullptr, nullptr),
                        "piEnqueueMemBufferRead");
    }
    return bytes;
}

void CaseCalls::read_image(pi_queue queue, const Named &named, unsigned char *bytes) const {
    pi_image_region region{};
    std::copy(named.extent.begin(), named.extent.end(), region.extent);
    pi_image_read_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_IMAGE_READ_DESC;
    desc.flags = PI_COMMAND_BLOCKING;
    desc.image = static_cast<pi_mem>(state_.objects.at(named.id).handle);
    desc.host_ptr = bytes;
    desc.region_count = 1;
    desc.regions = &region;
    require_success(piEnqueueMemImageRead(queue, &desc, 0, nullptr, nullptr),
                    "piEnqueueMemImageRead");
}

void CaseCalls::expect_result(pi_event event, const std::string &name, const std::string &code) {
    if (code == "pending") {
        pi_event_status status = PI_EVENT_QUEUED;
        require_success(
            piEventGetInfo(event, PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr),
            "piEventGetInfo");
        if (status == PI_EVENT_COMPLETE)
            throw Failure(fmt::format("{} is complete, should be pending", name));
        return;
    }
    const auto expected = find_result(code);
    if (!expected)
        throw Refusal(fmt::format("{} is not a result of pi.h, <bytes> or pending", code));
    const pi_result result = piEventWait(event, case_patience);
    if (result == PI_ERROR_TIMEOUT && *expected != PI_ERROR_TIMEOUT)
        throw Hang(fmt::format("{} is not complete within 20 s", name));
    if (result != *expected)
        throw Failure(fmt::format("{}: expected {}, got {}{}{}", name, name_of_code(*expected),
                                  name_of_code(result), result != PI_SUCCESS ? ": " : "",
                                  result != PI_SUCCESS ? last_error() : ""));
}

void CaseCalls::expect_infos(const Named &named, const Statement &statement) const {
    const auto handle_of = [&](uint64_t id) { return state_.objects.at(id).handle; };
    std::pair<std::string, Query> infos;
    if (named.kind == Kind::place) {
        infos = infos_of(PI_KIND_DEVICE, handle_of(places_.at(named.place).device));
    } else if (named.kind == Kind::usm) {
        const auto context = static_cast<pi_context>(handle_of(places_.at(named.place).context));
        const void *const pointer = state_.usm.at(named.id);
        infos = {"USM_INFO_",
                 [=](auto... rest) { return piUsmGetInfo(context, pointer, rest...); }};
    } else if (named.kind == Kind::object) {
        infos = infos_of(named.object, handle_of(named.id));
    } else {
        throw Refusal("has no infos");
    }
    for (const auto &[name, text] : statement.members) {
        const auto info = find_constant(infos.first + name);
        if (!info)
            throw Refusal(fmt::format("{}{} is not an info of pi.h", infos.first, name));
        // A name is the object's handle, or the memory's address.
        const Json value = value_of(text, [&](const std::string &word, uint64_t offset) -> Json {
            const Named &meant = find(word);
            const void *address = nullptr;
            if (meant.kind == Kind::place) {
                const PlaceIds &ids = places_.at(word);
                address = handle_of(name == "CONTEXT"    ? ids.context
                                    : name == "QUEUE"    ? ids.queue
                                    : name == "PLATFORM" ? ids.platform
                                                         : ids.device);
            } else if (meant.kind == Kind::usm) {
                address = state_.usm.at(meant.id) + offset;
            } else if (meant.kind == Kind::memory) {
                address = state_.named_memory.at(meant.id).bytes + offset;
            } else {
                address = handle_of(meant.id);
            }
            return reinterpret_cast<uintptr_t>(address);
        });
        const std::string what = fmt::format("{} {}", statement.words[0], name);
        uint64_t size = 0;
        const auto number = static_cast<uint32_t>(*info);
        require_success(infos.second(number, 0, nullptr, &size), what);
        std::vector<unsigned char> bytes(size);
        require_success(infos.second(number, size, bytes.data(), nullptr), what);
        const std::vector<unsigned char> expected = bytes_of_info(value, size);
        if (bytes != expected)
            throw Failure(fmt::format("{}: expected {}, which is {}, got {}", what, text,
                                      text_of_bytes(expected), text_of_bytes(bytes)));
    }
}

void CaseCalls::expect(Statement &statement) {
    if (statement.words.size() == 1 && !statement.members.empty())
        return expect_infos(find(statement.words[0]), statement);
    if (statement.words.size() != 2)
        throw Refusal("expect NAME <bytes> [offset=N], expect EVENT CODE, or: expect NAME "
                      "INFO=VALUE");
    const std::string &name = statement.words[0], &value = statement.words[1];
    const Named named = find(name);
    if (named.kind == Kind::object && named.object == PI_KIND_EVENT)
        return expect_result(static_cast<pi_event>(state_.objects.at(named.id).handle), name,
                             value);
    const std::vector<unsigned char> expected = bytes_of(value);
    const auto offset = statement.take("offset");
    const uint64_t begin = offset ? number_of(*offset) : 0;
    if (!statement.members.empty())
        throw Refusal(
            fmt::format("expect has no member {}; it has offset", statement.members[0].first));
    if (named.kind != Kind::map)
        finish();
    const uint64_t size = size_of(named);
    if (offset && named.extent[0] != 0)
        throw Refusal("of an image all bytes are compared, without offset");
    if (begin > size || expected.size() > size - begin || (!offset && expected.size() != size))
        throw Refusal(fmt::format("{} has {} bytes, the expectation {}{}", name, size,
                                  expected.size(),
                                  offset ? "" : "; with offset=N it may be a part"));
    require_equal(name, begin, expected, bytes_at(name, begin, expected.size()));
}

void require_equal(const std::string &what, uint64_t offset,
                   std::span<const unsigned char> expected, std::span<const unsigned char> bytes) {
    std::size_t first = expected.size(), different = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] != bytes[i]) {
            first = std::min(first, i);
            ++different;
        }
    }
    if (different == 0)
        return;
    std::string text = text_of_bytes(bytes.first(std::min<std::size_t>(bytes.size(), 1 << 16)));
    if (text.size() > 160)
        text = text.substr(0, 160) + "...";
    throw Failure(fmt::format("{}: byte {} is {:02x}, should be {:02x}; {} of {} bytes differ; "
                              "there is {}",
                              what, offset + first, bytes[first], expected[first], different,
                              expected.size(), text));
}

} // namespace pi_run
