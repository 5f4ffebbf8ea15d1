// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command without an event that destroys its context.
#include "plugin_busy.hpp"

using namespace cuda_test;

TEST_CASE("a command without an event that destroys its context fails later commands") {
    const Busy busy;
    const Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    const uint64_t nowhere = 0x1000;
    const uint32_t from = 0;
    busy.count(busy.queue, mem, 1);
    busy.launch(busy.queue, "count_up", {value_argument(nowhere), value_argument(from)}, 32);
    busy.count(busy.queue, mem, 2);
    const auto fill = fill_desc(mem, &from, 4, 0, Busy::size);
    Owned<pi_event> event;
    SECTION("once the loss is known") {
        busy.go.set();
        OK(piQueueFinish(busy.queue)); // all events are complete
        REFUSED(PI_ERROR_DEVICE_LOST, "first (simulated) is lost",
                piEnqueueMemBufferFill(busy.queue, &fill, 0, nullptr, nullptr));
    }
    SECTION("by a later command's event") {
        OK(piEnqueueMemBufferFill(busy.queue, &fill, 0, nullptr, event.out()));
        busy.go.set();
        REFUSED(PI_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS", piEventWait(event, patience));
    }
    SECTION("without any wait") {
        busy.go.set();
        CHECK(comes_true([&] {
            return piEnqueueMemBufferFill(busy.queue, &fill, 0, nullptr, nullptr) ==
                   PI_ERROR_DEVICE_LOST;
        }));
    }
    OK(piQueueFinish(busy.queue));
    CHECK(references(mem) == 1);
}
