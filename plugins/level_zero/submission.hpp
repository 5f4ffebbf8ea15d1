// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a command of the graph becomes work in a command list, and how its end comes back.
//
// The driver orders commands of one device in one context, by events. What waits for anything else (a host event, another
// device, a copy through the host) is held by the graph until that is final, so that it does nothing if it fails. The end
// is learnt by the context's thread, or by the thread of the application that waits for the event anyway.
//
// Two kinds of commands need no graph. A blocking one with nothing before it is put into the list and waited for within the
// call. One that nobody gets an event of goes straight into the list of a queue in order, if all before it are there.
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

/// What an event of a command in a list keeps, or one around an event of the application's. Every event with a payload has
/// this one; events of commands that are ours alone have none.
class ListEvent final : public sdk::Payload {
public:
    explicit ListEvent(Place &place) : place_(place) { times_[0] = sdk::now(); }
    /// Around the application's event: no command is behind it, and what comes after it is held until it is final.
    ListEvent(Place &place, std::shared_ptr<void> native)
        : place_(place), around_(true), native_(std::move(native)) {}

    uint64_t profiling(pi_profiling_info name) const override {
        return times_[name - PI_PROFILING_QUEUED];
    }
    const Place &place() const { return place_; }
    bool around() const { return around_; }
    /// What completes as the command of `event` does, as long as this lives; NULL before the command is in a list, or when
    /// it never was.
    ze_event_handle_t native(const sdk::Event &event);

    /// Where the command is, while it is in a list.
    struct Where {
        List *list = nullptr; ///< NULL: in none, or in none any more
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
    SharedEvent done_; ///< stays, for native()
    std::shared_ptr<void> native_;
    std::vector<SharedEvent> before_; ///< what the driver waits for: not to be used again before
    SharedEvent began_;
    bool whole_ = false; ///< one call of the driver's, whose event has both times
    std::array<uint64_t, 4> times_{};
    std::optional<sdk::Error> failure_; ///< of a part that the driver refused behind others
    ListCommand *command_ = nullptr;
    std::atomic<bool> refused_{false};
};

/// Where a command goes, and how.
struct Target {
    Queue &queue;
    bool within_call = false; ///< it is gone when the enqueue call returns
    /// What it names, if it is not done by then; else NULL.
    sdk::CommandReferences *references = nullptr;
};

/// SUBMITTED if the driver orders what is put into a list of this place behind that command.
sdk::Phase phase_in_list(const Place &place, const sdk::Event &dependency);

/// A command's calls of the driver while they are made. What waits for events before it, and signals one at its end, is
/// the call itself if there is one; else barriers around the calls.
class Submission {
public:
    /// How a call waits and signals: the last parameters of zeCommandListAppend...
    struct Order {
        ze_event_handle_t signal;
        uint32_t wait_count;
        ze_event_handle_t *waits;
    };
    /// `waits` and what they name outlive it.
    Submission(Place &place, ze_command_list_handle_t list, std::span<ze_event_handle_t> waits,
               ze_event_handle_t begin, ze_event_handle_t end)
        : place_(place), list_(list), waits_(waits), begin_(begin), end_(end) {}

    Place &place() const { return place_; }
    const Api &api() const { return place_.api(); }
    ze_command_list_handle_t list() const { return list_; }

    /// The whole command is append(order), a call of the driver.
    template <class Append, class... Parts>
    void whole(const char *call, Append &&append, const Parts &...parts) {
        check(append(Order{end_, static_cast<uint32_t>(waits_.size()), data()}), call, parts...);
        ended_ = whole_ = true;
    }
    /// The command is several calls in no order.
    template <class Append, class... Parts>
    void part(const char *call, Append &&append, const Parts &...parts) {
        open();
        check(append(Order{nullptr, 0, nullptr}), call, parts...);
    }
    /// What comes next waits for all parts so far.
    void barrier() { check_barrier(nullptr, 0, nullptr); }
    /// Behind all parts, or where there are none.
    void close();
    bool was_whole() const { return whole_; }
    /// Whether the driver has taken a part of the command.
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

/// A command that is carried out in a list.
class ListCommand : public sdk::Command {
public:
    /// `marker`: it only has a place in the order.
    explicit ListCommand(Queue &queue, bool marker = false) : queue_(queue), marker_(marker) {}

    /// SUBMITTED for what is in a list of the same place.
    void expect(size_t dependencies) override { before_.reserve(dependencies); }
    sdk::Phase phase(const sdk::Event &dependency, bool carries_error) const noexcept override;
    void start(sdk::Event &event) final;
    /// Does it within the call; on return it has ended. Throws its failure. The queue must be idle. Notes its times in
    /// `payload`, which is NULL if nobody wants them.
    void run(ListEvent *payload);
    /// Whether it has times of the device.
    virtual bool timed() const { return queue_.profiling(); }
    /// Ends the event, whose command has left its list.
    static void ended(sdk::Event &event, ze_result_t code, const char *call);
    /// Puts it into the list, which keeps the references until it has ended. The queue takes_fast_path.
    void put_on_fast_path(sdk::CommandReferences &references);

protected:
    Queue &queue() const { return queue_; }
    /// Puts it into the list. May throw before or between the driver's calls.
    virtual void issue(Submission &submission) = 0;
    /// Called when it has ended with success, before the event is final.
    virtual void completed() {}

private:
    void put(sdk::Event &event, ListEvent &payload);
    std::vector<SharedEvent> events_before(const List &list) const;

    Queue &queue_; ///< the event keeps it alive
    const bool marker_;
    bool taken_ = false;                               ///< a part of it is in the list
    mutable std::vector<sdk::Ref<sdk::Event>> before_; ///< dependencies left to the driver
};

/// One that has nothing left to do when it is in the list, so that it need not wait there for its end.
class PlainCommand : public ListCommand {
public:
    explicit PlainCommand(Queue &queue) : ListCommand(queue) {}

private:
    void completed() final {}
};

/// Two of the ways of enqueue_list.
void enqueue_within_call(Queue &queue, const sdk::EnqueueArguments &arguments,
                         ListCommand &command);
void enqueue_in_graph(Queue &queue, const sdk::EnqueueArguments &arguments,
                      std::unique_ptr<ListCommand> command);

/// The end of each piEnqueueX whose command is a list's: makes a CommandType(target, parts...). What the driver refuses at
/// once is an error of the call.
template <class CommandType, class... Parts>
void enqueue_list(Queue &queue, const sdk::EnqueueArguments &arguments, Parts &&...parts) {
    queue.place().require_alive();
    sdk::enqueue_some_way<CommandType, Target, PlainCommand>(queue, arguments,
                                                             std::forward<Parts>(parts)...);
}

} // namespace pi::level_zero
