// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "player.hpp"

#include "reader.hpp"
#include "state.hpp"

#include "layers/layers.hpp"

#include <cstring>
#include <tuple>

namespace pi_replay {
namespace {

/// The longest wait: a command that never ends is reported as a difference.
constexpr uint64_t patience = UINT64_C(60'000'000'000);

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

/// Repeats a call of a function.
template <auto Slot, std::size_t Index, typename Function>
struct Player;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Player<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static constexpr bool releases = sizeof...(Rest) == 0 && ends_with(Index, "Release");
    static constexpr bool retains = sizeof...(Rest) == 0 && ends_with(Index, "Retain");
    static constexpr bool enqueues = is_command<pi_result (*)(Handle, Rest...)>;
    static constexpr bool waits = same_slot<Slot, &pi_dispatch::piEventWait>;
    static constexpr bool finishes = same_slot<Slot, &pi_dispatch::piQueueFinish>;
    static constexpr bool maps = same_slot<Slot, &pi_dispatch::piEnqueueMemBufferMap>;
    static constexpr bool unmaps = same_slot<Slot, &pi_dispatch::piEnqueueMemUnmap>;
    static constexpr std::size_t last = sizeof...(Rest) - 1;

    static End play(Replay::State &state, std::shared_ptr<const Call> call) {
        const auto player = std::make_shared<Player>(state, std::move(call));
        const std::size_t count = player->arguments().size();
        if (count != 1 + sizeof...(Rest))
            throw Refusal(
                fmt::format("has {} arguments, should have {}", count, 1 + sizeof...(Rest)));
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (player->template read<I>(), ...);
        }
        (std::index_sequence_for<Rest...>());
        player->handle_ = player->first();
        if (player->handle_ == nullptr)
            throw Refusal("the first argument is null");
        player->blocks_ = player->blocks();
        if (player->call_->early && !player->blocks_)
            return nullptr;
        player->make();
        return [player] { return player->end(); };
    }

    Player(Replay::State &state, std::shared_ptr<const Call> call)
        : state_(state), call_(std::move(call)) {}
    ~Player() {
        if constexpr (is_handle<Made>) {
            if (made_ != nullptr)
                release(made_);
        }
    }
    Player(const Player &) = delete;
    Player &operator=(const Player &) = delete;

private:
    const Json &line() const { return call_->line.content; }
    const Json &arguments() const { return array_of(member(line(), "arguments"), "arguments"); }

