// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events that the layer ends are host events; queries must show them as their commands' events.
#pragma once

#include "error.hpp"
#include "layers/fault/fault.hpp"
#include "layers/layers.hpp"
#include "text.hpp"

namespace pi::loader::fault {

/// The info convention of pi.h for a value.
template <typename Value>
pi_result write_value(const char *function, const Value &answer, uint64_t size, void *value,
                      uint64_t *out_size) {
    if (value != nullptr && size < sizeof answer)
        return fail(PI_ERROR_INVALID_SIZE, "{}: size is {}, but the value needs {} bytes", function,
                    size, sizeof answer);
    if (value != nullptr)
        std::memcpy(value, &answer, sizeof answer);
    if (out_size != nullptr)
        *out_size = sizeof answer;
    return PI_SUCCESS;
}

inline pi_result faulty_event_info(Faults &faults, const FaultyEvent &faulty, pi_event event,
                                   pi_event_info name, uint64_t size, void *value,
                                   uint64_t *out_size) {
    constexpr const char *function = "piEventGetInfo";
    const bool asked = value != nullptr || out_size != nullptr;
    if (asked && name == PI_EVENT_INFO_QUEUE)
        return write_value(function, faulty.queue, size, value, out_size);
    if (asked && name == PI_EVENT_INFO_COMMAND)
        return write_value(function, uint32_t{faulty.command}, size, value, out_size);
    pi_result result = PI_SUCCESS;
    if (asked && name == PI_EVENT_INFO_ERROR_TEXT &&
        faults.next().piEventGetInfo(event, PI_EVENT_INFO_RESULT, sizeof result, &result,
                                     nullptr) == PI_SUCCESS &&
        result != PI_SUCCESS)
        return write_string(function, faulty.text, size, static_cast<char *>(value), out_size);
    return faults.next().piEventGetInfo(event, name, size, value, out_size);
}

/// Calls on, except for the layer's own events.
template <auto Slot, typename Handle, typename... Rest>
pi_result call_on(Faults &faults, Handle handle, Rest... rest) noexcept {
    const auto next = faults.next().*Slot;
    if constexpr (std::is_same_v<Handle, pi_event>) {
        FaultyEvent faulty;
        if constexpr (same_slot<Slot, &pi_dispatch::piEventRetain>) {
            faults.retain_event(handle);
        } else if constexpr (same_slot<Slot, &pi_dispatch::piEventRelease>) {
            // Before the plugin's release, after which the address may be another event's.
            faults.release_event(handle);
        } else if constexpr (same_slot<Slot, &pi_dispatch::piEventGetInfo>) {
            if (faults.find_event(handle, faulty))
                return guarded("piEventGetInfo",
                               [&] { return faulty_event_info(faults, faulty, handle, rest...); });
        } else if constexpr (same_slot<Slot, &pi_dispatch::piEventWait>) {
            const pi_result result = next(handle, rest...);
            pi_result own = PI_SUCCESS;
            if (result != PI_SUCCESS && faults.find_event(handle, faulty) &&
                faults.next().piEventGetInfo(handle, PI_EVENT_INFO_RESULT, sizeof own, &own,
                                             nullptr) == PI_SUCCESS &&
                own == result)
                return fail_text(result, faulty.text);
            return result;
        } else if constexpr (same_slot<Slot, &pi_dispatch::piEventSignalHost>) {
            if (faults.find_event(handle, faulty))
                return fail(PI_ERROR_INVALID_OPERATION,
                            "piEventSignalHost: event belongs to a command; a host event is "
                            "needed");
        }
    }
    return next(handle, rest...);
}

} // namespace pi::loader::fault
