// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue.hpp"
#include "entries.hpp"
#include "submission.hpp"

namespace pi::level_zero {

using namespace sdk;

namespace {

ze_command_queue_priority_t priority_of(uint64_t flags) {
    return flags & PI_QUEUE_PRIORITY_HIGH  ? ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH
           : flags & PI_QUEUE_PRIORITY_LOW ? ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW
                                           : ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
}

/// Events-wait and barrier: they only wait for their dependencies.
class MarkerCommand final : public ListCommand {
public:
    explicit MarkerCommand(const Target &target) : ListCommand(target.queue, true) {}
    void issue(Submission &) override {}
};

/// A marker with times of its own.
class TimestampCommand final : public ListCommand {
public:
    explicit TimestampCommand(const Target &target) : ListCommand(target.queue) {}
    bool timed() const override { return true; }
    void issue(Submission &) override {}
};

} // namespace

Queue::Queue(Context &context, Device &device, uint64_t flags)
    : Object(context.host()), context_(context), place_(context.place(device)), flags_(flags),
      list_((place_.require_alive(),
             std::make_shared<List>(place_, !(flags & PI_QUEUE_OUT_OF_ORDER), priority_of(flags)))),
      sequence_(!(flags & PI_QUEUE_OUT_OF_ORDER)) {}

Queue::Queue(Context &context, Device &device, ze_command_list_handle_t list,
             std::shared_ptr<const bool> own)
    : Object(context.host()), context_(context), place_(context.place(device)), flags_(0),
      list_(std::make_shared<List>(place_, list, std::move(own))), sequence_(true) {}

Queue::~Queue() {
    // another thread drops the references, since destructors may wait for other work
    list_->close();
}

void Queue::finish() {
    // Wait in the driver for commands in the list: it wakes this thread directly.
    if (!CallbackScope::active(host()))
        list_->wait();
    else if (list_->poll(); list_->keeps())
        fail(PI_ERROR_WOULD_BLOCK, "finishing a queue inside a callback");
    sequence_.finish();
}

bool Queue::takes_fast_path(const EnqueueArguments &arguments) {
    return list_->in_order() && sdk::takes_fast_path(*this, arguments, [this](const Event &last) {
               return phase_in_list(place_, last);
           });
}

void Queue::wait_for_list() {
    if (list_->keeps())
        list_->wait();
}

void Queue::behind_list(Workers &threads, Workers::Prepared task) {
    if (!list_->keeps())
        return threads.post(std::move(task));
    // Release the list before posting the task, which may release everything else: a context must
    // outlive its lists.
    Instance &instance = place_.instance();
    const auto number = list_->newest();
    // whichever of the two runs
    const auto one = std::make_shared<Workers::Prepared>(std::move(task));
    if (instance.run_waiting([list = list_, number, &threads, one]() mutable {
            list->wait_for(number);
            list.reset();
            threads.post(std::move(*one));
        }))
        return;
    instance.watcher().add([list = list_, number, &threads, one]() mutable {
        list->poll();
        if (!list->has_ended(number))
            return false;
        list.reset();
        threads.post(std::move(*one));
        return true;
    });
}

void Queue::order(const EnqueueArguments &arguments) {
    enqueue_list<MarkerCommand>(*this, arguments);
}

void Queue::call_host(const EnqueueArguments &arguments, pi_host_function function,
                      void *user_data) {
    auto start = [this, function, user_data](Event &event) {
        place_.require_alive();
        Workers &threads = place_.instance().host_functions();
        auto task = threads.prepare(host_function_task(event, function, user_data));
        event.submitted();
        behind_list(threads, std::move(task));
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
        enqueue_list<TimestampCommand>(self,
                                       {known.flags, known.type, wait_count, wait_list, out_event});
    });
}

} // namespace entries
} // namespace pi::level_zero
