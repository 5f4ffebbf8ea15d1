// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that writes a trace: each call on its thread's track, each command on its queue's.
#pragma once

#include "functions.hpp"
#include "layers/trace/file.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace pi::loader {
class PluginInstance;
}

namespace pi::loader::trace {

class QueueTrack;

/// A command from its enqueue to its end.
struct Command {
    const char *function = nullptr;
    uint64_t id = 0;
    std::shared_ptr<QueueTrack> queue;
    Track caller{};
    uint64_t enqueued = 0; ///< when its call began
    uint64_t bytes = 0;
    const char *route = nullptr; ///< nullptr: it moves nothing
    std::string kernel;          ///< for a launch

    // Under the tracer's lock.
    enum class State {
        pending,
        complete,
        settled ///< it is shown, or will never be
    };
    State state = State::pending;
    std::vector<std::shared_ptr<Command>> waits;     ///< until it is settled
    std::vector<std::shared_ptr<Command>> followers; ///< complete, and shown when it is settled
    pi_result result = PI_SUCCESS;
    Track track{};
    uint64_t started = 0; ///< complete: the device's time, or 0; shown: the displayed time
    uint64_t ended = 0;   ///< the same; 0: it is not shown
};

/// A queue whose commands are shown. Under the tracer's lock.
class QueueTrack {
public:
    QueueTrack(Lanes where, uint64_t flags, pi_device of)
        : in_order((flags & PI_QUEUE_OUT_OF_ORDER) == 0),
          profiling((flags & PI_QUEUE_PROFILING) != 0), device(of), lanes(std::move(where)) {}

    const bool in_order;
    const bool profiling;
    const pi_device device;
    Lanes lanes;
    std::deque<std::shared_ptr<Command>> pending; ///< in the order of their calls
};

class Tracer {
public:
    Tracer(PluginInstance &instance, std::shared_ptr<TraceFile> file);

    const pi_dispatch &next() const noexcept { return next_; }
    TraceFile &file() const noexcept { return *file_; }

    void call(const char *function, uint64_t begin, pi_result result) noexcept;

    // Before a command's call, and after it. Every command has an event.
    std::shared_ptr<Command> begin(const char *function, pi_queue queue, uint32_t wait_count,
                                   const pi_event *wait_list);
    /// The call failed.
    void withdraw(const std::shared_ptr<Command> &command) noexcept;
    /// `event` is the command's; if `wanted`, the application has it, too.
    void follow(const std::shared_ptr<Command> &command, pi_event event, bool wanted);

    std::shared_ptr<QueueTrack> add_queue(pi_queue queue);
    /// An event without a command: forgets the earlier event with this address.
    void add_event(pi_event event);
    void add_image(pi_mem image, const pi_mem_image_desc *desc);

    /// The bytes of a pixel of an image; 0 if it is not a known image.
    uint64_t pixel_size(pi_mem image);
    const char *route(pi_mem src, pi_mem dst) const;
    std::string kernel_name(pi_kernel kernel) const;

private:
    struct Completion;
    static void PI_CALL on_complete(pi_event event, pi_result result, void *user_data);
    struct Times {
        uint64_t start; ///< 0: the device does not report it
        uint64_t end;
    };
    /// For a completed command, on the host's clock.
    Times times_of(const Command &command, pi_event event) const;
    void finish(const std::shared_ptr<Command> &command, pi_event event, pi_result result);

    // All of these need the lock.
    using Commands = std::vector<std::shared_ptr<Command>>;
    /// Shows those that are complete and whose turn it is, and their followers.
    void show_due(Commands commands);
    void show(Command &command) noexcept;
    /// Adds commands whose turn may come now to `next`.
    void settle(const std::shared_ptr<Command> &command, Commands &next);
    std::shared_ptr<QueueTrack> find_queue(pi_queue queue);
    /// Called without the lock, when memory was short: the order is unknown, so no running command
    /// is shown.
    void lose_pending() noexcept;

    const pi_dispatch &next_;
    const pi_dispatch &base_; ///< for its own queries and callbacks, which no other layer sees
    const pi_dispatch *const outermost_; ///< in the plugin's handles
    const std::shared_ptr<TraceFile> file_;
    Process process_;

    static constexpr std::size_t max_known = 16384;
    std::mutex mutex_;
    std::unordered_map<pi_queue, std::shared_ptr<QueueTrack>> queues_;
    int64_t queue_count_ = 0;
    std::unordered_map<pi_mem, uint64_t> pixel_sizes_;
    std::unordered_map<pi_event, std::shared_ptr<Command>> events_; ///< the command that ends it
};

} // namespace pi::loader::trace
