// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "maps.hpp"

#include <algorithm>
#include <utility>

namespace pi::loader::validate {
namespace {

// Whether a command of an empty wait list begins without anything that the host does.
bool goes_at_once(const Place &place) noexcept {
    return place.wait_count == 0 && place.queue != nullptr &&
           place.queue->held.load(std::memory_order_relaxed) <=
               place.queue->settled.load(std::memory_order_relaxed);
}

} // namespace

// A map that has failed is none.
bool Maps::is_done(Map &map) noexcept {
    if (map.done || map.event.handle == nullptr)
        return map.done;
    const ErrorScope scope;
    const auto event = static_cast<pi_event>(map.event.handle);
    pi_event_status status = 0;
    pi_result result = PI_ERROR_INTERNAL;
    const pi_dispatch &questions = validator_.questions();
    if (questions.piEventGetInfo(event, PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr) !=
            PI_SUCCESS ||
        status != PI_EVENT_COMPLETE ||
        questions.piEventGetInfo(event, PI_EVENT_INFO_RESULT, sizeof result, &result, nullptr) !=
            PI_SUCCESS)
        return false;
    map.done = result == PI_SUCCESS;
    if (!map.done)
        map.end = map.begin;
    return map.done;
}

void Maps::check_use(Check &check, const Place &place, const MemoryFacts &memory,
                     const Rectangle &rectangle, bool writes, const Name &name) noexcept {
    if (!any() || check.failed() || !goes_at_once(place))
        return;
    Rectangle used = rectangle;
    used.offset += memory.offset;
    const std::scoped_lock lock(mutex_);
    for (Map &map : maps_) {
        if (map.root != memory.root || map.begin == map.end || (!writes && !map.writes) ||
            !overlap(used, range_of(map.begin, map.end - map.begin)))
            continue;
        const bool behind = place.queue->in_order && map.queue == place.queue_handle;
        const bool done = is_done(map);
        if (map.begin == map.end || (!done && !behind))
            continue;
        check.refuse(PI_ERROR_INVALID_OPERATION, name,
                     "is mapped for {} from byte {} to {}; the command {} bytes of these, and must "
                     "come behind the unmap",
                     map.writes ? "writing" : "reading", map.begin, map.end - 1,
                     writes ? "writes" : "reads");
        return;
    }
}

void Maps::check_unmap(Check &check, const pi_unmap_desc &desc) noexcept {
    const std::scoped_lock lock(mutex_);
    const bool found = std::any_of(maps_.begin(), maps_.end(), [&](const Map &map) {
        return map.mem == desc.mem && (map.pointer == nullptr || map.pointer == desc.pointer);
    });
    if (!found)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->pointer"},
                     "is {}, which no map of mem gave that is not unmapped already; what a map "
                     "gave is needed, once",
                     desc.pointer);
}

void Maps::add(const Place &place, const pi_buffer_map_desc &desc, pi_event event) {
    const auto memory = validator_.facts(desc.mem);
    if (memory == nullptr)
        return;
    Map map{};
    map.mem = desc.mem;
    map.root = memory->root;
    map.begin = map.end = memory->offset + desc.offset;
    map.writes = map_writes(desc.flags);
    map.queue = place.queue_handle;
    map.done = (desc.flags & PI_COMMAND_BLOCKING) != 0;
    // Without an event nobody can tell whether what it waits for has failed.
    if (map.done || event != nullptr || place.wait_count == 0)
        map.end += desc.size;
    if (!map.done && event != nullptr)
        map.event = validator_.keep(event);
    // Now that it is written; later its place may be gone.
    if (is_done(map))
        map.pointer = *desc.out_pointer;
    const std::scoped_lock lock(mutex_);
    maps_.push_back(map);
    count_ = maps_.size();
}

void Maps::remove(const pi_unmap_desc &desc, bool may_fail) noexcept {
    Reference event{};
    {
        const std::scoped_lock lock(mutex_);
        // Of several that it may be, the largest: of reads that have one address, the others are in it.
        auto ended = maps_.end();
        for (auto map = maps_.begin(); map != maps_.end(); ++map) {
            if (map->mem == desc.mem && map->pointer == desc.pointer &&
                (ended == maps_.end() || map->end - map->begin > ended->end - ended->begin))
                ended = map;
        }
        if (ended == maps_.end()) {
            // One of those whose addresses are not known: nothing can be said of their ranges any more.
            for (auto map = maps_.begin(); map != maps_.end(); ++map) {
                if (map->mem != desc.mem || map->pointer != nullptr)
                    continue;
                map->end = map->begin;
                ended = map;
            }
        }
        if (ended == maps_.end())
            return;
        event = std::exchange(ended->event, Reference{});
        if (may_fail)
            leave_trace(ended);
        else
            maps_.erase(ended);
        count_ = maps_.size();
    }
    validator_.let_go(event);
}

// Only its address stays, once; of memory with many of them any address will do from now on.
void Maps::leave_trace(std::vector<Map>::iterator ended) noexcept {
    constexpr std::ptrdiff_t most = 16;
    const void *const mem = ended->mem;
    void *const pointer = ended->pointer;
    const auto is_trace = [&](const Map &map) { return map.mem == mem && map.trace; };
    ended->end = ended->begin;
    ended->trace = true;
    const bool many = std::count_if(maps_.begin(), maps_.end(), is_trace) > most;
    bool first = true;
    std::erase_if(maps_, [&](Map &map) {
        if (!is_trace(map) || (!many && map.pointer != pointer))
            return false;
        if (many)
            map.pointer = nullptr;
        return !std::exchange(first, false);
    });
}

void Maps::forget(const void *mem) noexcept {
    if (!any())
        return;
    for (bool more = true; more;) {
        Reference event{};
        {
            const std::scoped_lock lock(mutex_);
            const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const Map &map) {
                return mem == nullptr || map.mem == mem;
            });
            more = found != maps_.end();
            if (more) {
                event = found->event;
                maps_.erase(found);
                count_ = maps_.size();
            }
        }
        validator_.let_go(event);
    }
}

} // namespace pi::loader::validate
