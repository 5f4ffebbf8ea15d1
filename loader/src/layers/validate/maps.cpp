// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "maps.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace pi::loader::validate {
namespace {

/// The result of a command; empty before its end.
std::optional<pi_result> result_of(Validator &validator, pi_event event) noexcept {
    const ErrorScope scope;
    const auto ask = validator.queries().piEventGetInfo;
    pi_event_status status = 0;
    pi_result result = PI_ERROR_INTERNAL;
    if (ask(event, PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr) != PI_SUCCESS ||
        status != PI_EVENT_COMPLETE ||
        ask(event, PI_EVENT_INFO_RESULT, sizeof result, &result, nullptr) != PI_SUCCESS)
        return std::nullopt;
    return result;
}

} // namespace

bool may_be_held(Validator &validator, const Place &place) noexcept {
    return place.wait_count != 0 &&
           (place.wait_list == nullptr ||
            !std::all_of(place.wait_list, place.wait_list + place.wait_count, [&](pi_event event) {
                return event != nullptr && result_of(validator, event) == PI_SUCCESS;
            }));
}

// Whether a command begins independently of later host calls.
bool Maps::goes_at_once(const Place &place) const noexcept {
    return place.queue != nullptr && !may_be_held(validator_, place) &&
           place.queue->held.load(std::memory_order_relaxed) <=
               place.queue->settled.load(std::memory_order_relaxed);
}

/// A reference of the layer; the last one releases it, which calls the plugin.
class Maps::Event {
public:
    Event(Validator &validator, const Outcome &outcome) noexcept
        : validator_(validator), reference_(outcome.own ? validator.take_over(outcome.event)
                                                        : validator.take_reference(outcome.event)) {
    }
    ~Event() { validator_.release_reference(reference_); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;

    bool has_reference() const noexcept { return reference_.handle != nullptr; }

    std::optional<pi_result> result() const noexcept {
        return result_of(validator_, static_cast<pi_event>(reference_.handle));
    }

private:
    Validator &validator_;
    const Reference reference_;
};

std::shared_ptr<Maps::Event> Maps::take_event(const Outcome &outcome) noexcept {
    if (outcome.event == nullptr)
        return nullptr;
    try {
        auto event = std::make_shared<Event>(validator_, outcome);
        return event->has_reference() ? event : nullptr;
    } catch (const std::bad_alloc &) {
        if (outcome.own)
            validator_.release_reference(validator_.take_over(outcome.event));
        return nullptr;
    }
}

template <typename Wanted>
void Maps::look(Wanted &&wanted) noexcept {
    for (uint64_t seen = 0;;) {
        std::shared_ptr<const Event> event;
        {
            const std::scoped_lock lock(mutex_);
            const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const Map &map) {
                return map.serial > seen && map.event != nullptr && wanted(map);
            });
            if (found == maps_.end())
                return;
            seen = found->serial;
            event = found->event;
        }
        if (const auto result = event->result())
            learn(seen, event, *result);
    }
}

// Unless it has another event by now.
void Maps::learn(uint64_t serial, const std::shared_ptr<const Event> &event,
                 pi_result result) noexcept {
    std::shared_ptr<Event> last; // released after the lock
    const std::scoped_lock lock(mutex_);
    const auto map = std::find_if(maps_.begin(), maps_.end(), [&](const Map &other) {
        return other.serial == serial && other.event == event;
    });
    if (map == maps_.end())
        return;
    last = std::move(map->event);
    if (map->unmapped && result == PI_SUCCESS) {
        maps_.erase(map);
        count_ = maps_.size();
    } else if (map->unmapped) {
        map->unmapped = false; // may be tried again
        map->begin = map->restored_begin;
        map->end = map->restored_end;
    } else if (result == PI_SUCCESS) {
        map->done = true;
    } else {
        map->end = map->begin; // a failed map is none
    }
}

void Maps::check_use(Check &check, const Place &place, const MemoryFacts &memory,
                     const Rectangle &rectangle, bool writes, const Name &name) noexcept {
    if (!any() || check.failed() || !goes_at_once(place))
        return;
    Rectangle used = rectangle;
    used.offset += memory.offset;
    const auto meets = [&](const Map &map, uint64_t begin, uint64_t end) {
        return map.root == memory.root && begin != end && (writes || map.writes) &&
               overlap(used, range_of(begin, end - begin));
    };
    const auto conflicts = [&](const Map &map) { return meets(map, map.begin, map.end); };
    look([&](const Map &map) {
        return map.unmapped ? meets(map, map.restored_begin, map.restored_end)
                            : !map.done && conflicts(map);
    });
    std::optional<Map> met;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const Map &map) {
            const bool behind = place.queue->in_order && map.queue == place.queue_handle;
            return (map.done || behind) && conflicts(map);
        });
        if (found == maps_.end())
            return;
        met = *found;
    }
    check.refuse(PI_ERROR_INVALID_OPERATION, name,
                 "is mapped for {} from byte {} to {}; the command {} some of these bytes and must "
                 "come after the unmap",
                 met->writes ? "writing" : "reading", met->begin, met->end - 1,
                 writes ? "writes" : "reads");
}

