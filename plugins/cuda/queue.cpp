// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue.hpp"
#include "entries.hpp"
#include "submission.hpp"

namespace pi::cuda {

using namespace sdk;

namespace {

/// More streams gain little: a device runs a few kernels at a time, and has two or three copy
/// engines.
constexpr uint32_t streams_out_of_order = 4;

int priority_of(Primary &primary, uint64_t flags) {
    int least = 0, greatest = 0;
    primary.check(primary.api().cuCtxGetStreamPriorityRange(&least, &greatest),
                  "cuCtxGetStreamPriorityRange");
    // A lower number is more urgent; 0 is the default.
    return flags & PI_QUEUE_PRIORITY_HIGH ? greatest : flags & PI_QUEUE_PRIORITY_LOW ? least : 0;
}

/// Events-wait and barrier: they only wait for their dependencies.
class MarkerCommand final : public StreamCommand {
public:
    explicit MarkerCommand(const Target &target) : StreamCommand(target.queue, true) {}
    void issue(Submission &) override {}
};

/// A marker with times of its own.
class TimestampCommand final : public StreamCommand {
public:
    explicit TimestampCommand(const Target &target) : StreamCommand(target.queue) {}
    bool timed() const override { return true; }
    void issue(Submission &) override {}
};

} // namespace

Queue::Queue(Context &context, Device &device, uint64_t flags)
    : Object(context.host()), context_(context), device_(device), primary_(context.primary(device)),
      flags_(flags), sequence_(!(flags & PI_QUEUE_OUT_OF_ORDER)) {
    primary_.require_alive();
    primary_.clock().begin();
    const Current current(primary_);
    const int priority = priority_of(primary_, flags);
    const uint32_t count = flags & PI_QUEUE_OUT_OF_ORDER ? streams_out_of_order : 1;
    for (uint32_t i = 0; i < count; ++i)
        streams_.push_back(primary_.track(std::make_shared<Stream>(primary_, priority)));
}

Queue::Queue(Context &context, Device &device, uint64_t flags, CUstream stream,
             std::shared_ptr<const bool> own)
    : Object(context.host()), context_(context), device_(device), primary_(context.primary(device)),
      flags_(flags), shared_(true), sequence_(true) {
    primary_.clock().begin();
    streams_.push_back(primary_.track(std::make_shared<Stream>(primary_, stream, std::move(own))));
}

void Queue::share() {
    // Seal before the application adds work: waits for PI's commands must not wait for it.
    if (!shared_.exchange(true, std::memory_order_relaxed))
        streams_.front()->seal();
}

Queue::~Queue() {
    if (streams_.size() > 1 || !keeps()) {
        for (const auto &stream : streams_)
            stream->close();
        return;
    }
    // Drop the references of commands that have completed or are lost, on another thread:
    // destructors may wait for other work.
    context().instance().reap([stream = streams_.front()] {
        stream->sweep();
        stream->close();
    });
}

void Queue::finish() {
    // Wait in the driver for commands in the streams: it wakes this thread directly.
    if (!CallbackScope::active(host()))
        for (const auto &stream : streams_)
            stream->wait();
    else if (stream() && (front().sweep(), keeps()))
        fail(PI_ERROR_WOULD_BLOCK, "finishing a queue inside a callback");
    sequence_.finish();
}

bool Queue::keeps() {
    std::lock_guard lock(front().mutex());
    return front().keeps();
}

void Queue::wait_for_stream() {
    if (shared() || keeps())
        primary_.check(front().synchronize(), "cuStreamSynchronize", "on ", device_.name());
}

void Queue::behind_stream(Workers &threads, Workers::Prepared task) {
    if (!shared() && !keeps())
        return threads.post(std::move(task));
    // whichever of the two runs
    const auto one = std::make_shared<Workers::Prepared>(std::move(task));
    if (context().instance().run_waiting([queue = Ref<Queue>(*this), &threads, one] {
            try {
                queue->wait_for_stream();
            } catch (...) {
                // The context is lost; the task will find that out.
            }
            threads.post(std::move(*one));
        }))
        return;
    context().instance().watcher().add(
        [queue = Ref<Queue>(*this), ended = front().mark_end(), &threads, one] {
            if (!ended())
                return false;
            threads.post(std::move(*one));
            return true;
        });
}

bool Queue::takes_fast_path(const EnqueueArguments &arguments) {
    return streams_.size() == 1 && !profiling() && !shared() &&
           sdk::takes_fast_path(*this, arguments, [this](const Event &last) {
               return phase_in_stream(primary_, last);
           });
}

Stream &Queue::choose(const Stream *wish) {
    if (streams_.size() == 1)
        return *streams_.front();
    for (const auto &stream : streams_)
        if (stream.get() == wish)
            return *stream;
    return *streams_[next_.fetch_add(1, std::memory_order_relaxed) % streams_.size()];
}

void Queue::order(const EnqueueArguments &arguments) {
    enqueue_stream<MarkerCommand>(*this, arguments);
}

void Queue::call_host(const EnqueueArguments &arguments, pi_host_function function,
                      void *user_data) {
    Instance &instance = context().instance();
    auto start = [this, &instance, function, user_data](Event &event) {
        primary_.require_alive();
        Workers &threads = instance.host_functions();
        auto task = threads.prepare(host_function_task(event, function, user_data));
        event.submitted();
        behind_stream(threads, std::move(task));
    };
    enqueue(*this, arguments, make_command(std::move(start)));
}

namespace entries {

pi_result PI_CALL piQueueCreate(pi_context context, pi_device device, const pi_queue_desc *desc,
                                pi_queue *out_queue) {
    return call<Context>(context, [&](Context &self) {
        const pi_queue_desc known = read_optional_desc(desc, PI_TYPE_QUEUE_DESC);
        require(out_queue, "out_queue");
        Device &on = self.checked_device(device);
        check_flags(known.flags,
                    PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW |
                        PI_QUEUE_PRIORITY_HIGH,
                    "flags");
        *out_queue = make<Queue>(self, on, known.flags).give();
    });
}

pi_result PI_CALL piEnqueueTimestamp(pi_queue queue, const pi_timestamp_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_TIMESTAMP_DESC);
        enqueue_stream<TimestampCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event});
    });
}

} // namespace entries
} // namespace pi::cuda
