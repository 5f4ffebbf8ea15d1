// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries of queues that all plugins share, and the commands that touch no memory.
//
// A Queue has `context()`, `device()`, `flags()`, a reference count, and
//   void finish()                           waits for all of its commands
//   void order(const EnqueueArguments &)    enqueues a command that only has its place in the order
//   void call_host(const EnqueueArguments &, pi_host_function, void *user_data)
//                                           enqueues a host function, called in a CallbackScope
#pragma once

#include <pi/sdk/enqueue.hpp>
#include <pi/sdk/trampoline.hpp>
#include <pi/sdk/worker.hpp>

namespace pi::sdk {

/// A task for a thread of the plugin: calls the application's function as the command of the event.
inline auto host_function_task(Event &event, pi_host_function function, void *user_data) {
    return [event = Ref<Event>(event), function, user_data] {
        event->running();
        {
            const CallbackScope scope(event->host());
            function(user_data);
        }
        event->finish(PI_SUCCESS);
    };
}

/// Calls the application's function on one of the threads.
inline void call_host_function(Workers &threads, Event &event, pi_host_function function,
                               void *user_data) {
    Workers::Prepared task = threads.prepare(host_function_task(event, function, user_data));
    event.submitted();
    threads.post(std::move(task));
}

template <class Queue>
struct queue_entries {
    static constexpr InfoRow<Queue> rows[] = {
        {PI_QUEUE_INFO_CONTEXT,
         [](Queue &queue, const InfoWriter &write) { write(queue.context().handle()); }},
        {PI_QUEUE_INFO_DEVICE,
         [](Queue &queue, const InfoWriter &write) { write(queue.device().handle()); }},
        {PI_QUEUE_INFO_FLAGS, [](Queue &queue, const InfoWriter &write) { write(queue.flags()); }},
        {PI_QUEUE_INFO_REFERENCE_COUNT,
         [](Queue &queue, const InfoWriter &write) { write(queue.reference_count()); }},
    };
    static pi_result PI_CALL get_info(pi_queue queue, pi_queue_info name, uint64_t size,
                                      void *value, uint64_t *out_size) {
        return call<Queue>(
            queue, [&](Queue &self) { answer_info(self, rows, name, size, value, out_size); });
    }

    /// Commands never wait for a flush here.
    static pi_result PI_CALL flush(pi_queue queue) {
        return call<Queue>(queue, [](Queue &) {});
    }
    static pi_result PI_CALL finish(pi_queue queue) {
        return call<Queue>(queue, [](Queue &self) { self.finish(); });
    }

    static pi_result PI_CALL host_function(pi_queue queue, const pi_host_function_desc *desc,
                                           uint32_t wait_count, const pi_event *wait_list,
                                           pi_event *out_event) {
        return call<Queue>(queue, [&](Queue &self) {
            const auto known = read_desc(desc, PI_TYPE_HOST_FUNCTION_DESC);
            require(known.function, "function");
            self.call_host({known.flags, known.type, wait_count, wait_list, out_event},
                           known.function, known.user_data);
        });
    }

    template <class Desc>
    static pi_result order(pi_queue queue, const Desc *desc, pi_struct_type type,
                           uint32_t wait_count, const pi_event *wait_list, pi_event *out_event,
                           Sequence::Role role) {
        return call<Queue>(queue, [&](Queue &self) {
            const Desc known = read_optional_desc(desc, type);
            self.order({known.flags, type, wait_count, wait_list, out_event, role});
        });
    }
    static pi_result PI_CALL events_wait(pi_queue queue, const pi_events_wait_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
        return order(queue, desc, PI_TYPE_EVENTS_WAIT_DESC, wait_count, wait_list, out_event,
                     Sequence::Role::WAIT_FOR_ALL);
    }
    static pi_result PI_CALL barrier(pi_queue queue, const pi_barrier_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
        return order(queue, desc, PI_TYPE_BARRIER_DESC, wait_count, wait_list, out_event,
                     Sequence::Role::BARRIER);
    }
    /// For queues that time every event of that type: a command that is only ordered is enough.
    static pi_result PI_CALL timestamp(pi_queue queue, const pi_timestamp_desc *desc,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
        return call<Queue>(queue, [&](Queue &self) {
            const auto known = read_desc(desc, PI_TYPE_TIMESTAMP_DESC);
            self.order({known.flags, known.type, wait_count, wait_list, out_event});
        });
    }

    /// Fills the slots of a plugin's table except piQueueCreate.
    static constexpr void fill(pi_dispatch &table) {
        table.piQueueRetain = retain_entry<Queue>;
        table.piQueueRelease = release_entry<Queue>;
        table.piQueueGetInfo = get_info;
        table.piQueueFlush = flush;
        table.piQueueFinish = finish;
        table.piEnqueueHostFunction = host_function;
        table.piEnqueueEventsWait = events_wait;
        table.piEnqueueBarrier = barrier;
        table.piEnqueueTimestamp = timestamp;
    }
};

} // namespace pi::sdk
