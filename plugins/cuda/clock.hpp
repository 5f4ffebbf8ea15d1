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

    /// A moment that times are told from. The clock guards `before` and `time`.
    struct Base {
        std::shared_ptr<PooledEvent> event;
        std::shared_ptr<Base>
            before;        ///< that the time is yet to be told from, whose own is known; else NULL
        uint64_t time = 0; ///< nanoseconds; of the first base those of CLOCK_MONOTONIC
    };
    /// Makes the first base if there is none: waits for a stream that is empty, but may share its way to the device with
    /// others. So it is called before there is work.
    void begin();
    /// A recent one, for events that are recorded from now on. Never waits. Needs the context to be current.
    std::shared_ptr<Base> base();
    /// When an event was recorded that has happened. May wait for the base, which was recorded before it.
    uint64_t time_of(Base &base, const PooledEvent &event);
    /// The device's time, and the host's at the same moment. Makes the context current, and waits as begin() does.
    void read(uint64_t &device, uint64_t &host);

    /// Before the context goes.
    void close();

private:
    std::shared_ptr<PooledEvent> record_now(uint64_t &host_time);
    uint64_t elapsed(const PooledEvent &from, const PooledEvent &to) const;
    uint64_t settled_time(Base &base);

    Primary &primary_;
    std::mutex beginning_; ///< guards what follows until there is a base; constant afterwards
    CUstream stream_ = nullptr;
    std::mutex mutex_; ///< guards what follows, and all bases; nothing is waited for under it
    std::shared_ptr<Base> base_;
    uint64_t made_ = 0; ///< when base_ was, by the host's clock
};

} // namespace pi::cuda
