// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interface mutants: what can be wrong with one function of a plugin, for functions of any type.
#pragma once

#include <pi/pi_plugin.h>

#include <array>
#include <string_view>
#include <vector>

namespace pi::mutants {

/// The functions of the real plugin. Set before any mutated one can be called.
inline const pi_dispatch *original = nullptr;

template <class Desc>
using Enqueue = pi_result(PI_CALL *)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                     pi_event *);

/// "Success without doing it": for a command, an event that waits for the wait list and nothing
/// else.
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

/// "A failure reported as success".
template <auto Slot, class Function>
struct FailureHidden;
template <auto Slot, class... Arguments>
struct FailureHidden<Slot, pi_result(PI_CALL *)(Arguments...)> {
    static pi_result PI_CALL call(Arguments... arguments) {
        (original->*Slot)(arguments...);
        return PI_SUCCESS;
    }
};

/// Kind<Slot, Name, Subject...> for an info function, which has (subject..., name, size, value,
/// out_size).
template <template <auto, class, class...> class Kind, auto Slot, class Function>
struct OfInfo {};
template <template <auto, class, class...> class Kind, auto Slot, class Handle, class Name>
struct OfInfo<Kind, Slot, pi_result(PI_CALL *)(Handle, Name, uint64_t, void *, uint64_t *)>
    : Kind<Slot, Name, Handle> {};
template <template <auto, class, class...> class Kind, auto Slot, class Handle, class Device,
          class Name>
struct OfInfo<Kind, Slot, pi_result(PI_CALL *)(Handle, Device, Name, uint64_t, void *, uint64_t *)>
    : Kind<Slot, Name, Handle, Device> {};

/// "The value is not written": the size and the result of an info function are right.
template <auto Slot, class Name, class... Subject>
struct ValueNotWrittenOf {
    static pi_result PI_CALL call(Subject... subject, Name name, uint64_t size, void *value,
                                  uint64_t *out_size) {
        std::array<unsigned char, 1 << 16> elsewhere;
        if (!value || size > elsewhere.size())
            return (original->*Slot)(subject..., name, size, value, out_size);
        return (original->*Slot)(subject..., name, size, elsewhere.data(), out_size);
    }
};
template <auto Slot, class Function>
struct ValueNotWritten : OfInfo<ValueNotWrittenOf, Slot, Function> {};

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

/// "The wait list's first event ignored".
template <auto Slot, class Function>
struct FirstEventIgnored {};
template <auto Slot, class Desc>
struct FirstEventIgnored<Slot, Enqueue<Desc>> {
    static pi_result PI_CALL call(pi_queue queue, const Desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
        const bool some = wait_count > 0 && wait_list;
        const uint32_t left = wait_count - (some ? 1 : 0);
        return (original->*Slot)(queue, desc, left, left > 0 && some ? wait_list + 1 : nullptr,
                                 out_event);
    }
};

/// "The wait list's last event ignored".
template <auto Slot, class Function>
struct LastEventIgnored {};
template <auto Slot, class Desc>
struct LastEventIgnored<Slot, Enqueue<Desc>> {
    static pi_result PI_CALL call(pi_queue queue, const Desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
        const uint32_t left = wait_count - (wait_count > 0 && wait_list ? 1 : 0);
        return (original->*Slot)(queue, desc, left, left > 0 ? wait_list : nullptr, out_event);
    }
};

/// "Blocking ignored": the call returns at once.
template <auto Slot, class Function>
struct BlockingIgnored {};
template <auto Slot, class Desc>
struct BlockingIgnored<Slot, Enqueue<Desc>> {
    static pi_result PI_CALL call(pi_queue queue, const Desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
        if (!desc || desc->struct_size != sizeof *desc)
            return (original->*Slot)(queue, desc, wait_count, wait_list, out_event);
        Desc other = *desc;
        other.flags &= ~PI_COMMAND_BLOCKING;
        return (original->*Slot)(queue, &other, wait_count, wait_list, out_event);
    }
};

/// "Blocks": the call returns when its command is done, although the caller did not ask for that.
template <auto Slot, class Function>
struct Blocks {};
template <auto Slot, class Desc>
struct Blocks<Slot, Enqueue<Desc>> {
    static pi_result PI_CALL call(pi_queue queue, const Desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
        pi_event event = nullptr;
        const pi_result result = (original->*Slot)(queue, desc, wait_count, wait_list, &event);
        if (result != PI_SUCCESS)
            return result;
        original->piEventWait(event, PI_TIMEOUT_NEVER);
        if (out_event)
            *out_event = event;
        else
            original->piEventRelease(event);
        return PI_SUCCESS;
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
        original->piEventCreateHost(context, nullptr, out_event);
        original->piEventSignalHost(*out_event, PI_SUCCESS);
        return original->piEventRelease(real);
    }
};

/// One kind of mutation of one function.
struct Mutant {
    std::string_view function;
    std::string_view kind;
    /// Replaces the function in a table.
    void (*inject)(pi_dispatch &table);
    /// Whether the plugin has the function.
    bool (*applies)(const pi_dispatch &table);
};

template <template <auto, class> class Kind, auto Slot, class Function>
void add(std::vector<Mutant> &list, std::string_view function, std::string_view kind) {
    using Injected = Kind<Slot, Function>;
    if constexpr (requires { &Injected::call; })
        list.push_back({function, kind, [](pi_dispatch &table) { table.*Slot = &Injected::call; },
                        [](const pi_dispatch &table) { return table.*Slot != nullptr; }});
}

/// Every mutant of every function of the interface.
inline std::vector<Mutant> all() {
    std::vector<Mutant> list;
#define PI_MUTANT(slot, Kind, kind)                                                                \
    add<Kind, &pi_dispatch::slot, decltype(pi_dispatch::slot)>(list, #slot, kind);
#define PI_FUNCTION(name, group, needs, since)                                                     \
    PI_MUTANT(name, NothingDone, "nothing_done")                                                   \
    PI_MUTANT(name, FailureHidden, "failure_hidden")                                               \
    PI_MUTANT(name, ValueNotWritten, "value_not_written")                                          \
    PI_MUTANT(name, WaitListIgnored, "wait_list_ignored")                                          \
    PI_MUTANT(name, FirstEventIgnored, "first_event_ignored")                                      \
    PI_MUTANT(name, LastEventIgnored, "last_event_ignored")                                        \
    PI_MUTANT(name, BlockingIgnored, "blocking_ignored")                                           \
    PI_MUTANT(name, Blocks, "blocks")                                                              \
    PI_MUTANT(name, CompleteAtOnce, "complete_at_once")
#include <pi/pi_functions.def>
#undef PI_MUTANT
    return list;
}

} // namespace pi::mutants
