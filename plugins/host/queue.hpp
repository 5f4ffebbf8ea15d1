// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "executor.hpp"

#include <pi/sdk/queue.hpp>

namespace pi::host {

/// A queue only orders commands; the instance's threads do the work of all queues.
class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &context, Device &device, uint64_t flags)
        : Object(context.host()), context_(context), device_(device), flags_(flags),
          sequence_(!(flags & PI_QUEUE_OUT_OF_ORDER)) {}

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    uint64_t flags() const { return flags_; }
    sdk::Sequence &sequence() { return sequence_; }
    /// For sdk::queue_entries.
    void finish() { sequence_.finish(); }
    void order(const sdk::EnqueueArguments &arguments) {
        enqueue(arguments, Cost::NONE, [] {});
    }
    void call_host(const sdk::EnqueueArguments &arguments, pi_host_function function,
                   void *user_data);

    /// For sdk::enqueue. A timestamp has profiling times even without PI_QUEUE_PROFILING: they are
    /// its purpose.
    sdk::Ref<sdk::Event> make_event(pi_struct_type type) {
        const bool profiling = flags_ & PI_QUEUE_PROFILING || type == PI_TYPE_TIMESTAMP_DESC;
        return sdk::make<sdk::Event>(host(), sdk::AnyRef(context_),
                                     sdk::AnyRef(sdk::Ref<Queue>(*this)), &sequence_, type,
                                     profiling);
    }

    /// The last part of every piEnqueueX of this plugin: enqueues a command that calls `work()`
    /// once.
    template <class Work>
    void enqueue(const sdk::EnqueueArguments &arguments, Cost cost, Work work) {
        if (cost != Cost::PLUGIN_THREAD && sdk::runs_within_call(*this, arguments))
            if (const sdk::TurnWithinCall turn(*this); turn)
                return sdk::run_within_call(*this, arguments, [&](sdk::Event *event) {
                    if (event)
                        event->running();
                    work();
                });
        auto command = std::make_unique<WorkCommand<Work>>(device_, cost, std::move(work));
        const Executor::EnqueueScope scope(command.get(), arguments.flags & PI_COMMAND_BLOCKING);
        sdk::enqueue(*this, arguments, std::move(command));
    }

private:
    const sdk::Ref<Context> context_;
    Device &device_;
    const uint64_t flags_;
    sdk::Sequence sequence_;
};

} // namespace pi::host
