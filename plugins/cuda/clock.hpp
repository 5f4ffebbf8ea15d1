// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's clock. The driver tells only how much time lies between two events, as a float of milliseconds, which
// holds half a microsecond up to eight seconds: so a base event is recorded now and then.
#pragma once

#include <pi/cuda/driver_api.h>

#include <cstdint>
#include <memory>
#include <mutex>

namespace pi::cuda {

class PooledEvent;
class Primary;

class Clock {
public:
    explicit Clock(Primary &primary) : primary_(primary) {}

    /// A moment that times are told from.
    struct Base {
        std::shared_ptr<PooledEvent> event;
        uint64_t time; ///< nanoseconds; at first those of CLOCK_MONOTONIC
    };
    /// A recent one, for events that are recorded from now on. Needs the context to be current; the first call, and now
    /// and then another one, waits for an empty stream.
    std::shared_ptr<const Base> base();
    /// When an event was recorded that has happened.
    uint64_t time_of(const Base &base, const PooledEvent &event) const;
    /// The device's time, and the host's at the same moment. Makes the context current.
    void read(uint64_t &device, uint64_t &host);

    /// Before the context goes.
    void close();

private:
    std::shared_ptr<PooledEvent> record_now(uint64_t &host_time);
    std::shared_ptr<const Base> base_locked();

    Primary &primary_;
    std::mutex mutex_; ///< guards what follows
    CUstream stream_ = nullptr;
    std::shared_ptr<const Base> base_;
    uint64_t made_ = 0; ///< when base_ was, by the host's clock
};

} // namespace pi::cuda
