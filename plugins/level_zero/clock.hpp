// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's clock, in nanoseconds. The device counts ticks and reports only their lower bits.
// Both clocks are read once at the beginning, which determines the upper bits of later readings.
#pragma once

#include <cstdint>
#include <mutex>

namespace pi::level_zero {

class Device;

class Clock {
public:
    explicit Clock(Device &device) : device_(device) {}

    /// The device's time, and the host's at the same moment.
    void read(uint64_t &device_time, uint64_t &host_time);
    /// The time of a kernel timestamp that was taken recently.
    uint64_t time_of(uint64_t kernel_ticks);
    /// Nanoseconds of a tick.
    double tick() const;

private:
    /// A reading of both clocks.
    struct Moment {
        uint64_t ticks = 0;
        uint64_t host = 0;
    };
    Moment read_both() const;
    const Moment &base();
    uint64_t time_at(const Moment &base, uint64_t ticks, unsigned bits, uint64_t host_now) const;

    Device &device_;
    std::mutex mutex_; ///< guards what follows
    Moment base_;      ///< host is 0 until the first reading
};

} // namespace pi::level_zero
