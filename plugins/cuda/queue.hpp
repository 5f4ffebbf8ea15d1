// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "stream.hpp"

#include <pi/sdk/queue.hpp>

#include <atomic>
#include <memory>
#include <vector>

namespace pi::cuda {

/// In order one stream; out of order a few, since what is in one stream waits for each other.
class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &context, Device &device, uint64_t flags);

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    Primary &primary() const { return primary_; }
    const Api &api() const { return context_->api(); }
    uint64_t flags() const { return flags_; }
    bool profiling() const { return flags_ & PI_QUEUE_PROFILING; }
    sdk::Sequence &sequence() { return sequence_; }
    /// For sdk::queue_entries. Flushes do nothing: streams start by themselves.
    void finish() { sequence_.finish(); }
    void order(const sdk::EnqueueArguments &arguments);
    void call_host(const sdk::EnqueueArguments &arguments, pi_host_function function,
                   void *user_data);
    /// A new event of a command of this queue. A timestamp's times are what it is for.
    sdk::Ref<sdk::Event> make_event(pi_struct_type type) {
        return sdk::make<sdk::Event>(host(), sdk::AnyRef(context_),
                                     sdk::AnyRef(sdk::Ref<Queue>(*this)), &sequence_, type,
                                     profiling() || type == PI_TYPE_TIMESTAMP_DESC);
    }

    /// The stream for a command that waits for one in `wish`, which may be NULL or another queue's.
    Stream &choose(const Stream *wish);

private:
    const sdk::Ref<Context> context_;
    Device &device_;
    Primary &primary_;
    const uint64_t flags_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::atomic<uint32_t> next_{0};
    sdk::Sequence sequence_;
};

} // namespace pi::cuda
