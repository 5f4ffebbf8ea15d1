// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "stream.hpp"

#include <pi/sdk/queue.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace pi::cuda {

/// In order one stream; out of order a few, since what is in one stream waits for each other.
class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &context, Device &device, uint64_t flags);
    /// In order, around the application's stream, which is destroyed in the end if *own is true by then.
    Queue(Context &context, Device &device, uint64_t flags, CUstream stream,
          std::shared_ptr<const bool> own);
    ~Queue();

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    Primary &primary() const { return primary_; }
    const Api &api() const { return context_->api(); }
    uint64_t flags() const { return flags_; }
    bool profiling() const { return flags_ & PI_QUEUE_PROFILING; }
    sdk::Sequence &sequence() { return sequence_; }
    /// For sdk::queue_entries. Flushes do nothing: streams start by themselves.
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

    /// Of a queue in order; NULL of one that has several.
    CUstream stream() const { return streams_.size() == 1 ? streams_.front()->id() : nullptr; }
    /// From now on the application may put work of its own into the stream.
    void share();
    bool shared() const { return shared_.load(std::memory_order_relaxed); }
    /// For what is not put into the stream: waits on the calling thread for what the graph does not know of, which is the
    /// application's work there, and commands without events.
    void wait_for_stream();
    /// Posts the task to `threads` once that has ended: at once, or from a thread of the instance.
    void behind_stream(sdk::Workers &threads, sdk::Workers::Prepared task);

    /// Whether a command may go straight to the stream, past the graph: nobody gets an event of it, it waits for no event,
    /// and all before it are in the stream, or have ended.
    bool takes_fast_path(const sdk::EnqueueArguments &arguments);
    Stream &front() { return *streams_.front(); }
    /// The stream for a command that waits for one in `wish`, which may be NULL or another queue's.
    Stream &choose(const Stream *wish);

private:
    bool keeps();

    const sdk::Ref<Context> context_;
    Device &device_;
    Primary &primary_;
    const uint64_t flags_;
    std::vector<std::shared_ptr<Stream>> streams_;
    std::atomic<uint32_t> next_{0};
    std::atomic<bool> shared_{false};
    sdk::Sequence sequence_;
};

} // namespace pi::cuda
