// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's clock. The driver measures only the time between two events, as a float of
// milliseconds. Up to eight seconds that is exact to half a microsecond, so a new base event is
// recorded now and then.
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

    /// A reference point for event times. The clock's mutex guards `before` and `time`.
    struct Base {
        std::shared_ptr<PooledEvent> event;
        std::shared_ptr<Base>
            before; ///< the base from which `time` is still to be computed; NULL once it is known
        uint64_t time = 0; ///< nanoseconds; the first base's is CLOCK_MONOTONIC
    };
    /// Records the first base if there is none. Waits for an empty stream, which may share hardware
    /// queues with other streams: call it before any work is enqueued.
    void begin();
    /// A recent base for events recorded from now on. Never waits. The context must be current.
    std::shared_ptr<Base> base();
    /// The time of a completed event. May wait for `base`, which was recorded before the event.
    uint64_t time_of(Base &base, const PooledEvent &event);
    /// The device's time and the host's at the same moment. Makes the context current; waits as
    /// begin() does.
    void read(uint64_t &device, uint64_t &host);

    /// To be called before the context is destroyed.
    void close();

private:
    std::shared_ptr<PooledEvent> record_now(uint64_t &host_time);
    uint64_t elapsed(const PooledEvent &from, const PooledEvent &to) const;
    uint64_t settled_time(Base &base);

    Primary &primary_;
    std::mutex beginning_; ///< guards what follows until the first base exists; constant afterwards
    CUstream stream_ = nullptr;
    std::mutex mutex_; ///< guards what follows and all bases; never held while waiting
    std::shared_ptr<Base> base_;
    uint64_t made_ = 0; ///< host time at which base_ was recorded
};

} // namespace pi::cuda
