// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be wrong with one slot, for slots of any type.
#pragma once

#include <pi/pi_plugin.h>

#include <string_view>
#include <vector>

namespace pi::mutants {

/// The functions of the real plugin. Set before any mutated one can be called.
inline const pi_dispatch *original = nullptr;

template <class Desc>
using Enqueue = pi_result(PI_CALL *)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                     pi_event *);

/// "Success without doing it": for a command, an event that waits for the wait list and nothing else.
template <auto Slot, class Function>
struct NothingDone;
template <auto Slot, class... Arguments>
struct NothingDone<Slot, pi_result(PI_CALL *)(Arguments...)> {
    static pi_result PI_CALL call(Arguments...) { return PI_SUCCESS; }
};
template <auto Slot, class Desc>
struct NothingDone<Slot, Enqueue<Desc>> {
    static pi_result PI_CALL call(pi_queue queue, const Desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
        const pi_events_wait_desc wait = {sizeof wait, PI_TYPE_EVENTS_WAIT_DESC, nullptr,
                                          desc ? desc->flags & PI_COMMAND_BLOCKING : 0};
        return original->piEnqueueEventsWait(queue, &wait, wait_count, wait_list, out_event);
    }
};

/// "Wait list ignored": the command itself is right.
template <auto Slot, class Function>
struct WaitListIgnored {};
template <auto Slot, class Desc>
struct WaitListIgnored<Slot, Enqueue<Desc>> {
    static pi_result PI_CALL call(pi_queue queue, const Desc *desc, uint32_t, const pi_event *,
                                  pi_event *out_event) {
        return (original->*Slot)(queue, desc, 0, nullptr, out_event);
    }
};

/// "Event complete at once": the command is right, but its event does not wait for it.
template <auto Slot, class Function>
struct CompleteAtOnce {};
template <auto Slot, class Desc>
struct CompleteAtOnce<Slot, Enqueue<Desc>> {
    static pi_result PI_CALL call(pi_queue queue, const Desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
        pi_event real = nullptr;
        const pi_result result =
            (original->*Slot)(queue, desc, wait_count, wait_list, out_event ? &real : nullptr);
        if (result != PI_SUCCESS || !out_event)
            return result;
        pi_context context = nullptr;
        original->piQueueGetInfo(queue, PI_QUEUE_INFO_CONTEXT, sizeof context, &context, nullptr);
        original->piEventCreateHost(context, out_event);
        original->piEventSignalHost(*out_event, PI_SUCCESS);
        return original->piEventRelease(real);
    }
};

/// One defect of one slot.
struct Mutant {
    std::string_view function;
    std::string_view defect;
    /// Puts it into a table; null if the plugin does not have the function, where nothing can be wrong.
    void (*plant)(pi_dispatch &table);
    bool (*applies)(const pi_dispatch &table);
};

template <template <auto, class> class Defect, auto Slot, class Function>
void add(std::vector<Mutant> &list, std::string_view function, std::string_view defect) {
    using Planted = Defect<Slot, Function>;
    if constexpr (requires { &Planted::call; })
        list.push_back({function, defect, [](pi_dispatch &table) { table.*Slot = &Planted::call; },
                        [](const pi_dispatch &table) { return table.*Slot != nullptr; }});
}

/// Every defect of every function of the interface that it can have.
inline std::vector<Mutant> all() {
    std::vector<Mutant> list;
#define PI_FUNCTION(name, group, needs, since)                                                     \
    add<NothingDone, &pi_dispatch::name, decltype(pi_dispatch::name)>(list, #name,                 \
                                                                      "nothing_done");             \
    add<WaitListIgnored, &pi_dispatch::name, decltype(pi_dispatch::name)>(list, #name,             \
                                                                          "wait_list_ignored");    \
    add<CompleteAtOnce, &pi_dispatch::name, decltype(pi_dispatch::name)>(list, #name,              \
                                                                         "complete_at_once");
#include <pi/pi_functions.def>
    return list;
}

} // namespace pi::mutants
