// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/queue.hpp>

namespace pi::opencl {

class Queue : public sdk::Object<Queue, pi_queue> {
public:
    /// Around `vendor`, or a new one if that is empty.
    Queue(Context &context, Device &device, uint64_t flags, QueueOwner vendor = {});

    ~Queue();

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    const Api &api() const { return context_->api(); }
    cl_command_queue id() const { return vendor_.get(); }
    uint64_t flags() const { return flags_; }
    bool profiling() const { return flags_ & PI_QUEUE_PROFILING; }
    /// To be called before the application can enqueue work of its own into the vendor's queue.
    void share() { shared_.store(true, std::memory_order_relaxed); }
    bool shared() const { return shared_.load(std::memory_order_relaxed); }
    sdk::Sequence &sequence() { return sequence_; }
    /// For sdk::queue_entries. Flushes do nothing: every command is flushed when it is enqueued.
    void finish() { sequence_.finish(); }
    void order(const sdk::EnqueueArguments &arguments);
    void call_host(const sdk::EnqueueArguments &arguments, pi_host_function function,
                   void *user_data);
    /// A new event for a command of this queue. Timestamp commands always have times.
    sdk::Ref<sdk::Event> make_event(pi_struct_type type) {
        return sdk::make<sdk::Event>(host(), sdk::AnyRef(context_),
                                     sdk::AnyRef(sdk::Ref<Queue>(*this)), &sequence_, type,
                                     profiling() || type == PI_TYPE_TIMESTAMP_DESC);
    }
    /// Whether the vendor runs commands in the order in which it receives them. Also true for an
    /// out-of-order queue whose vendor queue cannot be: the plugin holds commands that must wait,
    /// so they block nothing.
    bool vendor_in_order() const { return vendor_in_order_; }

private:
    const sdk::Ref<Context> context_;
    Device &device_;
    const uint64_t flags_;
    const bool vendor_in_order_;
    std::atomic<bool> shared_{false};
    QueueOwner vendor_;
    sdk::Sequence sequence_;
};

} // namespace pi::opencl
