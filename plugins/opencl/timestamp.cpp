// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's clock, read by the host and by commands.
#include "entries.hpp"
#include "submission.hpp"

#include <pi/sdk/descriptor.hpp>

#include <ctime>

namespace pi::opencl {

using namespace sdk;

Clock find_clock(const Device &device) {
    if (device.quirk(QUIRK_NO_PROFILING))
        return Clock::NONE;
    if (device.quirk(QUIRK_CLOCK_MONOTONIC_RAW))
        return Clock::MONOTONIC_RAW;
    const Platform &platform = device.platform();
    // A resolution of 0 means that there is no timer.
    if (platform.api_version() < 201 || !device.api().clGetDeviceAndHostTimer ||
        !query<cl_ulong>(device.api().clGetPlatformInfo, "clGetPlatformInfo", platform.id(),
                         CL_PLATFORM_HOST_TIMER_RESOLUTION))
        return Clock::NONE;
    return Clock::TIMER;
}

uint64_t read_clock(Device &device) {
    if (device.clock() == Clock::MONOTONIC_RAW) {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC_RAW, &time);
        return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
               static_cast<uint64_t>(time.tv_nsec);
    }
    cl_ulong device_time = 0, host_time = 0; // the driver chooses the host's clock
    check(device.api().clGetDeviceAndHostTimer(device.id(), &device_time, &host_time),
          "clGetDeviceAndHostTimer", "of ", device.name());
    return device_time;
}

namespace {

void require_clock(const Device &device) {
    if (device.clock() == Clock::NONE)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not report its clock: ",
             device.quirk(QUIRK_NO_PROFILING)
                 ? "the driver's times are all 0"
                 : "the platform has no timer (CL_PLATFORM_HOST_TIMER_RESOLUTION is 0)");
}

/// A vendor marker in a queue with profiling.
class TimestampCommand final : public VendorCommand {
public:
    explicit TimestampCommand(Queue &queue)
        : VendorCommand(queue, timed_queue(queue), queue.device()) {}

    bool timed() const override { return true; }

private:
    /// In an out-of-order queue a marker without a wait list would wait for everything.
    static cl_command_queue timed_queue(Queue &queue) {
        return queue.profiling() && !(queue.flags() & PI_QUEUE_OUT_OF_ORDER)
                   ? queue.id()
                   : queue.context().private_queue(queue.device(), Context::Purpose::TIMESTAMP);
    }
    void issue(Submission &submission) override {
        submission.add("clEnqueueMarkerWithWaitList", queue().api().clEnqueueMarkerWithWaitList);
    }
};

} // namespace

namespace entries {

pi_result PI_CALL piDeviceGetGlobalTimestamps(pi_device device, uint64_t *out_device_time,
                                              uint64_t *out_host_time) {
    return call<Device>(device, [&](Device &self) {
        require_clock(self);
        const uint64_t before = now();
        const uint64_t device_time = read_clock(self);
        const uint64_t after = now();
        if (out_device_time)
            *out_device_time = device_time;
        if (out_host_time)
            *out_host_time = before + (after - before) / 2;
    });
}

pi_result PI_CALL piEnqueueTimestamp(pi_queue queue, const pi_timestamp_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_TIMESTAMP_DESC);
        require_clock(self.device());
        enqueue_vendor<TimestampCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event});
    });
}

} // namespace entries
} // namespace pi::opencl
