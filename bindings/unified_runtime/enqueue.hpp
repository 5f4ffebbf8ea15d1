// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts, queues and events, and the one way in which all commands are enqueued.
#pragma once

#include "adapter.hpp"

#include <pi/runtime/facade.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace facade = pi::runtime::facade;

struct ur_context_handle_t_ : pi::unified_runtime::Handle {
    using Devices = std::vector<pi::unified_runtime::Ref<ur_device_handle_t_>>;
    ur_context_handle_t_(std::shared_ptr<facade::Context> of_pi, Devices handles)
        : core(std::move(of_pi)), devices(std::move(handles)) {}
    ~ur_context_handle_t_();

    /// UR_RESULT_ERROR_INVALID_DEVICE: not a device of the context.
    ur_device_handle_t_ &device_of(pi_device device) const;
    /// A device of another context is UR_RESULT_ERROR_INVALID_DEVICE.
    void check_device(ur_device_handle_t device) const;

    const std::shared_ptr<facade::Context> core;
    const Devices devices;
    std::mutex deleters_mutex;
    std::vector<std::pair<ur_context_extended_deleter_t, void *>> deleters;
};

struct ur_queue_handle_t_ : pi::unified_runtime::Handle {
    ur_queue_handle_t_(ur_context_handle_t in, ur_device_handle_t on, ur_queue_flags_t ur_flags,
                       uint64_t pi_flags);
    ur_queue_handle_t_(ur_context_handle_t in, ur_device_handle_t on, pi::runtime::Queue queue);

    const pi::unified_runtime::Ref<ur_context_handle_t_> context;
    const pi::unified_runtime::Ref<ur_device_handle_t_> device;
    const ur_queue_flags_t flags = 0;
    const facade::Queue core;
};

struct ur_event_handle_t_ : pi::unified_runtime::Handle {
    ur_event_handle_t_(ur_context_handle_t in, ur_queue_handle_t of, ur_command_t type)
        : context(in), queue(of), command(type) {}

    const pi::unified_runtime::Ref<ur_context_handle_t_> context;
    const pi::unified_runtime::Ref<ur_queue_handle_t_> queue; // empty for a native event
    const ur_command_t command;
    facade::Event core;
    /// The status once it does not change any more: DPC++ asks for it very often.
    std::atomic<ur_event_status_t> final_status{UR_EVENT_STATUS_QUEUED};
};

namespace pi::unified_runtime {

/// The wait list of a UR command.
struct WaitList {
    uint32_t count = 0;
    const ur_event_handle_t *events = nullptr;
};

/// A UR command while it is being enqueued: checks the wait list, and makes the event. The event's
/// memory is there before anything is enqueued.
///
///     Enqueue enqueue(queue, {count, waits}, UR_COMMAND_MEM_BUFFER_READ, out_event);
///     desc.mem = enqueue.use(buffer, Access::read, offset, size).mem ...
///     enqueue.run("piEnqueueMemBufferRead", piEnqueueMemBufferRead, desc);
class Enqueue {
public:
    Enqueue(ur_queue_handle_t queue, WaitList waits, ur_command_t command,
            ur_event_handle_t *out_event);

    facade::Command &command() noexcept { return *command_; }
    const facade::Queue &queue() const noexcept { return queue_.core; }

    template <class Desc, class Function>
    void run(const char *name, Function function, const Desc &desc) {
        finish(command_->enqueue(name, function, desc, event_ != nullptr));
    }
    /// A command whose event others have made. The queue's later commands wait for it, if it is in
    /// order.
    void finish(facade::Event event);
    /// Whether the caller wants an event.
    bool wants_event() const noexcept { return event_ != nullptr; }

private:
    ur_queue_handle_t_ &queue_;
    std::optional<facade::Command> command_;
    std::unique_ptr<ur_event_handle_t_> event_;
    ur_event_handle_t *out_event_;
};

/// PI_COMMAND_BLOCKING or nothing.
constexpr uint64_t blocking(bool is) {
    return is ? PI_COMMAND_BLOCKING : 0;
}

} // namespace pi::unified_runtime
