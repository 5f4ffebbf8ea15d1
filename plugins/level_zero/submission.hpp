// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a command of the graph becomes work in a command list, and how its completion is noticed.
//
// The driver orders commands of one device in one context, by events. Commands with any other
// dependency (a host event, another device, a copy through the host) are held by the graph until
// the dependency is complete, and are not carried out if it fails. The context's thread notices
// completion, or the application's thread that waits for the event.
//
// Two kinds of commands bypass the graph. A blocking command without dependencies completes within
// the call. A command without an event takes the fast path into the list of an in-order queue, if
// all earlier commands are in that list.
#pragma once

#include "queue.hpp"

#include <pi/sdk/command_ref.hpp>
#include <pi/sdk/deferred_release.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace pi::level_zero {

class ListCommand;

/// The payload of events of commands in a list, and of events around the application's events.
/// Other events, of commands that the plugin carries out itself, have no payload.
class ListEvent final : public sdk::Payload {
public:
    explicit ListEvent(Place &place) : place_(place) { times_[0] = sdk::now(); }
    /// Around the application's event: it has no command; dependent commands are held until it is
    /// complete.
    ListEvent(Place &place, std::shared_ptr<void> native)
        : place_(place), around_(true), native_(std::move(native)) {}

    uint64_t profiling(pi_profiling_info name) const override {
        return times_[name - PI_PROFILING_QUEUED];
    }
    const Place &place() const { return place_; }
    bool around() const { return around_; }
    /// A driver event that completes with the command of `event`, valid as long as this lives. NULL
    /// before the command is in a list, or if it never was.
    ze_event_handle_t native(const sdk::Event &event);

    /// The command's position while it is in a list.
    struct Where {
        List *list = nullptr; ///< NULL: not in a list, or no longer
        uint64_t number = 0;
        SharedEvent done;
    };
    Where where() const {
        std::lock_guard lock(mutex_);
        return where_;
    }
    bool refused() const override { return refused_.load(std::memory_order_acquire); }
    void help(sdk::Event &event) override;

private:
    friend class ListCommand;
    void note_times();

    Place &place_;
    const bool around_ = false;
    mutable std::mutex mutex_; ///< guards what follows up to before_
    Where where_;
    SharedEvent done_; ///< kept for native()
    std::shared_ptr<void> native_;
    /// the driver's wait uses these, so they must not be reused earlier
    std::vector<SharedEvent> before_;
    SharedEvent began_;
    bool whole_ = false; ///< a single driver call, whose event has both times
    std::array<uint64_t, 4> times_{};
    std::optional<sdk::Error> failure_; ///< a part that the driver refused after accepting others
    ListCommand *command_ = nullptr;
    std::atomic<bool> refused_{false};
};

/// The queue of a command, and how it is carried out.
struct Target {
    Queue &queue;
    bool within_call = false; ///< it completes within the enqueue call
    /// Receives references to what the command uses; NULL if it completes within the call.
    sdk::CommandReferences *references = nullptr;
};

/// SUBMITTED if the driver orders work in a list of this place behind the dependency's command.
sdk::Phase phase_in_list(const Place &place, const sdk::Event &dependency);

/// Collects a command's calls of the driver. A single call waits for the dependencies and signals
/// the end itself; several calls have barriers around them.
class Submission {
public:
    /// The last parameters of zeCommandListAppend...: what it signals and waits for.
    struct Order {
        ze_event_handle_t signal;
        uint32_t wait_count;
        ze_event_handle_t *waits;
    };
    /// `waits` and its events must outlive it.
    Submission(Place &place, ze_command_list_handle_t list, std::span<ze_event_handle_t> waits,
               ze_event_handle_t begin, ze_event_handle_t end)
        : place_(place), list_(list), waits_(waits), begin_(begin), end_(end) {}

    Place &place() const { return place_; }
    const Api &api() const { return place_.api(); }
    ze_command_list_handle_t list() const { return list_; }

