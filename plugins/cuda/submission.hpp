// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a command of the graph becomes work in a stream, and how its completion is noticed.
//
// The driver orders commands of one CUDA context: in a stream, and by events between streams.
// Commands with any other dependency (a host event, another device, a copy of pageable memory) are
// held by the graph until the dependency is complete, and are not carried out if it fails. A thread
// that waits for the oldest command of each busy stream notices completion, or the application's
// thread that waits for the event. (The driver's host functions are not called after an error.)
//
// Two kinds of commands bypass the graph. A blocking command without dependencies completes within
// the call. A command without an event takes the fast path into the stream of an in-order queue, if
// all earlier commands are in that stream.
#pragma once

#include "queue.hpp"

#include <pi/sdk/command_ref.hpp>
#include <pi/sdk/deferred_release.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pi::cuda {

class StreamCommand;

/// The payload of events of commands in a stream, and of events around the application's CUevents.
/// Other events, of commands that the plugin carries out itself, have no payload.
class StreamEvent final : public sdk::Payload {
public:
    explicit StreamEvent(Primary &primary) : primary_(primary) { times_[0] = sdk::now(); }
    /// Around the application's event: it has no command; dependent commands are held until it is
    /// complete.
    StreamEvent(Primary &primary, std::shared_ptr<CUevent_st> native)
        : primary_(primary), around_(true), native_(std::move(native)) {}

    uint64_t profiling(pi_profiling_info name) const override {
        return times_[name - PI_PROFILING_QUEUED];
    }
    const Primary &primary() const { return primary_; }
    bool around() const { return around_; }
    /// A CUevent that completes with the command of `event`, valid as long as this lives. NULL
    /// while the command is in no stream, or if it has failed.
    CUevent native(const sdk::Event &event);

    /// The command's position while it is in a stream.
    struct Place {
        Stream *stream = nullptr; ///< NULL: not in a stream, or no longer
        uint64_t number = 0;
        SharedEvent done; ///< NULL for an unnamed event of an in-order queue
    };
    Place place() const {
        std::lock_guard lock(mutex_);
        return place_;
    }
    bool refused() const override { return refused_.load(std::memory_order_acquire); }
    void help(sdk::Event &event) override;

    /// To be called before the command is submitted: the application has no handle of the event,
    /// and only commands of its own queue depend on it.
    void set_unnamed() { unnamed_ = true; }

private:
    friend class StreamCommand;
    void note_times();

    Primary &primary_;
    const bool around_ = false;
    bool unnamed_ = false;
    mutable std::mutex mutex_; ///< guards what follows up to began_
    Place place_;
    bool succeeded_ = false; ///< it has left its stream, and the event is about to be complete
    std::shared_ptr<CUevent_st> native_;
    SharedEvent began_;
    std::shared_ptr<Clock::Base> base_;
    std::array<uint64_t, 4> times_{};
    std::optional<sdk::Error> failure_; ///< a part that the driver refused after accepting others
    StreamCommand *command_ = nullptr;
    std::atomic<bool> refused_{false};
};

/// The queue of a command, and how it is carried out.
struct Target {
    Queue &queue;
    /// It completes within the enqueue call.
    bool within_call = false;
    /// Receives references to what the command uses; NULL if it completes within the call.
    sdk::CommandReferences *references = nullptr;
};

/// SUBMITTED if the driver orders work in a stream of this primary context behind the dependency's
/// command.
sdk::Phase phase_in_stream(const Primary &primary, const sdk::Event &dependency);

/// Collects the results of a command's calls of the driver; the context is current.
class Submission {
public:
    Submission(Primary &primary, CUstream stream) : primary_(primary), stream_(stream) {}
    Primary &primary() const { return primary_; }
    const Api &api() const { return primary_.api(); }
    CUstream stream() const { return stream_; }

    /// Throws if the driver has refused a part of the command.
    template <class... Parts>
    void add(CUresult code, const char *call, const Parts &...parts) {
        primary_.check(code, call, parts...);
        taken_ = true;
    }
    bool taken() const { return taken_; }

private:
    Primary &primary_;
    const CUstream stream_;
    bool taken_ = false;
};

/// A command that runs in a stream.
class StreamCommand : public sdk::Command {
public:
    /// `marker`: it has no work, only a place in the order.
    explicit StreamCommand(Queue &queue, bool marker = false) : queue_(queue), marker_(marker) {}

    /// SUBMITTED for commands in a stream of the same CUDA context.
    void expect(size_t dependencies) override { before_.reserve(dependencies); }
    sdk::Phase phase(const sdk::Event &dependency, bool carries_error) const noexcept override;
    void start(sdk::Event &event) final;
    /// Completes the command within the call; throws if it fails. The queue must be idle. Records
    /// times in `payload`, which is NULL if they are not needed.
    void run(StreamEvent *payload);
    /// Whether it records times of the device.
    virtual bool timed() const { return queue_.profiling(); }
    /// Completes the event of a command that has left its stream.
    static void ended(sdk::Event &event, CUresult code, const char *call);
    /// Puts the command into the stream, which keeps the references until it has completed.
    /// Requires Queue::takes_fast_path().
    void put_on_fast_path(sdk::CommandReferences &references);

protected:
    Queue &queue() const { return queue_; }
    /// Makes the driver's calls. May throw before or between them.
    virtual void issue(Submission &submission) = 0;
    /// Called after success, before the event is complete.
    virtual void completed() {}

private:
    void put(sdk::Event &event, StreamEvent &payload);
    bool wait_in_stream(Stream &stream);
    SharedEvent make_done(StreamEvent *timed) const;
    void record(Stream &stream, const PooledEvent &event);

    Queue &queue_; ///< the event keeps it alive
    const bool marker_;
    bool taken_ = false;                               ///< a part of the command is in the stream
    mutable std::vector<sdk::Ref<sdk::Event>> before_; ///< dependencies that the driver orders
};

/// A command that has nothing left to do once it is in the stream: the object need not live until
/// its end.
class PlainCommand : public StreamCommand {
public:
    explicit PlainCommand(Queue &queue) : StreamCommand(queue) {}

private:
    void completed() final {}
};

/// Two of the paths of enqueue_stream().
void enqueue_within_call(Queue &queue, const sdk::EnqueueArguments &arguments,
                         StreamCommand &command);
void enqueue_in_graph(Queue &queue, const sdk::EnqueueArguments &arguments,
                      std::unique_ptr<StreamCommand> command);

/// The last step of each piEnqueueX of a stream command: makes a CommandType(target, parts...). If
/// the driver refuses it immediately, the call returns the error.
template <class CommandType, class... Parts>
void enqueue_stream(Queue &queue, const sdk::EnqueueArguments &arguments, Parts &&...parts) {
    queue.primary().require_alive();
    sdk::enqueue_some_way<CommandType, Target, PlainCommand>(queue, arguments,
                                                             std::forward<Parts>(parts)...);
}

} // namespace pi::cuda
