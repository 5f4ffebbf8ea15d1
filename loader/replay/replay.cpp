// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay.hpp"

#include "layers/layers.hpp"
#include "layers/record/format.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

namespace pi_replay {
namespace {

using namespace pi::loader;
using namespace pi::loader::record;

/// No memory of one call is larger.
constexpr uint64_t max_bytes = UINT64_C(1) << 32;
/// No wait is longer: a command that never ends is told as a difference.
constexpr uint64_t patience = UINT64_C(60'000'000'000);

/// Why a line is left out; the log is in order.
struct LeftOut : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Free {
    void operator()(void *memory) const noexcept { std::free(memory); }
};

/// Memory that stays as long as the object.
class Storage {
public:
    /// Zeros, aligned to a page.
    unsigned char *bytes(uint64_t size) {
        if (size > max_bytes)
            throw LeftOut(
                fmt::format("needs {} bytes of the host, which is more than 4 GiB", size));
        const std::size_t whole = (static_cast<std::size_t>(size) + 4095) / 4096 * 4096;
        memory_.emplace_back(std::aligned_alloc(4096, whole != 0 ? whole : 4096));
        if (memory_.back() == nullptr)
            throw std::bad_alloc();
        return static_cast<unsigned char *>(std::memset(memory_.back().get(), 0, whole));
    }
    template <typename Type>
    Type *array(std::size_t count) {
        return reinterpret_cast<Type *>(bytes(count * sizeof(Type)));
    }

private:
    std::vector<std::unique_ptr<void, Free>> memory_;
};

struct Object {
    void *handle;
    pi_kind kind;
    uint64_t references; ///< of the log's program
    bool root;           ///< nobody has made it
};

struct OpenMap {
    pi_event event;
    void **place;
    uint64_t size;
    bool writes;
};

template <typename Handle>
void release(Handle handle) {
    if constexpr (std::is_same_v<Handle, pi_event>)
        piEventRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_mem>)
        piMemRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_kernel>)
        piKernelRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_program>)
        piProgramRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_queue>)
        piQueueRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_context>)
        piContextRelease(handle);
}

uint64_t as_number(const Json &value, const char *what) {
    if (!value.is_number_integer() || (value.is_number_integer() && !value.is_number_unsigned()))
        throw Refusal(fmt::format("{} is no number that is not negative", what));
    return value.get<uint64_t>();
}

template <typename Word>
Word as_word(const Json &value, const char *what) {
    if constexpr (std::is_signed_v<Word>) {
        if (!value.is_number_integer())
            throw Refusal(fmt::format("{} is no number", what));
        return static_cast<Word>(value.get<int64_t>());
    } else {
        const uint64_t number = as_number(value, what);
        if (number > std::numeric_limits<Word>::max())
            throw Refusal(fmt::format("{} is {}, which is too large", what, number));
        return static_cast<Word>(number);
    }
}

const Json &member(const Json &object, const char *name) {
    const auto found = object.find(name);
    if (found == object.end())
        throw Refusal(fmt::format("has no \"{}\"", name));
    return *found;
}

const Json &array_of(const Json &value, const char *what) {
    if (!value.is_array())
        throw Refusal(fmt::format("{} is no list", what));
    return value;
}

} // namespace

struct Replay::State {
    pi_loader loader = nullptr;
    std::vector<pi_device> devices;
    std::size_t devices_used = 0;
    std::map<uint64_t, Object> objects;
    std::map<uint64_t, std::string> unmade; ///< ids of what a call has not made, and why
    std::map<uint64_t, OpenMap> maps;
    Storage kept; ///< of what may be used behind its call