    Handle first() {
        if constexpr (std::is_same_v<Handle, pi_platform>)
            return platform();
        else
            return state_.template find<Handle>(arguments()[0]);
    }
    // The log's platforms are those of its devices.
    pi_platform platform() {
        const Json &desc = arguments()[1];
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
    void read() {
        using Type = std::tuple_element_t<I, std::tuple<Rest...>>;
        Type &out = std::get<I>(rest_);
        const Json &value = arguments()[I + 1];
        Reader reader(state_, *call_, *memory_);
        if constexpr (is_handle<Type>) {
            out = state_.template find<Type>(value);
        } else if constexpr (std::is_integral_v<Type>) {
            out = as_word<Type>(value, "an argument");
        } else if constexpr (std::is_same_v<Type, const char *>) {
            out = as_text(value, "an argument");
        } else if constexpr (std::is_same_v<Type, const pi_event *>) {
            uint32_t count = std::get<I - 1>(rest_);
            out = reader.template handle_list<pi_event>(value, "a wait list", count);
            if (count != std::get<I - 1>(rest_))
                throw Refusal(fmt::format("the wait list has {} events, should have {}", count,
                                          std::get<I - 1>(rest_)));
        } else if constexpr (is_out_handle<Type>) {
            if (value == true)
                out = &made_;
        } else if constexpr (std::is_pointer_v<Type>) {
            using Desc = std::remove_const_t<std::remove_pointer_t<Type>>;
            if constexpr (described<Desc>)
                out = reader.template descriptor<Desc>(value);
        }
    }

    bool blocks() const {
        if constexpr (enqueues)
            return std::get<0>(rest_) != nullptr &&
                   (std::get<0>(rest_)->flags & PI_COMMAND_BLOCKING) != 0;
        else
            return waits || finishes;
    }

    void make() {
        if constexpr (waits) {
            std::get<0>(rest_) = patience;
            if (call_->early) {
                piEventWait(handle_, 1); // which flushes
                return;
            }
        } else if constexpr (finishes) {
            if (call_->early) {
                result_ = piQueueFlush(handle_);
                awaited_ = state_.commands.of(handle_);
                return;
            }
        } else if constexpr (enqueues) {
            prepare();
        }
        result_ = make_whole();
        if (result_ != PI_SUCCESS)
            return;
        if constexpr (enqueues)
            note_command();
        if constexpr (unmaps)
            end_map();
        if constexpr (same_slot<Slot, &pi_dispatch::piMemBufferCreate>) {
            if ((std::get<1>(rest_)->flags & PI_MEM_USE_HOST_PTR) != 0)
                state_.shared_memory.push_back(memory_);
        }
    }
    pi_result make_whole() {
        return std::apply(
            [&](auto... arguments) { return (dispatch_of(handle_)->*Slot)(handle_, arguments...); },
            rest_);
    }

    // Every command that does not block gets an event, which shows how long its memory is in use.
    void prepare() {
        const auto *const desc = std::get<0>(rest_);
        if constexpr (unmaps) {
            if (desc == nullptr)
                throw Refusal("the descriptor is null");
            hash_ = unmap(*desc);
        }
        if (blocks_ && call_->early)
            const_cast<std::remove_const_t<std::remove_pointer_t<decltype(desc)>> *>(desc)->flags &=
                ~uint64_t{PI_COMMAND_BLOCKING};
        pi_event *&out_event = std::get<last>(rest_);
        if (out_event == nullptr && (!blocks_ || call_->early || maps))
            out_event = &own_event_;
    }
    void note_command() {
        const pi_event *const out_event = std::get<last>(rest_);
        if (out_event == nullptr)
            return;
        if (out_event != &own_event_)
            piEventRetain(*out_event);
        event_ = take_over(*out_event);
        if (blocks_ && !call_->early)
            return;
        state_.commands.add(handle_, event_, memory_);
        if (blocks_)
            piQueueFlush(handle_);
    }

    // The rest of an early call.
    pi_result wait() {
        if constexpr (waits) {
            handle_ = first(); // a changed log may have released it meanwhile
            return make_whole();
        }
        if (event_ != nullptr && blocks_)
            return piEventWait(event_.get(), patience);
        // A finish succeeds whatever the commands' results are.
        for (const Event &event : awaited_) {
            if (piEventWait(event.get(), patience) == PI_ERROR_TIMEOUT)
                return PI_ERROR_TIMEOUT;
        }
        return result_;
    }

    Outcome end() {
        if (call_->early)
            result_ = wait();
        if (result_ != PI_SUCCESS)
            return {result_, hash_};
        if constexpr (maps)
            keep_map(*std::get<0>(rest_));
        if constexpr (same_slot<Slot, &pi_dispatch::piEnqueueMemBufferRead>) {
            if (blocks_)
                hash_ = hash_of_read(*std::get<0>(rest_));
        }
        if constexpr (releases || retains)
            count();
        if constexpr (is_handle<Made>)
            note_made();
        return {result_, hash_};
    }

    void count() {
        const auto object = state_.objects.find(as_number(arguments()[0], "an id"));
        if (object == state_.objects.end() || object->second.root)
            return;
        object->second.references += retains ? 1 : 0;
        if (releases && --object->second.references == 0) {
            state_.unmade[object->first] = "is released";
            state_.objects.erase(object);
        }
    }

    void note_made() {
        if (made_ == nullptr || call_->expected != PI_SUCCESS)
            return;
        const auto ids = line().find("made");
        if (ids == line().end() || !ids->is_array() || ids->size() != 1 ||
            state_.objects.count(as_number((*ids)[0], "made")) != 0)
            throw Refusal("\"made\" is not a new id");
        state_.objects[as_number((*ids)[0], "made")] = {made_, HandleTraits<Made>::kind, 1, false};
        made_ = nullptr;
    }

    void keep_map(const pi_buffer_map_desc &desc) {
        const auto id = line().find("map");
        if (id == line().end() || !id->is_number_unsigned() ||
            state_.maps.count(id->template get<uint64_t>()) != 0) {
            if (call_->expected == PI_SUCCESS)
                throw Refusal("\"map\" is not a new id");
            return;
        }
        state_.maps[id->template get<uint64_t>()] = {
            event_, memory_, desc.out_pointer, desc.size,
            (desc.flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) != 0};
    }

    // Waits for the map, reads its bytes, and writes those of the log's host into it.
    std::optional<uint64_t> unmap(const pi_unmap_desc &desc) {
        const auto found = state_.maps.find(as_number(member(line(), "map"), "map"));
        if (found == state_.maps.end())
            throw CannotRun("the map was not created");
        const OpenMap &map = found->second;
        if (piEventWait(map.event.get(), patience) != PI_SUCCESS)
            throw CannotRun("the map failed");
        const_cast<pi_unmap_desc &>(desc).pointer = *map.place;
        std::optional<uint64_t> hash;
        if (map.writes) {
            const Json &data = member(line(), "data");
            const auto bytes =
                data.is_string() ? decode(data.get_ref<const std::string &>()) : std::nullopt;
            if (!bytes || bytes->size() != map.size)
                throw Refusal(fmt::format("data should have the {} bytes of the map", map.size));
            std::memcpy(*map.place, bytes->data(), bytes->size());
        } else {
            hash = hash_bytes({static_cast<const unsigned char *>(*map.place),
                               static_cast<std::size_t>(map.size)});
        }
        return hash;
    }

    void end_map() { state_.maps.erase(as_number(member(line(), "map"), "map")); }

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
    const std::shared_ptr<const Call> call_;
    std::shared_ptr<Storage> memory_ = std::make_shared<Storage>();
    Handle handle_ = nullptr;
    std::tuple<Rest...> rest_{};
    Made made_ = nullptr; ///< a reference, until the log's program receives it
    bool blocks_ = false;
    pi_event own_event_ = nullptr; ///< if the log's program requested none
    Event event_;                  ///< for a command
    std::vector<Event> awaited_;   ///< for a finish
    pi_result result_ = PI_SUCCESS;
    std::optional<uint64_t> hash_;
};

template <auto Slot, std::size_t Index, typename Function>
constexpr Play play() {
    if constexpr (!is_query(Index) && why_never(Index) == nullptr)
        return &Player<Slot, Index, Function>::play;
    else
        return nullptr;
}

constexpr Play players[] = {
#define PI_FUNCTION(name, group, needs, since)                                                     \
    play<&pi_dispatch::name, slot_index(offsetof(pi_dispatch, name)),                              \
         decltype(pi_dispatch::name)>(),
#include <pi/pi_functions.def>
};

} // namespace

Play player_of(std::size_t index) {
    return players[index];
}

} // namespace pi_replay
