// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "clock.hpp"
#include "entries.hpp"
#include "primary.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/event.hpp>

#include <cmath>

namespace pi::cuda {

using namespace sdk;

std::shared_ptr<PooledEvent> Clock::record_now(uint64_t &host_time) {
    const Api &cu = primary_.api();
    if (!stream_)
        primary_.check(cu.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    // The host's time is uncertain by half the duration of the two readings: try again if this
    // thread was preempted between them.
    constexpr uint64_t good_enough = 20'000;
    std::shared_ptr<PooledEvent> best;
    uint64_t shortest = UINT64_MAX;
    for (int left = 5; left > 0 && shortest > good_enough; --left) {
        auto event = std::make_shared<PooledEvent>(primary_, true);
        const uint64_t before = now();
        primary_.check(cu.cuEventRecord(event->id(), stream_), "cuEventRecord");
        primary_.check(cu.cuEventSynchronize(event->id()), "cuEventSynchronize");
        const uint64_t taken = now() - before;
        if (taken >= shortest)
            continue;
        shortest = taken;
        host_time = before + taken / 2;
        best = std::move(event);
    }
    return best;
}

void Clock::begin() {
    std::lock_guard beginning(beginning_);
    {
        std::lock_guard lock(mutex_);
        if (base_)
            return;
    }
    const Current current(primary_);
    uint64_t time = 0;
    std::shared_ptr<PooledEvent> event = record_now(time);
    auto first = std::make_shared<Base>(Base{std::move(event), nullptr, time});
    std::lock_guard lock(mutex_);
    made_ = now();
    base_ = std::move(first);
}

std::shared_ptr<Clock::Base> Clock::base() {
    constexpr uint64_t renewed_after = 2'000'000'000;
    std::lock_guard lock(mutex_);
    if (now() - made_ < renewed_after)
        return base_;
    // Settle the current base before making the next, so that no chain of unsettled bases grows.
    if (base_->before) {
        if (primary_.api().cuEventQuery(base_->event->id()) != CUDA_SUCCESS)
            return base_;
        base_->time = base_->before->time + elapsed(*base_->before->event, *base_->event);
        base_->before.reset();
    }
    // Each base's time is computed from the base before it, by device time alone: adjustments of
    // the host's clock never show.
    auto event = std::make_shared<PooledEvent>(primary_, true);
    primary_.check(primary_.api().cuEventRecord(event->id(), stream_), "cuEventRecord");
    base_ = std::make_shared<Base>(Base{std::move(event), base_, 0});
    made_ = now();
    return base_;
}

uint64_t Clock::elapsed(const PooledEvent &from, const PooledEvent &to) const {
    const Api &cu = primary_.api();
    const auto ask = cu.cuEventElapsedTime_v2 ? cu.cuEventElapsedTime_v2 : cu.cuEventElapsedTime;
    float milliseconds = 0;
    primary_.check(ask(&milliseconds, from.id(), to.id()), "cuEventElapsedTime");
    return static_cast<uint64_t>(std::llround(double{milliseconds} * 1e6));
}

/// Concurrent calls compute the same result.
uint64_t Clock::settled_time(Base &base) {
    std::shared_ptr<Base> before;
    {
        std::lock_guard lock(mutex_);
        before = base.before;
        if (!before)
            return base.time;
    }
    primary_.check(primary_.api().cuEventSynchronize(base.event->id()), "cuEventSynchronize");
    const uint64_t time = before->time + elapsed(*before->event, *base.event);
    std::lock_guard lock(mutex_);
    base.time = time;
    base.before.reset();
    return time;
}

uint64_t Clock::time_of(Base &base, const PooledEvent &event) {
    return settled_time(base) + elapsed(*base.event, event);
}

void Clock::read(uint64_t &device, uint64_t &host) {
    begin();
    const Current current(primary_);
    const std::shared_ptr<Base> from = base();
    const std::shared_ptr<PooledEvent> event = record_now(host);
    device = time_of(*from, *event);
}

void Clock::close() {
    base_.reset();
    if (stream_)
        primary_.api().cuStreamDestroy_v2(stream_);
}

namespace entries {

pi_result PI_CALL piDeviceGetGlobalTimestamps(pi_device device, uint64_t *out_device_time,
                                              uint64_t *out_host_time) {
    return call<Device>(device, [&](Device &self) {
        uint64_t device_time = 0, host_time = 0;
        self.primary()->clock().read(device_time, host_time);
        if (out_device_time)
            *out_device_time = device_time;
        if (out_host_time)
            *out_host_time = host_time;
    });
}

} // namespace entries
} // namespace pi::cuda
