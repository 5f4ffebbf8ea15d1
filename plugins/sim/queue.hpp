// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "connection.hpp"
#include "links.hpp"

#include <pi/sdk/queue.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pi::sim {

struct FaultSpec;

/// A command: what it does to the machine's clock and links, and to bytes.
class Work final : public sdk::Command {
public:
    /// Moves the first `bytes` of the transfer. Its captured values live until the event is
    /// complete.
    using Body = std::function<void(uint64_t bytes, sdk::Event &event)>;

    Work(Instance &instance, Transfer transfer, Body body, const FaultSpec *fault);
    void start(sdk::Event &event) override;

    const Task &task() const { return transfer_.task; }

private:
    void finish(sdk::Event &event);
    void run(sdk::Event &event);

    Instance &instance_;
    const Transfer transfer_;
    const Body body_;              ///< empty: the command only has its place in the order
    const FaultSpec *const fault_; ///< of the machine; or NULL
    std::optional<sdk::Error> failure_;
};

/// A queue only orders commands; the instance's threads do the work of all queues.
class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &context, Device &device, uint64_t flags)
        : Object(context.host()), context_(context), device_(device), flags_(flags),
          sequence_(!(flags & PI_QUEUE_OUT_OF_ORDER)), order_(!(flags & PI_QUEUE_OUT_OF_ORDER)) {}

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    Place place() const { return {device_, *context_}; }
    Links &links() const;
    uint64_t flags() const { return flags_; }
    sdk::Sequence &sequence() { return sequence_; }
    /// For sdk::queue_entries.
    void finish();
    void order(const sdk::EnqueueArguments &arguments) { enqueue(arguments, {}, {}, {}); }
    void call_host(const sdk::EnqueueArguments &arguments, pi_host_function function,
                   void *user_data);

    /// The last part of every piEnqueueX of this plugin. `sites`: the memories that the command
    /// needs besides its own device's.
    void enqueue(const sdk::EnqueueArguments &arguments, Transfer transfer,
                 const std::vector<Site> &sites, Work::Body body);

private:
    struct Submission;

    const sdk::Ref<Context> context_;
    Device &device_;
    const uint64_t flags_;
    sdk::Sequence sequence_;
    std::mutex order_mutex_; ///< guards the members below
    QueueOrder order_;
};

/// Makes a callable that can only be moved copyable, for std::function.
template <class Callable>
auto shared(Callable callable) {
    return [body = std::make_shared<Callable>(std::move(callable))](
               uint64_t bytes, sdk::Event &event) { (*body)(bytes, event); };
}

} // namespace pi::sim