    ~State() {
        // What waits for the log's program fails now; so all commands end, and then their memory may go.
        release_all<pi_event>();
        for (const auto &[id, object] : objects) {
            if (object.kind == PI_KIND_QUEUE)
                piQueueFinish(static_cast<pi_queue>(object.handle));
        }
        for (const auto &[id, map] : maps)
            piEventRelease(map.event);
        release_all<pi_mem>();
        release_all<pi_kernel>();
        release_all<pi_program>();
        release_all<pi_queue>();
        release_all<pi_context>();
        if (loader != nullptr)
            piLoaderRelease(loader);
    }
    template <typename Handle>
    void release_all() {
        for (auto &[id, object] : objects) {
            for (;
                 object.kind == HandleTraits<Handle>::kind && !object.root && object.references > 0;
                 --object.references)
                release(static_cast<Handle>(object.handle));
        }
    }

    template <typename Handle>
    Handle find(const Json &id) {
        if (id.is_null())
            return nullptr;
        const uint64_t number = as_number(id, "an id");
        const auto found = objects.find(number);
        if (found == objects.end()) {
            if constexpr (std::is_same_v<Handle, pi_device>) {
                if (unmade.count(number) == 0)
                    return use_device(number);
            }
            const auto why = unmade.find(number);
            throw LeftOut(
                why != unmade.end()
                    ? fmt::format("needs object {}, which {}", number, why->second)
                    : fmt::format("needs object {}, which no line before has made", number));
        }
        if (found->second.kind != HandleTraits<Handle>::kind)
            throw Refusal(fmt::format("object {} is a {}, and should be a {}", number,
                                      word_of(found->second.kind),
                                      word_of(HandleTraits<Handle>::kind)));
        return static_cast<Handle>(found->second.handle);
    }
    static std::string word_of(pi_kind kind) {
        constexpr const char *words[] = {"",        "loader",  "plugin",  "platform", "device",
                                         "context", "queue",   "mem",     "event",    "program",
                                         "kernel",  "sampler", "usm pool"};
        return words[kind];
    }
    pi_device use_device(uint64_t id) {
        if (devices_used == devices.size())
            throw Refusal(fmt::format("the log uses more devices than the {} of the selector",
                                      devices.size()));
        const pi_device device = devices[devices_used++];
        objects[id] = {device, PI_KIND_DEVICE, 1, true};
        return device;
    }
};

namespace {

struct Call {
    const Json &line;
    const Json &arguments;
    pi_result expected;
};

/// The archive that reads: an object into a descriptor.
class Reader {
public:
    Reader(Replay::State &state, const Call &call, Storage &storage)
        : state_(state), call_(call), storage_(storage) {}

    template <typename Desc>
    Desc *descriptor(const Json &object) {
        if (object.is_null())
            return nullptr;
        if (!object.is_object())
            throw Refusal("a descriptor is no object");
        const Json *const outer = std::exchange(object_, &object);
        auto *const desc = storage_.array<Desc>(1);
        desc->struct_size = sizeof(Desc);
        desc->type = described<Desc>;
        members(*this, *desc);
        object_ = outer;
        return desc;
    }

