// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "list.hpp"

#include <pi/sdk/queue.hpp>

#include <functional>
#include <memory>

namespace pi::level_zero {

/// A command list. In order each command waits for the one before it; else for what it is told to wait for.
class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &context, Device &device, uint64_t flags);
    /// In order, around the application's immediate list, which is destroyed in the end if *own is true by then.
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
    /// For sdk::queue_entries. Flushes do nothing: what is in a list starts by itself.
    void finish();
    void order(const sdk::EnqueueArguments &arguments);
    void call_host(const sdk::EnqueueArguments &arguments, pi_host_function function,
                   void *user_data);
    /// A new event of a command of this queue. A timestamp's times are what it is for.
    sdk::Ref<sdk::Event> make_event(pi_struct_type type) {
        return sdk::make<sdk::Event>(host(), sdk::AnyRef(context_),
                                     sdk::AnyRef(sdk::Ref<Queue>(*this)), &sequence_, type,
                                     profiling() || type == PI_TYPE_TIMESTAMP_DESC);
    }

    /// Whether a command may go straight to the list, past the graph: see sdk::takes_fast_path.
    bool takes_fast_path(const sdk::EnqueueArguments &arguments);
    /// For what is not put into the list: waits on the calling thread for what the graph does not know of, which is commands
    /// without events.
    void wait_for_list();
    /// Calls the task once that has ended: at once, or on a thread of the instance.
    void behind_list(sdk::Workers &threads, sdk::Workers::Prepared task);

private:
    const sdk::Ref<Context> context_;
    Place &place_;
    const uint64_t flags_;
    const std::shared_ptr<List> list_;
    sdk::Sequence sequence_;
};

} // namespace pi::level_zero
