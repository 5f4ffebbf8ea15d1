// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/enqueue.hpp>

namespace pi::opencl {

class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &context, Device &device, uint64_t flags);

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    const Api &api() const { return context_->api(); }
    cl_command_queue id() const { return vendor_.get(); }
    uint64_t flags() const { return flags_; }
    bool profiling() const { return flags_ & PI_QUEUE_PROFILING; }
    sdk::Sequence &sequence() { return sequence_; }
    /// The vendor runs the commands that it has in the order in which it got them. Also true where our queue is out of
    /// order and the vendor's cannot be: what must wait is held by us, so nothing stands behind it.
    bool vendor_in_order() const { return vendor_in_order_; }

private:
    const sdk::Ref<Context> context_;
    Device &device_;
    const uint64_t flags_;
    const bool vendor_in_order_;
    QueueOwner vendor_;
    sdk::Sequence sequence_;
};

} // namespace pi::opencl
