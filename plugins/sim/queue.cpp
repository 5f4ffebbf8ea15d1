// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue.hpp"

#include "entries.hpp"
#include "plugin.hpp"

namespace pi::sim {

// ----- Work --------------------------------------------------------------------------------------

Work::Work(Instance &instance, Transfer transfer, Body body, const FaultSpec *fault)
    : instance_(instance), transfer_(std::move(transfer)), body_(std::move(body)), fault_(fault) {}

/// Destroys the command.
void Work::finish(sdk::Event &event) {
    if (failure_)
        event.finish(failure_->code(), failure_->text());
    else
        event.finish(PI_SUCCESS);
}

void Work::start(sdk::Event &event) {
    if (!body_) {
        run(event);
        return finish(event);
    }
    event.submitted();
    const sdk::Ref<sdk::Event> running(event);
    std::optional<EndOrder::Key> key;
    EndOrder &order = instance_.end_order();
    // Only transfers are ordered: another body may wait for the application, and nothing may wait
    // for that.
    if (transfer_.bytes)
        key = order.begin(instance_.timeline().plan_now(TimesPayload::of(event)),
                          [this, running] { finish(*running); });
    try {
        instance_.workers().post([this, running, key, &order] {
            run(*running);
            key ? order.done(*key) : finish(*running);
        });
    } catch (...) {
        // Transfers that end later must not wait for it.
        if (key)
            order.withdraw(*key);
        throw;
    }
}

void Work::run(sdk::Event &event) {
    event.running();
    try {
        instance_.timeline().begin(TimesPayload::of(event));
        uint64_t bytes = transfer_.bytes;
        const bool cut = fault_ && fault_->part;
        if (cut)
            bytes = transfer_.whole
                        ? 0
                        : static_cast<uint64_t>(static_cast<double>(bytes) * *fault_->part);
        // A command that moves no bytes is not run at all when a fault cuts it short.
        if (body_ && (bytes || !cut))
            body_(bytes, event);
        for (Link *link : transfer_.links)
            link->count(bytes);
        if (cut)
            sdk::fail(fault_->result, describe(*fault_), ": ", bytes, " of ", transfer_.bytes,
                      " bytes are moved");
    } catch (...) {
        failure_ = sdk::current_error();
    }
}

// ----- Queue -------------------------------------------------------------------------------------

/// The queue of one command, for sdk::enqueue.
struct Queue::Submission {
    Queue &queue;
    const sdk::EnqueueArguments &arguments;
    const Task &task; ///< of the command, which lives until its event is complete
    TimesPointer times{};

    const pi_host *host() const { return queue.host(); }
    sdk::Sequence &sequence() { return queue.sequence_; }

    sdk::Ref<sdk::Event> make_event(pi_struct_type type) {
        // A timestamp has profiling times even without PI_QUEUE_PROFILING: they are its purpose.
        const bool profiling = queue.flags_ & PI_QUEUE_PROFILING || type == PI_TYPE_TIMESTAMP_DESC;
        Timeline &timeline = queue.device_.instance().timeline();
        times = std::make_shared<Times>();
        auto event = sdk::make<sdk::Event>(queue.host(), sdk::AnyRef(queue.context_),
                                           sdk::AnyRef(sdk::Ref<Queue>(queue)), &queue.sequence_,
                                           type, profiling);
        event->set_payload(std::make_unique<TimesPayload>(timeline, times));
        std::vector<TimesPointer> waits;
        for (uint32_t i = 0; i < arguments.wait_count; ++i)
            waits.push_back(TimesPayload::of(sdk::Event::from(arguments.wait_list[i])));
        std::lock_guard lock(queue.order_mutex_);
        queue.order_.add(timeline, times, arguments.role, arguments.wait_count, waits);
        timeline.submit(times, task, waits);
        return event;
    }
};

Links &Queue::links() const {
    return device_.instance().links();
}

void Queue::enqueue(const sdk::EnqueueArguments &arguments, Transfer transfer,
                    const std::vector<Site> &sites, Work::Body body) {
    Instance &instance = device_.instance();
    const FaultSpec *fault = Faults::of_this_call();
    Task &task = transfer.task;
    task.lost_at = device_.spec().lost_at;
    for (const Site site : sites)
        if (site != host_site)
            task.lost_at = std::min(task.lost_at, instance.machine().devices[site - 1].lost_at);
    if (fault)
        task.duration = later(task.duration, whole_time(fault->delay));
    auto work = std::make_unique<Work>(instance, std::move(transfer), std::move(body), fault);
    Submission submission{*this, arguments, work->task()};
    const bool blocking = arguments.flags & PI_COMMAND_BLOCKING;
    const auto see = [&] {
        if (blocking && submission.times)
            instance.timeline().see(*submission.times);
    };
    try {
        sdk::enqueue(submission, arguments, std::move(work));
    } catch (...) {
        see();
        throw;
    }
    see();
}

void Queue::finish() {
    sequence_.finish();
    std::lock_guard lock(order_mutex_);
    for (const TimesPointer &times : order_.take_all())
        device_.instance().timeline().see(*times);
}

void Queue::call_host(const sdk::EnqueueArguments &arguments, pi_host_function function,
                      void *user_data) {
    Timeline &timeline = device_.instance().timeline();
    enqueue(arguments, {}, {}, [function, user_data, &timeline](uint64_t, sdk::Event &event) {
        const Timeline::Inside inside(timeline, *TimesPayload::of(event));
        const sdk::CallbackScope scope(event.host());
        function(user_data);
    });
}

namespace entries {

pi_result PI_CALL piQueueCreate(pi_context context, pi_device device, const pi_queue_desc *desc,
                                pi_queue *out_queue) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &owner = self.device(device);
        const pi_queue_desc known = sdk::read_optional_desc(desc, PI_TYPE_QUEUE_DESC);
        sdk::require(out_queue, "out_queue");
        sdk::check_flags(known.flags,
                         (owner.spec().out_of_order ? uint64_t{PI_QUEUE_OUT_OF_ORDER} : 0) |
                             PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW | PI_QUEUE_PRIORITY_HIGH,
                         "flags");
        owner.require_alive();
        *out_queue = sdk::make<Queue>(self, owner, known.flags).give();
    });
}

} // namespace entries

} // namespace pi::sim