    void cannot(const char *why) { throw LeftOut(why); }
    template <typename Word>
    void number(const char *name, Word &word) {
        word = as_word<Word>(member(*object_, name), name);
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, Word (&words)[Size]) {
        read_numbers(*object_, name, words);
    }
    template <typename Word>
    void list(const char *name, uint32_t &count, const Word *&words) {
        const Json &value = member(*object_, name);
        if (value.is_null())
            return;
        count = static_cast<uint32_t>(array_of(value, name).size());
        auto *const own = storage_.array<Word>(count);
        for (uint32_t i = 0; i < count; ++i)
            own[i] = as_word<Word>(value[i], name);
        words = own;
    }
    template <typename Handle>
    void handle(const char *name, Handle &handle) {
        handle = state_.find<Handle>(member(*object_, name));
    }
    template <typename Handle>
    void handles(const char *name, uint32_t &count, const Handle *&list) {
        list = handle_list<Handle>(member(*object_, name), name, count);
    }
    template <typename Handle>
    const Handle *handle_list(const Json &value, const char *name, uint32_t &count) {
        if (value.is_null())
            return nullptr;
        count = static_cast<uint32_t>(array_of(value, name).size());
        auto *const own = storage_.array<Handle>(count);
        for (uint32_t i = 0; i < count; ++i)
            own[i] = state_.find<Handle>(value[i]);
        return own;
    }
    void text(const char *name, const char *&text) {
        const Json &value = member(*object_, name);
        if (!value.is_null() && !value.is_string())
            throw Refusal(fmt::format("{} is no string", name));
        text = value.is_null() ? nullptr : value.get_ref<const std::string &>().c_str();
    }
    template <typename Address>
    void data(const char *name, Address &address, uint64_t size) {
        address = bytes(member(*object_, name), name, size);
    }
    void regions(uint32_t &count, const pi_region *&regions) {
        const Json &value = member(*object_, "regions");
        if (value.is_null())
            return;
        count = static_cast<uint32_t>(array_of(value, "regions").size());
        auto *const own = storage_.array<pi_region>(count);
        for (uint32_t i = 0; i < count; ++i) {
            if (!value[i].is_object())
                throw Refusal("a region is no object");
            own[i].src_offset = as_number(member(value[i], "src_offset"), "src_offset");
            own[i].dst_offset = as_number(member(value[i], "dst_offset"), "dst_offset");
            read_numbers(value[i], "extent", own[i].extent);
            read_numbers(value[i], "src_pitch", own[i].src_pitch);
            read_numbers(value[i], "dst_pitch", own[i].dst_pitch);
        }
        regions = own;
    }
    void source(pi_buffer_write_desc &desc) {
        const Json &value = member(*object_, "host_ptr");
        if (value.is_null())
            return;
        unsigned char *const memory = host_side(desc, true);
        desc.host_ptr = memory;
        if (value == true && call_.expected != PI_SUCCESS)
            return;
        const auto bytes = decoded(value, "host_ptr");
        std::size_t used = 0;
        rows(desc, true, [&](uint64_t offset, uint64_t size) {
            if (size > bytes.size() - used)
                throw Refusal("host_ptr has fewer bytes than the regions");
            std::memcpy(memory + offset, bytes.data() + used, size);
            used += size;
        });
        if (used != bytes.size())
            throw Refusal("host_ptr has more bytes than the regions");
    }
    void target(pi_buffer_read_desc &desc) {
        if (member(*object_, "host_ptr") == true)
            desc.host_ptr = host_side(desc, false);
    }
    void arguments(uint32_t &count, const pi_kernel_argument *&arguments) {
        const Json &value = member(*object_, "arguments");
        if (value.is_null())
            return;
        count = static_cast<uint32_t>(array_of(value, "arguments").size());
        auto *const own = storage_.array<pi_kernel_argument>(count);
        for (uint32_t i = 0; i < count; ++i)
            argument(value[i], own[i]);
        arguments = own;
    }
    void layout(const void *&next) {
        if (object_->contains("next"))
            next = descriptor<pi_mem_layout_desc>((*object_)["next"]);
    }
    void place(pi_buffer_map_desc &desc) {
        if (member(*object_, "out_pointer") == true)
            desc.out_pointer = state_.kept.array<void *>(1);
    }
    void mapped(pi_unmap_desc &) {} // the caller knows the map

private:
    template <std::size_t Size>
    static void read_numbers(const Json &object, const char *name, uint64_t (&words)[Size]) {
        const Json &value = array_of(member(object, name), name);
        if (value.size() != Size)
            throw Refusal(
                fmt::format("{} has {} numbers, should have {}", name, value.size(), Size));
        for (std::size_t i = 0; i < Size; ++i)
            words[i] = as_number(value[i], name);
    }
    static std::basic_string<unsigned char> decoded(const Json &value, const char *name) {
        auto bytes =
            value.is_string() ? decode(value.get_ref<const std::string &>()) : std::nullopt;
        if (!bytes)
            throw Refusal(fmt::format("{} is no base64", name));
        return *std::move(bytes);
    }
    unsigned char *bytes(const Json &value, const char *name, uint64_t size) {
        if (value.is_null())
            return nullptr;
        if (value == true && call_.expected != PI_SUCCESS)
            return storage_.bytes(size);
        const auto bytes = decoded(value, name);
        if (bytes.size() != size)
            throw Refusal(fmt::format("{} has {} bytes, should have {}", name, bytes.size(), size));
        return static_cast<unsigned char *>(
            std::memcpy(storage_.bytes(size), bytes.data(), bytes.size()));
    }
    template <typename Desc, typename Visit>
    static void rows(const Desc &desc, bool host_is_source, Visit &&visit) {
        for (uint32_t i = 0; i < desc.region_count; ++i) {
            if (!for_each_row(desc.regions[i], host_is_source, max_bytes, visit))
                throw LeftOut("a region needs more than 4 GiB of the host");
        }
    }
    template <typename Desc>
    unsigned char *host_side(const Desc &desc, bool host_is_source) {
        uint64_t end = 0;
        rows(desc, host_is_source,
             [&](uint64_t offset, uint64_t size) { end = std::max(end, offset + size); });
        return storage_.bytes(end);
    }
    void argument(const Json &value, pi_kernel_argument &argument) {
        if (!value.is_object())
            throw Refusal("an argument is no object");
        argument.kind = as_word<uint32_t>(member(value, "kind"), "kind");
        if (argument.kind == PI_ARGUMENT_BUFFER) {
            argument.mem = state_.find<pi_mem>(member(value, "mem"));
            argument.offset = as_number(member(value, "offset"), "offset");
        } else if (argument.kind != PI_ARGUMENT_VALUE && argument.kind != PI_ARGUMENT_LOCAL) {
            throw LeftOut("an argument is neither a value nor a buffer");
        }
        argument.size = as_number(member(value, "size"), "size");
        if (argument.kind == PI_ARGUMENT_VALUE)
            argument.value = bytes(member(value, "value"), "value", argument.size);
    }