    /// The whole command is append(order), one call of the driver.
    template <class Append, class... Parts>
    void whole(const char *call, Append &&append, const Parts &...parts) {
        check(append(Order{end_, static_cast<uint32_t>(waits_.size()), data()}), call, parts...);
        ended_ = whole_ = true;
    }
    /// A part of a command of several calls, which are not ordered among themselves.
    template <class Append, class... Parts>
    void part(const char *call, Append &&append, const Parts &...parts) {
        open();
        check(append(Order{nullptr, 0, nullptr}), call, parts...);
    }
    /// Later parts wait for all parts so far.
    void barrier() { check_barrier(nullptr, 0, nullptr); }
    /// To be called behind all parts, also if there are none.
    void close();
    bool was_whole() const { return whole_; }
    /// Whether the driver has accepted a part of the command.
    bool taken() const { return taken_; }

private:
    template <class... Parts>
    void check(ze_result_t code, const char *call, const Parts &...parts) {
        place_.check(code, call, parts...);
        taken_ = true;
    }
    ze_event_handle_t *data() { return waits_.empty() ? nullptr : waits_.data(); }
    void open();
    void check_barrier(ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits);

    Place &place_;
    const ze_command_list_handle_t list_;
    const std::span<ze_event_handle_t> waits_;
    const ze_event_handle_t begin_, end_; ///< begin_ may be NULL
    bool open_ = false, ended_ = false, whole_ = false, taken_ = false;
};

/// A command that runs in a list.
class ListCommand : public sdk::Command {
public:
    /// `marker`: it has no work, only a place in the order.
    explicit ListCommand(Queue &queue, bool marker = false) : queue_(queue), marker_(marker) {}

    /// SUBMITTED for commands in a list of the same place.
    void expect(size_t dependencies) override { before_.reserve(dependencies); }
    sdk::Phase phase(const sdk::Event &dependency, bool carries_error) const noexcept override;
    void start(sdk::Event &event) final;
    /// Completes the command within the call; throws if it fails. The queue must be idle. Records
    /// times in `payload`, which is NULL if they are not needed.
    void run(ListEvent *payload);
    /// Whether it records times of the device.
    virtual bool timed() const { return queue_.profiling(); }
    /// Completes the event of a command that has left its list.
    static void ended(sdk::Event &event, ze_result_t code, const char *call);
    /// Puts the command into the list, which keeps the references until it has completed. Requires
    /// Queue::takes_fast_path().
    void put_on_fast_path(sdk::CommandReferences &references);

protected:
    Queue &queue() const { return queue_; }
    /// Makes the driver's calls. May throw before or between them.
    virtual void issue(Submission &submission) = 0;
    /// Called after success, before the event is complete.
    virtual void completed() {}

private:
    void put(sdk::Event &event, ListEvent &payload);
    std::vector<SharedEvent> events_before(const List &list) const;

    Queue &queue_; ///< the event keeps it alive
    const bool marker_;
    bool taken_ = false;                               ///< a part of the command is in the list
    mutable std::vector<sdk::Ref<sdk::Event>> before_; ///< dependencies that the driver orders
};

/// A command that has nothing left to do once it is in the list: the object need not live until its
/// end.
class PlainCommand : public ListCommand {
public:
    explicit PlainCommand(Queue &queue) : ListCommand(queue) {}

private:
    void completed() final {}
};

/// Two of the paths of enqueue_list().
void enqueue_within_call(Queue &queue, const sdk::EnqueueArguments &arguments,
                         ListCommand &command);
void enqueue_in_graph(Queue &queue, const sdk::EnqueueArguments &arguments,
                      std::unique_ptr<ListCommand> command);

/// The last step of each piEnqueueX of a list command: makes a CommandType(target, parts...). If
/// the driver refuses it immediately, the call returns the error.
template <class CommandType, class... Parts>
void enqueue_list(Queue &queue, const sdk::EnqueueArguments &arguments, Parts &&...parts) {
    queue.place().require_alive();
    sdk::enqueue_some_way<CommandType, Target, PlainCommand>(queue, arguments,
                                                             std::forward<Parts>(parts)...);
}

} // namespace pi::level_zero
