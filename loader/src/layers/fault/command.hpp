// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that fail after their call, and delayed commands.
#pragma once

#include "error.hpp"
#include "layers/fault/fault.hpp"
#include "layers/fault/shorten.hpp"
#include "layers/layers.hpp"

#include <memory>
#include <vector>

namespace pi::loader::fault {

/// Lives until a command's real work is done and its event is to fail.
struct Failure {
    Faults &faults;
    const Fault &fault;
    pi_event event;
};

void end_event(Failure &failure, pi_event done, pi_result result) noexcept;

/// The host event that replaces a command's own. A wait for it takes the command's place in the
/// queue, so that an in-order queue stays in order and a finished one has no command left. Takes
/// ownership of `done`.
pi_result fail_event_after(Faults &faults, const Fault &fault, pi_queue queue,
                           pi_struct_type command, bool barrier, pi_event done,
                           pi_event *out_event);

/// A host event of the queue's context.
pi_result make_host_event(Faults &faults, pi_queue queue, pi_event *out_event);

/// Replaces a command that does nothing: an event that completes when the command could have begun.
/// `waits_for_all`: with an empty wait list it waits for all earlier commands.
pi_result wait_in_place(Faults &faults, pi_queue queue, uint64_t flags, bool waits_for_all,
                        uint32_t wait_count, const pi_event *wait_list, pi_event *out_done);

template <auto Slot>
inline constexpr bool waits_for_all = same_slot<Slot, &pi_dispatch::piEnqueueEventsWait> ||
                                      same_slot<Slot, &pi_dispatch::piEnqueueBarrier>;

/// fail_event and short: the remaining part of the command is done, then its event fails.
template <auto Slot, typename Desc>
pi_result failing_command(Faults &faults, const Fault &fault, pi_queue queue, const Desc *desc,
                          uint32_t wait_count, const pi_event *wait_list, pi_event *out_event) {
    const pi_dispatch &next = faults.next();
    Desc own{};
    const bool valid = copy_descriptor(desc, type_of<Desc>, own);
    if (desc != nullptr && !valid)
        return (next.*Slot)(queue, desc, wait_count, wait_list, out_event); // refused there
    const bool blocking = (own.flags & PI_COMMAND_BLOCKING) != 0;
    Halves<Desc> halves;
    // The call returns the address of the memory, which remains even if the command fails later.
    bool something = std::is_same_v<Desc, pi_usm_alloc_desc> && valid && !blocking;
    if constexpr (can_shorten<Desc>)
        something = fault.action == Action::shorten && valid && shorten(own, halves);

    pi_event done = nullptr;
    const pi_result result = something
                                 ? (next.*Slot)(queue, &own, wait_count, wait_list, &done)
                                 : wait_in_place(faults, queue, own.flags & PI_COMMAND_BLOCKING,
                                                 waits_for_all<Slot>, wait_count, wait_list, &done);
    if (result != PI_SUCCESS)
        return result;
    if (blocking) {
        next.piEventRelease(done);
        return Faults::fail_call(fault);
    }
    return fail_event_after(faults, fault, queue, type_of<Desc>,
                            same_slot<Slot, &pi_dispatch::piEnqueueBarrier>, done, out_event);
}

/// delay: the command waits for one more event.
template <auto Slot, typename Desc>
pi_result delayed_command(Faults &faults, const Fault &fault, pi_queue queue, const Desc *desc,
                          uint32_t wait_count, const pi_event *wait_list, pi_event *out_event) {
    const pi_dispatch &next = faults.next();
    if (wait_count != 0 && wait_list == nullptr)
        return (next.*Slot)(queue, desc, wait_count, wait_list, out_event); // refused there
    std::vector<pi_event> waits;
    waits.reserve(std::size_t{wait_count} + 2);
    waits.assign(wait_list, wait_list + wait_count);
    pi_event before = nullptr;
    if (waits_for_all<Slot> && wait_count == 0) {
        // Without a list it waits for all earlier commands, and must also do so with one.
        const pi_result result = next.piEnqueueEventsWait(queue, nullptr, 0, nullptr, &before);
        if (result != PI_SUCCESS)
            return result;
        waits.push_back(before);
    }
    pi_event gate = nullptr;
    pi_result result = make_host_event(faults, queue, &gate);
    if (result == PI_SUCCESS) {
        waits.push_back(gate);
        next.piEventRetain(gate); // the call may take longer than the delay to read its list
        // Before the call, which may block.
        result = guarded(function_rows[fault.function].name, [&] {
            faults.signal_later(fault, gate);
            return PI_SUCCESS;
        });
        if (result == PI_SUCCESS)
            result = (next.*Slot)(queue, desc, static_cast<uint32_t>(waits.size()), waits.data(),
                                  out_event);
        else
            next.piEventRelease(gate); // the timer's
        next.piEventRelease(gate);
    }
    if (before != nullptr)
        next.piEventRelease(before);
    return result;
}

template <auto Slot, typename Desc>
pi_result faulty_command(Faults &faults, const Fault &fault, pi_queue queue, const Desc *desc,
                         uint32_t wait_count, const pi_event *wait_list, pi_event *out_event) {
    return fault.action == Action::delay
               ? delayed_command<Slot>(faults, fault, queue, desc, wait_count, wait_list, out_event)
               : failing_command<Slot>(faults, fault, queue, desc, wait_count, wait_list,
                                       out_event);
}

} // namespace pi::loader::fault
