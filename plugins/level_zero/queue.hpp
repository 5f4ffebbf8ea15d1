// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "list.hpp"

#include <pi/sdk/queue.hpp>

#include <functional>
#include <memory>

namespace pi::level_zero {

/// A command list. If in order, each command waits for the previous one; otherwise only for its
/// wait list.
class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &context, Device &device, uint64_t flags);
    /// An in-order queue around the application's immediate list, which is destroyed at the end if
    /// *own is true.
    Queue(Context &context, Device &device, ze_command_list_handle_t list,
          std::shared_ptr<const bool> own);
    ~Queue();

    Context &context() const { return *context_; }
    Device &device() const { return place_.device(); }
    Place &place() const { return place_; }
    const Api &api() const { return place_.api(); }
    uint64_t flags() const { return flags_; }
    bool profiling() const { return flags_ & PI_QUEUE_PROFILING; }
    sdk::Sequence &sequence() { return sequence_; }
    List &list() const { return *list_; }
    /// For sdk::queue_entries. Flushes do nothing: lists start without one.
    void finish();
    void order(const sdk::EnqueueArguments &arguments);
    void call_host(const sdk::EnqueueArguments &arguments, pi_host_function function,
                   void *user_data);
    /// A new event for a command of this queue. Timestamp commands always have times.
    sdk::Ref<sdk::Event> make_event(pi_struct_type type) {
        return sdk::make<sdk::Event>(host(), sdk::AnyRef(context_),
                                     sdk::AnyRef(sdk::Ref<Queue>(*this)), &sequence_, type,
                                     profiling() || type == PI_TYPE_TIMESTAMP_DESC);
    }

    /// Whether a command may take the fast path: into the list without the graph. See
    /// sdk::takes_fast_path.
    bool takes_fast_path(const sdk::EnqueueArguments &arguments);
    /// Waits, on the calling thread, for work that the graph does not track: commands without
    /// events. For commands that are not carried out in the list.
    void wait_for_list();
    /// Posts the task once that work has completed: immediately, or from a thread of the instance.
    void behind_list(sdk::Workers &threads, sdk::Workers::Prepared task);

private:
    const sdk::Ref<Context> context_;
    Place &place_;
    const uint64_t flags_;
    const std::shared_ptr<List> list_;
    sdk::Sequence sequence_;
};

} // namespace pi::level_zero
