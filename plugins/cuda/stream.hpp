// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One stream of the driver, and the commands in it that have not ended.
#pragma once

#include "primary.hpp"

#include <pi/sdk/event.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace pi::cuda {

/// A member of a queue, which the events of its commands keep alive.
class Stream {
public:
    /// The context must be current.
    Stream(Primary &primary, int priority);
    /// The application's. Destroyed in the end if *own is true by then.
    Stream(Primary &primary, CUstream id, std::shared_ptr<const bool> own)
        : primary_(primary), id_(id), own_(std::move(own)) {}
    ~Stream();
    Stream(const Stream &) = delete;

    CUstream id() const { return id_; }
    Primary &primary() const { return primary_; }
    /// Held while one command's calls are put into the stream.
    std::mutex &mutex() { return mutex_; }

    /// A command is in the stream, with `done` behind it; NULL: nobody but this stream waits for it, which then records an
    /// event behind several. Under mutex(). Returns its number.
    uint64_t add(sdk::Event &event, SharedEvent done);
    /// Waits on the calling thread for the command of this number, and ends it and those before it.
    void wait_for(uint64_t number);
    /// The same for all that are in the stream.
    void wait();
    /// From now on nothing that comes into the stream is waited for with what is in it.
    void seal();

private:
    struct Pending {
        sdk::Ref<sdk::Event> event;
        SharedEvent done; ///< may be NULL
    };
    void watch();
    CUresult mark(uint64_t &number, SharedEvent &done);
    uint64_t last_ended(uint64_t number);
    void end_through(uint64_t number, CUresult code);

    Primary &primary_;
    CUstream id_ = nullptr;
    const std::shared_ptr<const bool> own_; ///< NULL for what is ours
    std::mutex mutex_;                      ///< guards what follows
    std::deque<Pending> pending_;           ///< in the stream's order
    uint64_t first_ = 0;                    ///< the number of pending_.front()
    bool watched_ = false; ///< a thread of the instance waits for the front, or is about to
};

} // namespace pi::cuda
