// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue.hpp"

#include "entries.hpp"

namespace pi::host {

void Queue::call_host(const sdk::EnqueueArguments &arguments, pi_host_function function,
                      void *user_data) {
    enqueue(arguments, Cost::PLUGIN_THREAD, [host = host(), function, user_data] {
        const sdk::CallbackScope scope(host);
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
                         PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW |
                             PI_QUEUE_PRIORITY_HIGH,
                         "flags");
        *out_queue = sdk::make<Queue>(self, owner, known.flags).give();
    });
}

} // namespace entries

} // namespace pi::host