    Replay::State &state_;
    const Call &call_;
    Storage &storage_;
    const Json *object_ = nullptr;
};

struct Outcome {
    pi_result result;
    std::optional<uint64_t> hash; ///< of the bytes that it gave
};

uint64_t hash_of_read(const pi_buffer_read_desc &desc) {
    uint64_t hash = hash_bytes({});
    for (uint32_t i = 0; i < desc.region_count; ++i)
        for_each_row(desc.regions[i], false, max_bytes, [&](uint64_t offset, uint64_t size) {
            hash = hash_bytes({static_cast<const unsigned char *>(desc.host_ptr) + offset,
                               static_cast<std::size_t>(size)},
                              hash);
        });
    return hash;
}

void check(pi_result result, const char *function) {
    const char *text = "";
    if (result == PI_SUCCESS)
        return;
    piGetLastError(nullptr, &text);
    throw Refusal(fmt::format("{}: {}", function, text));
}

/// Makes a call of a function again.
template <auto Slot, std::size_t Index, typename Function>
struct Player;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Player<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static constexpr bool releases = sizeof...(Rest) == 0 && ends_with(Index, "Release");
    static constexpr bool retains = sizeof...(Rest) == 0 && ends_with(Index, "Retain");

    static Outcome play(Replay::State &state, const Call &call) {
        if (call.arguments.size() != 1 + sizeof...(Rest))
            throw Refusal(fmt::format("has {} arguments, should have {}", call.arguments.size(),
                                      1 + sizeof...(Rest)));
        Player player{state, call};
        std::tuple<Rest...> rest{};
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (player.template read<I>(rest), ...);
        }
        (std::index_sequence_for<Rest...>());
        const Handle handle = player.first();
        if (handle == nullptr)
            throw Refusal("its first argument is null");
        return player.make(handle, rest);
    }

