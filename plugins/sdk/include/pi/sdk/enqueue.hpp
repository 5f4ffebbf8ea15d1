// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that every piEnqueueX shares, and the entries of events, which are the same in all
// backends.
#pragma once

#include <pi/sdk/deferred_release.hpp>
#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/event.hpp>

#include <type_traits>

namespace pi::sdk {

/// A command made of a callable `start(Event &)`. Its captured values live until the event is
/// complete.
template <class Start>
class FunctionCommand final : public Command {
public:
    explicit FunctionCommand(Start start) : start_(std::move(start)) {}
    void start(Event &event) override { start_(event); }

private:
    Start start_;
};
template <class Start>
std::unique_ptr<Command> make_command(Start start) {
    return std::make_unique<FunctionCommand<Start>>(std::move(start));
}

/// The call's arguments besides the descriptor.
struct EnqueueArguments {
    uint64_t flags; ///< the descriptor's; only PI_COMMAND_BLOCKING is read
    pi_struct_type type;
    uint32_t wait_count;
    const pi_event *wait_list;
    pi_event *out_event;
    Sequence::Role role = Sequence::Role::COMMAND;
};

/// Whether the command is blocking and has nothing to wait for, so that the backend may run it
/// within the call, without an event in the queue, if it then gets a TurnWithinCall. See
/// run_within_call.
template <class Queue>
bool runs_within_call(Queue &queue, const EnqueueArguments &arguments) {
    return arguments.flags & PI_COMMAND_BLOCKING && !arguments.wait_count &&
           !CallbackScope::active(queue.host()) && queue.sequence().idle();
}

/// For in-order queues: whether a command may take the fast path to the vendor, past the graph. It
/// may if it has no event and no wait list, does not block, and if every command before it is
/// complete or submitted in an order that phase(last) accepts (SUBMITTED for the command before
/// it).
template <class Queue, class PhaseOf>
bool takes_fast_path(Queue &queue, const EnqueueArguments &arguments, PhaseOf &&phase) {
    return !arguments.out_event && !arguments.wait_count &&
           !(arguments.flags & PI_COMMAND_BLOCKING) &&
           queue.sequence().open(std::forward<PhaseOf>(phase));
}

/// Runs a command for which runs_within_call holds, while its caller has the TurnWithinCall:
/// body(event) runs it and throws its failure. `event` is the new event if the application
/// requested one, else NULL; the application gets it, complete, after the body.
template <class Queue, class Body>
void run_within_call(Queue &queue, const EnqueueArguments &arguments, Body &&body) {
    if (!arguments.out_event)
        return std::forward<Body>(body)(static_cast<Event *>(nullptr));
    Ref<Event> event = queue.make_event(arguments.type);
    std::forward<Body>(body)(event.get());
    event->finish_within_call();
    *arguments.out_event = event.give();
}

/// Called after a submit: throws if the vendor refused the command, as its event's payload reports,
/// or if there was no memory to start it.
inline void throw_refusal(const Event &event) {
    const bool refused = event.found_no_memory() || (event.payload() && event.payload()->refused());
    if (refused && event.is_complete() && event.result() != PI_SUCCESS)
        throw Error(event.result(), event.error_text());
}

/// Blocks until the event is complete, in the vendor's driver where its payload can; throws the
/// command's error. Not allowed within a callback.
inline void wait_with_help(Event &event) {
    event.help();
    event.wait(PI_TIMEOUT_NEVER);
}

/// The last part of every piEnqueueX, once the descriptor is checked and the command is made:
/// checks the wait list, puts the command into the queue, and waits if it is blocking. A command
/// that the vendor refuses at once, as the payload reports, fails the call. Queue has `Ref<Event>
/// make_event(pi_struct_type)` and `Sequence &sequence()`.
template <class Queue>
void enqueue(Queue &queue, const EnqueueArguments &arguments, std::unique_ptr<Command> command,
             std::unique_ptr<Payload> payload = nullptr) {
    const bool blocking = arguments.flags & PI_COMMAND_BLOCKING;
    if (blocking && CallbackScope::active(queue.host()))
        fail(PI_ERROR_WOULD_BLOCK, "a blocking command inside a callback");
    const std::vector<Event *> waits =
        read_wait_list(queue.host(), arguments.wait_count, arguments.wait_list);
    Ref<Event> event = queue.make_event(arguments.type);
    if (payload) // else the queue may have set one
        event->set_payload(std::move(payload));
    queue.sequence().submit(*event, std::move(command), waits, arguments.role);
    throw_refusal(*event);
    if (blocking)
        wait_with_help(*event);
    if (arguments.out_event)
        *arguments.out_event = event.give();
}

/// The last part of every piEnqueueX of a backend that makes its commands as CommandType(Target,
/// parts...). It takes one of three ways to the vendor: within the call; on the fast path, past the
/// graph, for a PlainCommand; or through the graph. The backend has
/// Queue::takes_fast_path(arguments), CommandType::put_on_fast_path(references) and, found by the
/// type of its queue, enqueue_within_call(queue, arguments, command) and enqueue_in_graph(queue,
/// arguments, command). A Target is made of {queue, whether the command is destroyed when the call
/// returns, the CommandReferences that outlive such a command or NULL}.
template <class CommandType, class Target, class PlainCommand, class Queue, class... Parts>
void enqueue_some_way(Queue &queue, const EnqueueArguments &arguments, Parts &&...parts) {
    if (runs_within_call(queue, arguments))
        if (const TurnWithinCall turn(queue); turn) {
            CommandType command(Target{queue, true, nullptr}, std::forward<Parts>(parts)...);
            return enqueue_within_call(queue, arguments, command);
        }
    if constexpr (std::is_base_of_v<PlainCommand, CommandType>)
        if (queue.takes_fast_path(arguments)) {
            CommandReferences references;
            CommandType command(Target{queue, true, &references}, std::forward<Parts>(parts)...);
            return command.put_on_fast_path(references);
        }
    enqueue_in_graph(queue, arguments,
                     std::make_unique<CommandType>(Target{queue, false, nullptr},
                                                   std::forward<Parts>(parts)...));
}

namespace event_entries {

inline pi_result PI_CALL wait(pi_event event, uint64_t timeout) {
    return call<Event>(event, [&](Event &self) {
        if (timeout == PI_TIMEOUT_NEVER && self.queue() && !CallbackScope::active(self.host()))
            return wait_with_help(self);
        self.wait(timeout);
    });
}

inline pi_result PI_CALL get_info(pi_event event, pi_event_info name, uint64_t size, void *value,
                                  uint64_t *out_size) {
    static constexpr InfoRow<Event> rows[] = {
        {PI_EVENT_INFO_STATUS, [](Event &e, const InfoWriter &write) { write(e.status()); }},
        {PI_EVENT_INFO_RESULT, [](Event &e, const InfoWriter &write) { write(e.result()); }},
        {PI_EVENT_INFO_ERROR_TEXT,
         [](Event &e, const InfoWriter &write) { write(e.error_text()); }},
        {PI_EVENT_INFO_CONTEXT, [](Event &e, const InfoWriter &write) { write(e.context()); }},
        {PI_EVENT_INFO_QUEUE, [](Event &e, const InfoWriter &write) { write(e.queue()); }},
        {PI_EVENT_INFO_COMMAND, [](Event &e, const InfoWriter &write) { write(e.type()); }},
        {PI_EVENT_INFO_REFERENCE_COUNT,
         [](Event &e, const InfoWriter &write) { write(e.reference_count()); }},
    };
    return call<Event>(event,
                       [&](Event &self) { answer_info(self, rows, name, size, value, out_size); });
}

inline pi_result PI_CALL get_profiling_info(pi_event event, pi_profiling_info name, uint64_t size,
                                            void *value, uint64_t *out_size) {
    return call<Event>(
        event, [&](Event &self) { InfoWriter(size, value, out_size)(self.profiling(name)); });
}

inline pi_result PI_CALL set_callback(pi_event event, pi_event_callback callback, void *user_data) {
    return call<Event>(event, [&](Event &self) { self.set_callback(callback, user_data); });
}

template <class Context>
pi_result PI_CALL create_host(pi_context context, const pi_host_event_desc *desc,
                              pi_event *out_event) {
    return call<Context>(context, [&](Context &self) {
        check_plain_desc(desc, PI_TYPE_HOST_EVENT_DESC);
        require(out_event, "out_event");
        *out_event = make<Event>(self.host(), AnyRef(Ref<Context>(self))).give();
    });
}

inline pi_result PI_CALL signal_host(pi_event event, pi_result result) {
    return call<Event>(event, [&](Event &self) { self.signal(result); });
}

inline pi_result PI_CALL retain(pi_event event) {
    return call<Event>(event, [](Event &self) {
        self.application_retain();
        self.retain();
    });
}

inline pi_result PI_CALL release(pi_event event) {
    return call<Event>(event, [](Event &self) { self.application_release(); });
}

/// Fills the event slots of a plugin's table except those of native handles.
template <class Context>
constexpr void fill(pi_dispatch &table) {
    table.piEventWait = wait;
    table.piEventGetInfo = get_info;
    table.piEventGetProfilingInfo = get_profiling_info;
    table.piEventSetCallback = set_callback;
    table.piEventCreateHost = create_host<Context>;
    table.piEventSignalHost = signal_host;
    table.piEventRetain = retain;
    table.piEventRelease = release;
}

} // namespace event_entries

} // namespace pi::sdk
