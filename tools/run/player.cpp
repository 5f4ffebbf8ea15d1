// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "player.hpp"

#include "reader.hpp"
#include "state.hpp"

#include "layers/layers.hpp"

#include <cstring>
#include <tuple>

namespace pi_run {
namespace {

/// The longest wait: a command that never ends is reported as a difference.
constexpr uint64_t patience = UINT64_C(60'000'000'000);

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
    static constexpr bool creates_image = same_slot<Slot, &pi_dispatch::piMemImageCreate> ||
                                          same_slot<Slot, &pi_dispatch::piMemImageViewCreate>;
    static constexpr bool imports = same_slot<Slot, &pi_dispatch::piMemImport>;
    static constexpr bool partitions = same_slot<Slot, &pi_dispatch::piDevicePartition>;
    static constexpr bool allocates = same_slot<Slot, &pi_dispatch::piUsmAlloc>;
    static constexpr bool enqueues_allocation = same_slot<Slot, &pi_dispatch::piEnqueueUsmAlloc>;
    static constexpr bool frees =
        same_slot<Slot, &pi_dispatch::piUsmFree> || same_slot<Slot, &pi_dispatch::piEnqueueUsmFree>;
    static constexpr std::size_t last = sizeof...(Rest);
    using Parameters = std::tuple<Handle, Rest...>;
    static constexpr std::size_t made_at = partitions ? last - 1 : last;
    using Made = std::remove_pointer_t<std::tuple_element_t<made_at, Parameters>>;
    static constexpr bool makes = made_at != 0 && pi::is_handle<Made>;

    static End play(Replay::State &state, std::shared_ptr<const Call> call) {
        const auto player = std::make_shared<Player>(state, std::move(call));
        player->read();
        player->blocks_ = player->blocks();
        if (player->call_->early && !player->blocks_)
            return nullptr;
        player->make();
        return [player] { return player->end(); };
    }

    Player(Replay::State &state, std::shared_ptr<const Call> call)
        : state_(state), call_(std::move(call)) {}
    ~Player() {
        if constexpr (makes) {
            for (const Made made : made_) {
                if (made != nullptr)
                    release(made);
            }
        }
    }
    Player(const Player &) = delete;
    Player &operator=(const Player &) = delete;

private:
    template <std::size_t I>
    auto &parameter() {
        return std::get<I>(parameters_);
    }
    Handle &handle() { return parameter<0>(); }
    const Json &line() const { return call_->line.content; }
    const Json &arguments() const { return array_of(member(line(), "arguments"), "arguments"); }

    void read() {
        const Json &arguments = this->arguments();
        if (arguments.size() != last + 1)
            throw Refusal(
                fmt::format("has {} arguments, should have {}", arguments.size(), last + 1));
        if constexpr (std::is_same_v<Handle, pi_platform>)
            state_.use_platform(as_number(arguments[0], "platform"), platform());
        TextReader reader(state_, *memory_, arguments, call_->expected != PI_SUCCESS,
                          state_.by_hand);
        pi::describe::parameters<Slot>(reader, parameters_);
        if (handle() == nullptr)
            throw Refusal("the first argument is null");
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

    bool blocks() {
        if constexpr (enqueues)
            return parameter<1>() != nullptr && (parameter<1>()->flags & PI_COMMAND_BLOCKING) != 0;
        else
            return waits || finishes;
    }

    void make() {
        if constexpr (waits) {
            if (!state_.by_hand || parameter<1>() == 0)
                parameter<1>() = patience;
            if (call_->early) {
                piEventWait(handle(), 1); // which flushes
                return;
            }
        } else if constexpr (finishes) {
            if (call_->early) {
                result_ = piQueueFlush(handle());
                awaited_ = state_.commands.of(handle());
                return;
            }
        } else if constexpr (enqueues) {
            prepare();
        }
        result_ = make_whole();
        if (result_ != PI_SUCCESS)
            return;
        if constexpr (makes)
            own_made();
        if constexpr (enqueues)
            note_command();
        if constexpr (unmaps)
            end_map();
        if constexpr (same_slot<Slot, &pi_dispatch::piMemBufferCreate> ||
                      same_slot<Slot, &pi_dispatch::piMemImageCreate>) {
            if ((parameter<2>()->flags & PI_MEM_USE_HOST_PTR) != 0)
                state_.shared_memory.push_back(memory_);
        }
    }
    pi_result make_whole() {
        return std::apply(
            [&](auto... arguments) { return (dispatch_of(handle())->*Slot)(arguments...); },
            parameters_);
    }
    // The returned references, until the log's program receives them.
    void own_made() {
        const Made *const out = parameter<made_at>();
        std::size_t count = out != nullptr ? 1 : 0;
        if constexpr (partitions) {
            if (out != nullptr && parameter<last>() != nullptr)
                count = std::min(*parameter<last>(), parameter<last - 2>());
        } else if constexpr (enqueues) {
            if (out == &own_event_)
                count = 0;
        }
        made_.assign(out, out + count);
    }

    // Every command that does not block gets an event, which shows how long its memory is in use.
    void prepare() {
        const auto *const desc = parameter<1>();
        if constexpr (unmaps) {
            if (desc == nullptr)
                throw Refusal("the descriptor is null");
            hash_ = unmap(*desc);
        }
        if (blocks_ && call_->early)
            const_cast<std::remove_const_t<std::remove_pointer_t<decltype(desc)>> *>(desc)->flags &=
                ~uint64_t{PI_COMMAND_BLOCKING};
        pi_event *&out_event = parameter<last>();
        if (out_event == nullptr && (!blocks_ || call_->early || maps))
            out_event = &own_event_;
    }
    void note_command() {
        const pi_event *const out_event = parameter<last>();
        if (out_event == nullptr)
            return;
        if (out_event != &own_event_)
            retain(*out_event);
        event_ = take_over(*out_event);
        if (blocks_ && !call_->early)
            return;
        state_.commands.add(handle(), event_, memory_);
        if (state_.by_hand)
            state_.enqueued.emplace_back(call_->line.number, event_);
        if (blocks_)
            piQueueFlush(handle());
    }

    // Without a reference of its own, nothing shows how long the command uses its memory.
    static void retain(pi_event event) {
        const pi_result result = piEventRetain(event);
        if (result == PI_SUCCESS)
            return;
        const char *text = "";
        piGetLastError(nullptr, &text);
        const std::string why = text;
        piEventWait(event, patience);
        throw Refusal("piEventRetain: " + why);
    }
    // The rest of an early call.
    pi_result wait() {
        if constexpr (waits) {
            // A changed log may have released it meanwhile.
            handle() = state_.template find<Handle>(arguments()[0]);
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
            keep_map(*parameter<1>());
        if constexpr (enqueues) {
            if (blocks_)
                hash_ = hash_of_target(*parameter<1>());
        }
        if constexpr (releases || retains)
            count();
        if (call_->expected != PI_SUCCESS)
            return {result_, hash_};
        if constexpr (makes)
            note_made();
        if constexpr (allocates)
            note_allocation(*parameter<last>());
        if constexpr (enqueues_allocation)
            note_allocation(*parameter<1>()->out_pointer);
        if constexpr (frees)
            note_free();
        return {result_, hash_};
    }

    // Of the bytes that a blocking command has written to the host.
    template <typename Desc>
    std::optional<uint64_t> hash_of_target(const Desc &desc) {
        constexpr bool by_address = std::is_same_v<Desc, pi_usm_copy_desc>;
        constexpr bool reads = std::is_same_v<Desc, pi_buffer_read_desc> ||
                               std::is_same_v<Desc, pi_image_read_desc> ||
                               std::is_same_v<Desc, pi_device_global_read_desc>;
        if constexpr (by_address || reads) {
            const void *host = nullptr;
            uint64_t pixel = 1;
            if constexpr (reads)
                host = desc.host_ptr;
            else if (!member(arguments()[1], "dst").is_object())
                host = desc.dst;
            if constexpr (std::is_same_v<Desc, pi_image_read_desc>)
                pixel = state_.pixel_bytes(desc.image);
            uint64_t hash = hash_bytes({});
            const auto add = [&](uint64_t offset, uint64_t size) {
                hash = hash_bytes({static_cast<const unsigned char *>(host) + offset,
                                   static_cast<std::size_t>(size)},
                                  hash);
                return true;
            };
            if (host != nullptr && for_each_row(desc, HostEnd::destination, pixel, max_bytes, add))
                return hash;
        }
        return hash_;
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

    // Another device may have been partitioned into more or fewer parts.
    void note_made() {
        if (made_.empty())
            return;
        const auto ids = line().find("made");
        if (ids == line().end() || !ids->is_array() || (ids->size() != 1 && !partitions))
            throw Refusal("\"made\" is not a new id");
        for (std::size_t i = 0; i < ids->size(); ++i) {
            const uint64_t id = as_number((*ids)[i], "made");
            if (state_.objects.count(id) != 0)
                throw Refusal("\"made\" is not a new id");
            if (i >= made_.size()) {
                state_.unmade[id] = fmt::format("line {} did not create", call_->line.number);
                continue;
            }
            const Made made = std::exchange(made_[i], nullptr);
            state_.objects[id] = {made, HandleTraits<Made>::kind, 1, false};
            if constexpr (creates_image) {
                const auto &desc = *parameter<last - 1>();
                state_.pixels[made] =
                    pi::describe::pixel_bytes(desc.channel_order, desc.channel_type);
            }
            if constexpr (imports)
                state_.note_import(parameter<last - 1>()->handle.pointer, id);
        }
    }

    void note_allocation(void *base) {
        const uint64_t id = as_number(member(line(), "usm"), "usm");
        if (!state_.usm.emplace(id, static_cast<unsigned char *>(base)).second)
            throw Refusal("\"usm\" is not a new id");
    }
    void note_free() {
        const Json &place = frees && !enqueues ? arguments()[1] : member(arguments()[1], "pointer");
        if (place.is_null())
            return;
        const uint64_t id = as_number(member(place, "usm"), "usm");
        state_.usm.erase(id);
        state_.unmade[id] = "is freed";
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
        if (!map.stands())
            return hash;
        if (map.writes) {
            const Json &data = member(line(), "data");
            if (state_.by_hand && data.is_null())
                return hash; // the host changed nothing
            const auto bytes = data.is_string()   ? decode(data.get_ref<const std::string &>())
                               : data.is_binary() ? std::optional(as_bytes(data))
                                                  : std::nullopt;
            if (!bytes || bytes->size() != map.size)
                throw Refusal(fmt::format("data should have the {} bytes of the map", map.size));
            std::memcpy(*map.place, bytes->data(), bytes->size());
        } else {
            hash = hash_bytes({static_cast<const unsigned char *>(*map.place),
                               static_cast<std::size_t>(map.size)});
        }
        return hash;
    }

    void end_map() {
        const uint64_t id = as_number(member(line(), "map"), "map");
        if (!state_.by_hand) {
            state_.maps.erase(id);
            return;
        }
        OpenMap &map = state_.maps.at(id);
        map.over = true;
        map.unmap = event_;
    }

    Replay::State &state_;
    const std::shared_ptr<const Call> call_;
    std::shared_ptr<Storage> memory_ = std::make_shared<Storage>();
    Parameters parameters_{};
    std::vector<std::conditional_t<makes, Made, void *>>
        made_; ///< references, until the log's program receives them
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

} // namespace pi_run
