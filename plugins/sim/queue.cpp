// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue.hpp"

#include "entries.hpp"
#include "plugin.hpp"

namespace pi::sim {

using sdk::InfoWriter;

// ----- Work ---------------------------------------------------------------------------------------

Work::Work(Instance &instance, Transfer transfer, Body body, const FaultSpec *fault)
    : instance_(instance), transfer_(std::move(transfer)), body_(std::move(body)), fault_(fault) {}

void Work::start(sdk::Event &event) {
    if (!body_)
        return run(event);
    event.submitted();
    instance_.workers().post([this, running = sdk::Ref<sdk::Event>(event)] { run(*running); });
}

void Work::run(sdk::Event &event) {
    event.running();
    pi_result result = PI_SUCCESS;
    std::string words;
    try {
        instance_.timeline().begin(TimesPayload::of(event));
        uint64_t bytes = transfer_.bytes;
        if (fault_ && fault_->part)
            bytes = static_cast<uint64_t>(static_cast<double>(bytes) * *fault_->part);
        // A command that moves nothing is not done at all when it is cut short.
        if (body_ && (bytes || !fault_ || !fault_->part))
            body_(bytes, event);
        for (Link *link : transfer_.links)
            link->count(bytes);
        if (fault_ && fault_->part)
            sdk::fail(fault_->result, describe(*fault_), ": ", bytes, " of ", transfer_.bytes,
                      " bytes are moved");
    } catch (...) {
        const sdk::Error error = sdk::current_error();
        result = error.code();
        words = error.text();
    }
    event.finish(result, std::move(words)); // destroys this command
}

// ----- Queue --------------------------------------------------------------------------------------

/// What sdk::enqueue asks of a queue, for one command.
struct Queue::Submission {
    Queue &queue;
    const sdk::EnqueueArguments &arguments;
    const Task &task; ///< of the command, which lives until its event is final
    TimesPointer times{};

    const pi_host *host() const { return queue.host(); }
    sdk::Sequence &sequence() { return queue.sequence_; }

    sdk::Ref<sdk::Event> make_event(pi_struct_type type) {
        // A timestamp's times are what it is for.
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
                    std::initializer_list<Site> sites, Work::Body body) {
    Instance &instance = device_.instance();
    const FaultSpec *fault = Faults::of_this_call();
    Task &task = transfer.task;
    task.lost_at = device_.spec().lost_at;
    for (const Site site : sites)
        if (site != host_site)
            task.lost_at = std::min(task.lost_at, instance.machine().devices[site - 1].lost_at);
    if (fault)
        task.duration += static_cast<uint64_t>(fault->delay);
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

namespace entries {

pi_result PI_CALL queue_create(pi_context context, pi_device device, const pi_queue_desc *desc,
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

pi_result PI_CALL queue_get_info(pi_queue queue, pi_queue_info name, uint64_t size, void *value,
                                 uint64_t *out_size) {
    static constexpr sdk::InfoRow<Queue> rows[] = {
        {PI_QUEUE_INFO_CONTEXT,
         [](Queue &q, const InfoWriter &write) { write(q.context().handle()); }},
        {PI_QUEUE_INFO_DEVICE,
         [](Queue &q, const InfoWriter &write) { write(q.device().handle()); }},
        {PI_QUEUE_INFO_FLAGS, [](Queue &q, const InfoWriter &write) { write(q.flags()); }},
        {PI_QUEUE_INFO_REFERENCE_COUNT,
         [](Queue &q, const InfoWriter &write) { write(q.reference_count()); }},
    };
    return sdk::call<Queue>(
        queue, [&](Queue &self) { sdk::answer_info(self, rows, name, size, value, out_size); });
}

pi_result PI_CALL queue_flush(pi_queue queue) {
    return sdk::call<Queue>(queue, [](Queue &) {}); // commands never wait for a flush
}

pi_result PI_CALL queue_finish(pi_queue queue) {
    return sdk::call<Queue>(queue, [](Queue &self) { self.finish(); });
}

pi_result PI_CALL enqueue_host_function(pi_queue queue, const pi_host_function_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_HOST_FUNCTION_DESC);
        sdk::check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        sdk::require(known.function, "function");
        Timeline &timeline = self.device().instance().timeline();
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, {}, {},
                     [function = known.function, user_data = known.user_data,
                      &timeline](uint64_t, sdk::Event &event) {
                         const Timeline::Inside inside(timeline, *TimesPayload::of(event));
                         const sdk::CallbackScope scope;
                         function(user_data);
                     });
    });
}

namespace {

/// A command that does nothing but be ordered.
template <class Desc>
pi_result marker(pi_queue queue, const Desc *desc, pi_struct_type type, uint32_t wait_count,
                 const pi_event *wait_list, pi_event *out_event, sdk::Sequence::Role role) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const Desc known = sdk::read_optional_desc(desc, type);
        sdk::check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        self.enqueue({known.flags, type, wait_count, wait_list, out_event, role}, {}, {}, {});
    });
}

} // namespace

pi_result PI_CALL enqueue_events_wait(pi_queue queue, const pi_events_wait_desc *desc,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event) {
    return marker(queue, desc, PI_TYPE_EVENTS_WAIT_DESC, wait_count, wait_list, out_event,
                  sdk::Sequence::Role::WAIT_FOR_ALL);
}

pi_result PI_CALL enqueue_barrier(pi_queue queue, const pi_barrier_desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
    return marker(queue, desc, PI_TYPE_BARRIER_DESC, wait_count, wait_list, out_event,
                  sdk::Sequence::Role::BARRIER);
}

pi_result PI_CALL enqueue_timestamp(pi_queue queue, const pi_timestamp_desc *desc,
                                    uint32_t wait_count, const pi_event *wait_list,
                                    pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_TIMESTAMP_DESC);
        sdk::check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, {}, {}, {});
    });
}

} // namespace entries

} // namespace pi::sim
