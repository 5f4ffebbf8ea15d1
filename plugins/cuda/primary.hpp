// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device's primary context: what all PI contexts on the device share. Memory, events and pinned staging are of it.
#pragma once

#include "clock.hpp"
#include "platform.hpp"
#include "pool.hpp"

#include <pi/sdk/staging.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::cuda {

/// An event of the driver, of a primary context's pool, to which it goes back.
class PooledEvent {
public:
    PooledEvent(Primary &primary, bool timed);
    PooledEvent(const PooledEvent &) = delete;
    ~PooledEvent();
    CUevent id() const { return id_; }

private:
    Primary &primary_;
    const bool timed_;
    CUevent id_;
};
using SharedEvent = std::shared_ptr<PooledEvent>;

/// A stream of a primary context's pool, to which it goes back: empty, or with work that ends by itself.
class PooledStream {
public:
    explicit PooledStream(Primary &primary);
    PooledStream(const PooledStream &) = delete;
    ~PooledStream();
    CUstream id() const { return id_; }

private:
    Primary &primary_;
    CUstream id_;
};

/// Pinned memory of the host, of a primary context.
using Staging = sdk::Staging<Primary>;

/// Whether memory of one primary context can be used by another one, and why not.
struct PeerAccess {
    bool possible; ///< as cuDeviceCanAccessPeer has it
    bool granted;  ///< to all that it has, its pool's memory included
    CUresult refusal = CUDA_SUCCESS;
    const char *call = nullptr; ///< that was refused
};

class Stream;

class Primary : public std::enable_shared_from_this<Primary> {
public:
    explicit Primary(Device &device);
    ~Primary();
    Primary(const Primary &) = delete;

    Device &device() const { return device_; }
    Instance &instance() const { return device_.instance(); }
    const Api &api() const { return device_.api(); }
    CUcontext id() const { return id_; }

    /// Throws unless the code is CUDA_SUCCESS, and remembers one that has spoilt the context.
    template <class... Parts>
    void check(CUresult code, const char *call, const Parts &...parts) {
        note(code);
        cuda::check(api(), code, call, parts...);
    }
    void note(CUresult code) {
        if (to_result(code) == PI_ERROR_DEVICE_LOST)
            lost_.store(code, std::memory_order_relaxed);
    }
    /// Asks the driver whether something has spoilt the context of which nobody has told.
    void look();
    bool lost() const { return lost_.load(std::memory_order_relaxed) != CUDA_SUCCESS; }
    /// PI_ERROR_DEVICE_LOST with what has spoilt the context, if something has.
    void require_alive() const;

    /// Whether commands of this context may use memory of `owner` as it is. The first call enables it.
    PeerAccess access(const Primary &owner);

    /// Remembers a queue's stream for sweep().
    std::shared_ptr<Stream> track(std::shared_ptr<Stream> stream);
    /// Lets go of what ended commands of all queues still keep. Without locks that a destructor or a callback takes.
    void sweep();

    sdk::StagingPool<Primary> &staging() { return staging_; }
    std::byte *allocate_staging(uint64_t size);
    void free_staging(std::byte *begin) noexcept;

    Clock &clock() { return clock_; }
    /// May be none.
    MemoryPool &pool() { return pool_; }
    const MemoryPool &pool() const { return pool_; }

private:
    friend class PooledEvent;
    friend class PooledStream;
    CUevent take_event(bool timed);
    void give_event(CUevent event, bool timed) noexcept;
    CUstream take_stream();
    void give_stream(CUstream stream) noexcept;

    Device &device_;
    CUcontext id_ = nullptr;
    const uint64_t serial_;
    std::atomic<CUresult> lost_{CUDA_SUCCESS};
    std::mutex pools_mutex_;                    ///< guards the pools and the queues' streams
    std::vector<CUevent> events_[2];            ///< free ones, by whether they are timed
    std::vector<CUstream> streams_;             ///< free ones
    std::vector<std::weak_ptr<Stream>> queues_; ///< the streams of queues
    sdk::StagingPool<Primary> staging_;
    std::mutex peers_mutex_;
    std::map<uint64_t, PeerAccess> peers_; ///< by the owner's serial
    Clock clock_;
    MemoryPool pool_;
};

/// Makes a primary context the calling thread's until the end of the block; then it has the one again that it had. To ask
/// which that is costs less than to change it, and it is often the same: blocks lie in one another, and applications with
/// CUDA code of their own have it current, too.
class Current {
public:
    explicit Current(Primary &primary) : api_(primary.api()) {
        CUcontext before = nullptr;
        if (api_.cuCtxGetCurrent(&before) == CUDA_SUCCESS && before == primary.id())
            return;
        primary.check(api_.cuCtxPushCurrent_v2(primary.id()), "cuCtxPushCurrent_v2");
        pushed_ = true;
    }
    ~Current() {
        if (pushed_)
            api_.cuCtxPopCurrent_v2(nullptr);
    }
    Current(const Current &) = delete;

private:
    const Api &api_;
    bool pushed_ = false;
};

} // namespace pi::cuda
