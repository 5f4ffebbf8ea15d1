// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "clock.hpp"
#include "device.hpp"
#include "entries.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/event.hpp>

#include <cmath>

namespace pi::level_zero {

using namespace sdk;

double Clock::tick() const {
    const auto resolution = static_cast<double>(device_.properties().timerResolution);
    // API 1.2 and newer report ticks a second; older ones nanoseconds a tick.
    return device_.properties().stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
               ? 1e9 / std::max(resolution, 1.0)
               : resolution;
}

Clock::Moment Clock::read_both() const {
    // The host's time is uncertain by half the duration of the readings: try again if this thread
    // was preempted between them.
    constexpr uint64_t good_enough = 20'000;
    Moment best;
    uint64_t shortest = UINT64_MAX;
    for (int left = 5; left > 0 && shortest > good_enough; --left) {
        uint64_t host = 0, ticks = 0;
        const uint64_t before = now();
        check(device_.api().zeDeviceGetGlobalTimestamps(device_.id(), &host, &ticks),
              "zeDeviceGetGlobalTimestamps", "of ", device_.name());
        const uint64_t taken = now() - before;
        if (taken >= shortest)
            continue;
        shortest = taken;
        best = {ticks, before + taken / 2};
    }
    return best;
}

const Clock::Moment &Clock::base() {
    std::lock_guard lock(mutex_);
    if (!base_.host)
        base_ = read_both();
    return base_;
}

uint64_t Clock::time_at(const Moment &base, uint64_t ticks, unsigned bits,
                        uint64_t host_now) const {
    const double nanoseconds = tick();
    uint64_t since = ticks - base.ticks;
    if (bits && bits < 64) {
        // The newest moment with these bits that is not far in the future; a little is allowed,
        // since the clocks may drift.
        const uint64_t lap = uint64_t{1} << bits;
        const auto expected = static_cast<uint64_t>(
            std::llround(static_cast<double>(host_now - base.host) / nanoseconds));
        const uint64_t behind = (expected - since) & (lap - 1);
        since = behind > lap - lap / 4 ? expected + (lap - behind) : expected - behind;
    }
    const double elapsed = static_cast<double>(static_cast<int64_t>(since)) * nanoseconds;
    return base.host + static_cast<uint64_t>(std::llround(elapsed));
}

void Clock::read(uint64_t &device_time, uint64_t &host_time) {
    const Moment &from = base();
    const Moment here = read_both();
    host_time = here.host;
    device_time = time_at(from, here.ticks, device_.properties().timestampValidBits, here.host);
}

uint64_t Clock::time_of(uint64_t kernel_ticks) {
    const Moment &from = base();
    return time_at(from, kernel_ticks, device_.properties().kernelTimestampValidBits, now());
}

namespace entries {

pi_result PI_CALL piDeviceGetGlobalTimestamps(pi_device device, uint64_t *out_device_time,
                                              uint64_t *out_host_time) {
    return call<Device>(device, [&](Device &self) {
        uint64_t device_time = 0, host_time = 0;
        self.clock().read(device_time, host_time);
        if (out_device_time)
            *out_device_time = device_time;
        if (out_host_time)
            *out_host_time = host_time;
    });
}

} // namespace entries
} // namespace pi::level_zero
