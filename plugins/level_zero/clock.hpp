// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's clock, in nanoseconds. The device counts ticks, of which only so many bits are told: an early moment at
// which both clocks were read tells which lap a later reading is of.
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
    /// The time that a kernel timestamp, taken not long ago, stands for.
    uint64_t time_of(uint64_t kernel_ticks);
    /// Nanoseconds of a tick.
    double tick() const;

private:
    /// A moment by both clocks.
    struct Moment {
        uint64_t ticks = 0;
        uint64_t host = 0;
    };
    Moment read_both() const;
    const Moment &base();
    uint64_t time_at(const Moment &base, uint64_t ticks, unsigned bits, uint64_t host_now) const;

    Device &device_;
    std::mutex mutex_; ///< guards what follows
    Moment base_;      ///< host is 0 until it was read
};

} // namespace pi::level_zero
