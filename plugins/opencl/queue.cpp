// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue.hpp"
#include "entries.hpp"
#include "submission.hpp"

namespace pi::opencl {

using namespace sdk;

Queue::Queue(Context &context, Device &device, uint64_t flags, QueueOwner vendor)
    : Object(context.host()), context_(context), device_(device), flags_(flags),
      vendor_in_order_(!(flags & PI_QUEUE_OUT_OF_ORDER) || !device.out_of_order()),
      vendor_(std::move(vendor)), sequence_(!(flags & PI_QUEUE_OUT_OF_ORDER)) {
    if (!vendor_)
        vendor_ =
            create_vendor_queue(device, context.id(),
                                (vendor_in_order_ ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) |
                                    (profiling() ? CL_QUEUE_PROFILING_ENABLE : 0));
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
        if ((known.flags & PI_QUEUE_PROFILING) && !(on.queue_flags() & PI_QUEUE_PROFILING))
            fail(PI_ERROR_UNSUPPORTED_FEATURE, on.name(),
                 " has no profiling: the driver's times are all 0");
        *out_queue = make<Queue>(self, on, known.flags).give();
    });
}

pi_result PI_CALL piQueueGetInfo(pi_queue queue, pi_queue_info name, uint64_t size, void *value,
                                 uint64_t *out_size) {
    static constexpr InfoRow<Queue> rows[] = {
        {PI_QUEUE_INFO_CONTEXT,
         [](Queue &q, const InfoWriter &write) { write(q.context().handle()); }},
        {PI_QUEUE_INFO_DEVICE,
         [](Queue &q, const InfoWriter &write) { write(q.device().handle()); }},
        {PI_QUEUE_INFO_FLAGS, [](Queue &q, const InfoWriter &write) { write(q.flags()); }},
        {PI_QUEUE_INFO_REFERENCE_COUNT,
         [](Queue &q, const InfoWriter &write) { write(q.reference_count()); }},
    };
    return call<Queue>(queue,
                       [&](Queue &self) { answer_info(self, rows, name, size, value, out_size); });
}

pi_result PI_CALL piQueueFlush(pi_queue queue) {
    // Every command is flushed as it is given to the vendor.
    return call<Queue>(queue, [](Queue &) {});
}

pi_result PI_CALL piQueueFinish(pi_queue queue) {
    return call<Queue>(queue, [](Queue &self) { self.sequence().finish(); });
}

namespace {

/// Events-wait and barrier: nothing but their dependencies.
class MarkerCommand final : public VendorCommand {
public:
    using VendorCommand::VendorCommand;
    void issue(Submission &submission) override { submission.add_marker(); }
};

} // namespace

pi_result PI_CALL piEnqueueEventsWait(pi_queue queue, const pi_events_wait_desc *desc,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_optional_desc(desc, PI_TYPE_EVENTS_WAIT_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        enqueue_vendor<MarkerCommand>(self, {known.flags, PI_TYPE_EVENTS_WAIT_DESC, wait_count,
                                             wait_list, out_event, Sequence::Role::WAIT_FOR_ALL});
    });
}

pi_result PI_CALL piEnqueueBarrier(pi_queue queue, const pi_barrier_desc *desc, uint32_t wait_count,
                                   const pi_event *wait_list, pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_optional_desc(desc, PI_TYPE_BARRIER_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        enqueue_vendor<MarkerCommand>(self, {known.flags, PI_TYPE_BARRIER_DESC, wait_count,
                                             wait_list, out_event, Sequence::Role::BARRIER});
    });
}

pi_result PI_CALL piEnqueueHostFunction(pi_queue queue, const pi_host_function_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_HOST_FUNCTION_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        require(reinterpret_cast<void *>(known.function), "function");
        Instance &instance = self.context().instance();
        auto start = [&instance, function = known.function,
                      user_data = known.user_data](Event &event) {
            event.submitted();
            instance.host_functions().post([event = Ref<Event>(event), function, user_data] {
                event->running();
                {
                    CallbackScope scope;
                    function(user_data);
                }
                event->finish(PI_SUCCESS);
            });
        };
        enqueue_own(self,
                    {known.flags, PI_TYPE_HOST_FUNCTION_DESC, wait_count, wait_list, out_event},
                    make_command(std::move(start)));
    });
}

} // namespace entries
} // namespace pi::opencl