void Maps::check_unmap(Check &check, const pi_unmap_desc &desc) noexcept {
    look([&](const Map &map) { return map.mem == desc.mem && map.unmapped; });
    const auto may_be = [&](const Map &map) {
        return map.mem == desc.mem && (map.pointer == nullptr || map.pointer == desc.pointer) &&
               (!map.unmapped || map.may_fail);
    };
    bool found = false;
    {
        const std::scoped_lock lock(mutex_);
        found = std::any_of(maps_.begin(), maps_.end(), may_be);
    }
    if (!found && !lacks_maps_)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->pointer"},
                     "is {}; a pointer that a map of mem returned, and that is not unmapped yet, "
                     "is needed",
                     desc.pointer);
}

void Maps::add(const Place &place, const pi_buffer_map_desc &desc,
               const Outcome &outcome) noexcept {
    Map map{};
    map.event = take_event(outcome);
    const auto memory = validator_.facts(desc.mem);
    if (memory == nullptr)
        return;
    map.mem = desc.mem;
    map.root = memory->root;
    map.begin = map.end = memory->offset + desc.offset;
    map.writes = map_writes(desc.flags);
    map.queue = place.queue_handle;
    map.done = outcome.event == nullptr;
    if (map.event != nullptr) {
        if (const auto result = map.event->result()) {
            map.done = *result == PI_SUCCESS;
            map.event = nullptr;
        }
    }
    // Without an event, a failure cannot be detected.
    if (map.done || map.event != nullptr)
        map.end += desc.size;
    // The address is valid now; later its memory may be gone.
    if (map.done)
        map.pointer = *desc.out_pointer;
    const std::scoped_lock lock(mutex_);
    map.serial = ++last_serial_;
    try {
        maps_.push_back(std::move(map));
    } catch (const std::bad_alloc &) {
        lacks_maps_ = true;
    }
    count_ = maps_.size();
}

void Maps::remove(const pi_unmap_desc &desc, const Outcome &outcome, bool may_fail) noexcept {
    std::shared_ptr<Event> event = take_event(outcome);
    {
        const std::scoped_lock lock(mutex_);
        // If several match, the largest: for reads with one address, it contains the others.
        auto ended = maps_.end();
        for (auto map = maps_.begin(); map != maps_.end(); ++map) {
            if (map->mem == desc.mem && map->pointer == desc.pointer && !map->unmapped &&
                (ended == maps_.end() || map->end - map->begin > ended->end - ended->begin))
                ended = map;
        }
        if (ended == maps_.end()) {
            // One of those with unknown addresses: their ranges are unusable from now on. A trace
            // that accepts any address stays.
            for (auto map = maps_.begin(); map != maps_.end(); ++map) {
                if (map->mem != desc.mem || map->pointer != nullptr || map->unmapped)
                    continue;
                map->end = map->begin;
                if (!map->trace)
                    ended = map;
            }
        }
        if (ended == maps_.end())
            return;
        ended->event.swap(event); // the map's is released after the lock
        if (outcome.event == nullptr) {
            maps_.erase(ended);
        } else {
            // For the case that it fails: then the bytes are mapped as before.
            ended->restored_begin = ended->begin;
            ended->restored_end = ended->end;
            ended->end = ended->begin;
            ended->pointer = desc.pointer;
            ended->trace = true;
            ended->unmapped = ended->event != nullptr;
            ended->may_fail = may_fail;
        }
        count_ = maps_.size();
    }
    bound_traces(desc.mem);
}

void Maps::bound_traces(const void *mem) noexcept {
    constexpr std::ptrdiff_t most = 16;
    const auto is_trace = [&](const Map &map) { return map.mem == mem && map.trace; };
    look(is_trace);
    uint64_t left = 0;
    {
        std::shared_ptr<Event> last; // released after the lock
        const std::scoped_lock lock(mutex_);
        if (std::count_if(maps_.begin(), maps_.end(), is_trace) <= most)
            return;
        Map &any = *std::find_if(maps_.begin(), maps_.end(), is_trace);
        any.pointer = nullptr;
        any.unmapped = false;
        any.end = any.begin;
        last = std::move(any.event);
        left = any.serial;
    }
    drop([&](const Map &map) { return is_trace(map) && map.serial != left; });
}

template <typename Wanted>
void Maps::drop(Wanted &&wanted) noexcept {
    for (bool more = true; more;) {
        std::shared_ptr<Event> event; // released after the lock
        const std::scoped_lock lock(mutex_);
        const auto found = std::find_if(maps_.begin(), maps_.end(), wanted);
        more = found != maps_.end();
        if (more) {
            event = std::move(found->event);
            maps_.erase(found);
            count_ = maps_.size();
        }
    }
}

void Maps::forget(const void *mem) noexcept {
    if (any())
        drop([&](const Map &map) { return mem == nullptr || map.mem == mem; });
}

} // namespace pi::loader::validate
