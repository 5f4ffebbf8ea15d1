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

/// One stream if in order; a few if out of order, since commands in one stream wait for each other.
class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &context, Device &device, uint64_t flags);
    /// An in-order queue around the application's stream, which is destroyed at the end if *own is
    /// true.
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
    /// For sdk::queue_entries. Flushes do nothing: streams start without one.
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

    /// The stream of an in-order queue; NULL for a queue that has several.
    CUstream stream() const { return streams_.size() == 1 ? streams_.front()->id() : nullptr; }
    /// To be called before the application may add work of its own to the stream.
    void share();
    bool shared() const { return shared_.load(std::memory_order_relaxed); }
    /// Waits, on the calling thread, for work that the graph does not track: the application's own,
    /// and commands without events. For commands that are not carried out in the stream.
    void wait_for_stream();
    /// Posts the task to `threads` once that work has completed: immediately, or from a thread of
    /// the instance.
    void behind_stream(sdk::Workers &threads, sdk::Workers::Prepared task);

    /// Whether a command may take the fast path: into the stream without the graph. It has no event
    /// and no wait list, and all earlier commands are in the stream or complete.
    bool takes_fast_path(const sdk::EnqueueArguments &arguments);
    Stream &front() { return *streams_.front(); }
    /// The stream for a command that depends on one in `wish`, which may be NULL or another
    /// queue's.
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
