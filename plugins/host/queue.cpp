// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue.hpp"

#include "entries.hpp"

namespace pi::host {

using sdk::InfoWriter;

namespace entries {

pi_result PI_CALL queue_create(pi_context context, pi_device device, const pi_queue_desc *desc,
                               pi_queue *out_queue) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &owner = self.device(device);
        const pi_queue_desc known = sdk::read_optional_desc(desc, PI_TYPE_QUEUE_DESC);
        sdk::require(out_queue, "out_queue");
        sdk::check_flags(known.flags,
                         PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW |
                             PI_QUEUE_PRIORITY_HIGH,
                         "flags");
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
    return sdk::call<Queue>(queue, [](Queue &self) { self.sequence().finish(); });
}

pi_result PI_CALL enqueue_host_function(pi_queue queue, const pi_host_function_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_HOST_FUNCTION_DESC);
        sdk::check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        sdk::require(known.function, "function");
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, Cost::FOREIGN,
                     [function = known.function, user_data = known.user_data] {
                         sdk::CallbackScope scope;
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
        self.enqueue({known.flags, type, wait_count, wait_list, out_event, role}, Cost::NONE,
                     [] {});
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
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, Cost::NONE,
                     [] {});
    });
}

} // namespace entries

} // namespace pi::host
