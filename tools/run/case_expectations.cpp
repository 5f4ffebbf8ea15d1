// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a case expects: bytes, results of commands, infos.
#include "case_calls.hpp"
#include "constants.hpp"
#include "values.hpp"

#include <pi/describe/descriptor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace pi_run {
namespace {

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
    case Kind::map: {
        const auto map = state_.maps.find(named.id);
        if (map == state_.maps.end())
            throw Refusal("the map is over");
        return map->second.size;
    }
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

pi::Queue CaseCalls::queue_for(const Named &named) const {
    pi_device device = nullptr;
    pi_context context = nullptr;
    if (named.kind == Kind::object) {
        const auto mem = static_cast<pi_mem>(state_.objects.at(named.id).handle);
        require_success(piMemGetInfo(mem, PI_MEM_INFO_CONTEXT, sizeof context, &context, nullptr),
                        "piMemGetInfo");
        require_success(piMemGetInfo(mem, PI_MEM_INFO_DEVICE, sizeof device, &device, nullptr),
                        "piMemGetInfo");
    } else {
        std::string place = named.place;
        const PlaceIds &ids = place_of(place);
        context = static_cast<pi_context>(state_.objects.at(ids.context).handle);
        device = static_cast<pi_device>(state_.objects.at(ids.device).handle);
    }
    pi_queue queue = nullptr;
    require_success(piQueueCreate(context, device, nullptr, &queue), "piQueueCreate");
    return pi::Queue::adopt(queue);
}

std::vector<unsigned char> CaseCalls::bytes_at(const std::string &name, uint64_t offset,
                                               uint64_t size) {
    const Named &named = find(name);
    require_alive(name, named);
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
    const pi::Queue owner = queue_for(named);
    pi_queue queue = owner.get();
    pi_region region{};
    region.extent[0] = size;
    region.src_offset = offset;
    if (named.kind == Kind::usm) {
        auto desc = pi::desc<pi_usm_copy_desc>();
        desc.flags = PI_COMMAND_BLOCKING;
        desc.src = state_.usm.at(named.id);
        desc.dst = bytes.data();
        desc.region_count = 1;
        desc.regions = &region;
        require_success(piEnqueueUsmCopy(queue, &desc, 0, nullptr, nullptr), "piEnqueueUsmCopy");
    } else if (named.extent[0] != 0) {
        read_image(queue, named, bytes.data());
    } else {
        auto desc = pi::desc<pi_buffer_read_desc>();
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
    auto desc = pi::desc<pi_image_read_desc>();
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
            require_alive(word, meant);
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
    if (statement.words.size() == 1 && !statement.members.empty()) {
        const Named named = find(statement.words[0]);
        require_alive(statement.words[0], named);
        return expect_infos(named, statement);
    }
    if (statement.words.size() != 2)
        throw Refusal("expect NAME <bytes> [offset=N], expect EVENT CODE, or: expect NAME "
                      "INFO=VALUE");
    const std::string &name = statement.words[0], &value = statement.words[1];
    const Named named = find(name);
    require_alive(name, named);
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
        throw Refusal(
            offset ? fmt::format("{} has {} bytes; these are {} from byte {} on", name, size,
                                 expected.size(), begin)
                   : fmt::format("{} has {} bytes, the expectation {}; with offset=N it may be a "
                                 "part",
                                 name, size, expected.size()));
    require_equal(name, begin, expected, bytes_at(name, begin, expected.size()));
}

} // namespace pi_run
