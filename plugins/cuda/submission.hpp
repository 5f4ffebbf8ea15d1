// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a command of the graph becomes work in a stream, and how its end comes back.
//
// The driver orders commands of one CUDA context: in a stream, and by events between streams. What waits for anything
// else (a host event, another device, a copy of pageable memory) is held by the graph until that is final, so that it
// does nothing if it fails. The end is learnt by a thread that waits for the oldest command of each busy stream, or by
// the thread of the application that waits for the event anyway. (A host function of the driver would do neither after
// an error.)
//
// Two kinds of commands need no graph. A blocking one with nothing before it is put into the stream and waited for within
// the call. One that nobody gets an event of goes straight into the stream of a queue in order, if all before it are there.
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

/// What an event of a command in a stream keeps, or one around an event of the application's. Every event with a payload
/// has this one; events of commands that are ours alone have none.
class StreamEvent final : public sdk::Payload {
public:
    explicit StreamEvent(Primary &primary) : primary_(primary) { times_[0] = sdk::now(); }
    /// Around the application's event: no command is behind it, and what comes after it is held until it is final.
    StreamEvent(Primary &primary, std::shared_ptr<CUevent_st> native)
        : primary_(primary), around_(true), native_(std::move(native)) {}

    uint64_t profiling(pi_profiling_info name) const override {
        return times_[name - PI_PROFILING_QUEUED];
    }
    const Primary &primary() const { return primary_; }
    bool around() const { return around_; }
    /// What completes as the command `event` does, as long as this lives; NULL while the command is in no stream, or
    /// when it has failed.
    CUevent native(const sdk::Event &event);

    /// Where the command is, while it is in a stream.
    struct Place {
        Stream *stream = nullptr; ///< NULL: in none, or in none any more
        uint64_t number = 0;
        SharedEvent done; ///< NULL of an unnamed event in a queue in order
    };
    Place place() const {
        std::lock_guard lock(mutex_);
        return place_;
    }
    bool refused() const override { return refused_.load(std::memory_order_acquire); }
    void help(sdk::Event &event) override;

    /// Before the command is submitted: nobody outside has the event, and none but its own queue's commands wait for it.
    void set_unnamed() { unnamed_ = true; }

private:
    friend class StreamCommand;
    void note_times();

    Primary &primary_;
    const bool around_ = false;
    bool unnamed_ = false;
    mutable std::mutex mutex_; ///< guards what follows up to began_
    Place place_;
    bool succeeded_ = false; ///< it has left its stream, and the event is about to be final
    std::shared_ptr<CUevent_st> native_;
    SharedEvent began_;
    std::shared_ptr<Clock::Base> base_;
    std::array<uint64_t, 4> times_{};
    std::optional<sdk::Error> failure_; ///< of a part that the driver refused behind others
    StreamCommand *command_ = nullptr;
    std::atomic<bool> refused_{false};
};

/// Where a command goes, and how.
struct Target {
    Queue &queue;
    /// It is gone when the enqueue call returns.
    bool within_call = false;
    /// What it names, if it is not done by then; else NULL.
    sdk::CommandReferences *references = nullptr;
};

/// SUBMITTED if the driver orders what is put into a stream of this primary context behind that command.
sdk::Phase phase_in_stream(const Primary &primary, const sdk::Event &dependency);

/// A command's calls of the driver while they are made; the context is current.
class Submission {
public:
    Submission(Primary &primary, CUstream stream) : primary_(primary), stream_(stream) {}
    Primary &primary() const { return primary_; }
    const Api &api() const { return primary_.api(); }
    CUstream stream() const { return stream_; }

    /// Throws unless the driver has taken a part of the command.
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

/// A command that is carried out in a stream.
class StreamCommand : public sdk::Command {
public:
    /// `marker`: it only has a place in the order.
    explicit StreamCommand(Queue &queue, bool marker = false) : queue_(queue), marker_(marker) {}

    /// SUBMITTED for what is in a stream of the same CUDA context.
    void expect(size_t dependencies) override { before_.reserve(dependencies); }
    sdk::Phase phase(const sdk::Event &dependency, bool carries_error) const noexcept override;
    void start(sdk::Event &event) final;
    /// Does it within the call; on return it has ended. Throws its failure. The queue must be idle. Notes its times in
    /// `payload`, which is NULL if nobody wants them.
    void run(StreamEvent *payload);
    /// Whether it has times of the device.
    virtual bool timed() const { return queue_.profiling(); }
    /// Ends the event, whose command has left its stream.
    static void ended(sdk::Event &event, CUresult code, const char *call);
    /// Puts it into the stream, which keeps the references until it has ended. The queue takes_fast_path.
    void put_on_fast_path(sdk::CommandReferences &references);

protected:
    Queue &queue() const { return queue_; }
    /// Puts it into the stream. May throw before or between the driver's calls.
    virtual void issue(Submission &submission) = 0;
    /// Called when it has ended with success, before the event is final.
    virtual void completed() {}

private:
    void put(sdk::Event &event, StreamEvent &payload);
    bool wait_in_stream(Stream &stream);
    SharedEvent make_done(StreamEvent *timed) const;
    void record(Stream &stream, const PooledEvent &event);

    Queue &queue_; ///< the event keeps it alive
    const bool marker_;
    bool taken_ = false;                               ///< a part of it is in the stream
    mutable std::vector<sdk::Ref<sdk::Event>> before_; ///< dependencies left to the driver
};

/// One that has nothing left to do when it is in the stream, so that it need not wait there for its end.
class PlainCommand : public StreamCommand {
public:
    explicit PlainCommand(Queue &queue) : StreamCommand(queue) {}

private:
    void completed() final {}
};

/// Two of the ways of enqueue_stream.
void enqueue_within_call(Queue &queue, const sdk::EnqueueArguments &arguments,
                         StreamCommand &command);
void enqueue_in_graph(Queue &queue, const sdk::EnqueueArguments &arguments,
                      std::unique_ptr<StreamCommand> command);

/// The end of each piEnqueueX whose command is a stream's: makes a CommandType(target, parts...). What the driver
/// refuses at once is an error of the call.
template <class CommandType, class... Parts>
void enqueue_stream(Queue &queue, const sdk::EnqueueArguments &arguments, Parts &&...parts) {
    queue.primary().require_alive();
    sdk::enqueue_some_way<CommandType, Target, PlainCommand>(queue, arguments,
                                                             std::forward<Parts>(parts)...);
}

} // namespace pi::cuda