private:
    Player(Replay::State &state, const Call &call) : state_(state), call_(call) {}

    Handle first() {
        if constexpr (std::is_same_v<Handle, pi_platform>)
            return platform();
        else
            return state_.template find<Handle>(call_.arguments[0]);
    }
    // The log's platforms are those of its devices.
    pi_platform platform() {
        const Json &desc = call_.arguments[1];
        pi_device device = state_.devices.at(0);
        if (desc.is_object() && desc.contains("devices") && desc["devices"].is_array() &&
            !desc["devices"].empty() && !desc["devices"][0].is_null())
            device = state_.template find<pi_device>(desc["devices"][0]);
        pi_platform platform = nullptr;
        check(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr),
              "piDeviceGetInfo");
        return platform;
    }

    template <std::size_t I>
    void read(std::tuple<Rest...> &rest) {
        using Type = std::tuple_element_t<I, std::tuple<Rest...>>;
        Type &out = std::get<I>(rest);
        const Json &value = call_.arguments[I + 1];
        Reader reader(state_, call_, storage());
        if constexpr (is_handle<Type>) {
            out = state_.template find<Type>(value);
        } else if constexpr (std::is_integral_v<Type>) {
            out = as_word<Type>(value, "an argument");
        } else if constexpr (std::is_same_v<Type, const char *>) {
            if (!value.is_null() && !value.is_string())
                throw Refusal("an argument is no string");
            out = value.is_null() ? nullptr : value.get_ref<const std::string &>().c_str();
        } else if constexpr (std::is_same_v<Type, const pi_event *>) {
            uint32_t count = std::get<I - 1>(rest);
            out = reader.template handle_list<pi_event>(value, "a wait list", count);
            if (count != std::get<I - 1>(rest))
                throw Refusal(fmt::format("its wait list has {} events, should have {}", count,
                                          std::get<I - 1>(rest)));
        } else if constexpr (is_out_handle<Type>) {
            if (value == true)
                out = &made_;
        } else if constexpr (std::is_pointer_v<Type>) {
            using Desc = std::remove_const_t<std::remove_pointer_t<Type>>;
            if constexpr (described<Desc> != PI_TYPE_NONE)
                out = reader.template descriptor<Desc>(value);
        }
    }

    // Commands that do not block, and buffers around host memory, use it behind the call.
    Storage &storage() {
        if constexpr (is_command<pi_result (*)(Handle, Rest...)> ||
                      same_slot<Slot, &pi_dispatch::piMemBufferCreate>)
            return state_.kept;
        else
            return own_;
    }

    Outcome make(Handle handle, std::tuple<Rest...> &rest) {
        [[maybe_unused]] pi_event map_event = nullptr;
        Outcome outcome{};
        if constexpr (same_slot<Slot, &pi_dispatch::piEventWait>) {
            std::get<0>(rest) = patience;
        } else if constexpr (same_slot<Slot, &pi_dispatch::piEnqueueMemUnmap>) {
            if (std::get<0>(rest) == nullptr)
                throw Refusal("its descriptor is null");
            outcome.hash = unmap(*std::get<0>(rest));
        } else if constexpr (same_slot<Slot, &pi_dispatch::piEnqueueMemBufferMap>) {
            if (std::get<sizeof...(Rest) - 1>(rest) == nullptr)
                std::get<sizeof...(Rest) - 1>(rest) = &map_event;
        }
        outcome.result = std::apply(
            [&](auto... arguments) { return (dispatch_of(handle)->*Slot)(handle, arguments...); },
            rest);
        if (outcome.result != PI_SUCCESS)
            return outcome;
        if constexpr (same_slot<Slot, &pi_dispatch::piEnqueueMemBufferMap>)
            keep_map(*std::get<0>(rest), *std::get<sizeof...(Rest) - 1>(rest),
                     map_event != nullptr);
        if constexpr (same_slot<Slot, &pi_dispatch::piEnqueueMemBufferRead>) {
            const auto *const desc = std::get<0>(rest);
            if (desc != nullptr && (desc->flags & PI_COMMAND_BLOCKING) != 0)
                outcome.hash = hash_of_read(*desc);
        }
        if constexpr (releases || retains)
            count();
        if constexpr (is_handle<Made>)
            note_made();
        return outcome;
    }

    void count() {
        const auto object = state_.objects.find(as_number(call_.arguments[0], "an id"));
        if (object == state_.objects.end() || object->second.root)
            return;
        object->second.references += retains ? 1 : 0;
        if (releases && --object->second.references == 0) {
            state_.unmade[object->first] = "is gone";
            state_.objects.erase(object);
        }
    }

    void note_made() {
        if (made_ == nullptr)
            return;
        const auto ids = call_.line.find("made");
        if (call_.expected != PI_SUCCESS) {
            release(made_);
            return;
        }
        if (ids == call_.line.end() || !ids->is_array() || ids->size() != 1 ||
            state_.objects.count(as_number((*ids)[0], "made")) != 0) {
            release(made_);
            throw Refusal("\"made\" is no new id");
        }
        state_.objects[as_number((*ids)[0], "made")] = {made_, HandleTraits<Made>::kind, 1, false};
    }

    void keep_map(const pi_buffer_map_desc &desc, pi_event event, bool own) {
        if (!own)
            piEventRetain(event);
        const auto id = call_.line.find("map");
        if (id == call_.line.end() || !id->is_number_unsigned() ||
            state_.maps.count(id->get<uint64_t>()) != 0) {
            piEventRelease(event);
            if (call_.expected == PI_SUCCESS)
                throw Refusal("\"map\" is no new id");
            return;
        }
        state_.maps[id->get<uint64_t>()] = {event, desc.out_pointer, desc.size,
                                            (desc.flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) !=
                                                0};
    }

    // Waits for the map, takes what it shows, and writes into it what the log's host has.
    std::optional<uint64_t> unmap(const pi_unmap_desc &desc) {
        const auto found = state_.maps.find(as_number(member(call_.line, "map"), "map"));
        if (found == state_.maps.end())
            throw LeftOut("its map was not made");
        const OpenMap map = found->second;
        if (piEventWait(map.event, patience) != PI_SUCCESS)
            throw LeftOut("its map has failed");
        const_cast<pi_unmap_desc &>(desc).pointer = *map.place;
        std::optional<uint64_t> hash;
        if (map.writes) {
            const Json &data = member(call_.line, "data");
            const auto bytes =
                data.is_string() ? decode(data.get_ref<const std::string &>()) : std::nullopt;
            if (!bytes || bytes->size() != map.size)
                throw Refusal(fmt::format("data is not the {} bytes of its map", map.size));
            std::memcpy(*map.place, bytes->data(), bytes->size());
        } else {
            hash = hash_bytes({static_cast<const unsigned char *>(*map.place),
                               static_cast<std::size_t>(map.size)});
        }
        piEventRelease(map.event);
        state_.maps.erase(found);
        return hash;
    }

    template <typename... Parameters>
    struct MadeBy {
        using Type = void *;
    };
    template <typename... Parameters>
    requires(sizeof...(Parameters) != 0 &&
             is_out_handle<Last<Parameters...>>) struct MadeBy<Parameters...> {
        using Type = std::remove_pointer_t<Last<Parameters...>>;
    };
    using Made = typename MadeBy<Rest...>::Type;

    Replay::State &state_;
    const Call &call_;
    Storage own_;
    Made made_ = nullptr;
};

using Play = Outcome (*)(Replay::State &, const Call &);

template <auto Slot, std::size_t Index, typename Function>
constexpr Play player_of() {
    if constexpr (!is_question(Index) && why_never(Index) == nullptr)
        return &Player<Slot, Index, Function>::play;
    else
        return nullptr;
}

constexpr Play players[] = {
#define PI_FUNCTION(name, group, needs, since)                                                     \
    player_of<&pi_dispatch::name, slot_index(offsetof(pi_dispatch, name)),                         \
              decltype(pi_dispatch::name)>(),
#include <pi/pi_functions.def>
};

} // namespace

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
            if (players[index] == nullptr)
                throw LeftOut(why_never(index));
            if (line.content.contains("cannot"))
                throw LeftOut(line.content["cannot"].is_string()
                                  ? line.content["cannot"].get<std::string>()
                                  : "the log says so");
            const Outcome outcome = players[index](*state_, call);
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
