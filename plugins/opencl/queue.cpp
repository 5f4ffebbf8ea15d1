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

Queue::~Queue() {
    if (!vendor_in_order_ && device_.quirk(QUIRK_RELEASE_LATER))
        context_->instance().release_later(std::move(vendor_));
}

namespace {

/// Events-wait and barrier: they only wait for their dependencies.
class MarkerCommand final : public VendorCommand {
public:
    using VendorCommand::VendorCommand;
    void issue(Submission &submission) override { submission.add_marker(); }
};

} // namespace

void Queue::order(const EnqueueArguments &arguments) {
    enqueue_vendor<MarkerCommand>(*this, arguments);
}

void Queue::call_host(const EnqueueArguments &arguments, pi_host_function function,
                      void *user_data) {
    Instance &instance = context().instance();
    auto start = [&instance, function, user_data](Event &event) {
        call_host_function(instance.host_functions(), event, function, user_data);
    };
    enqueue_own(*this, arguments, make_command(std::move(start)));
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

} // namespace entries
} // namespace pi::opencl
