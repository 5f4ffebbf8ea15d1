// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device's primary context, shared by all PI contexts on the device. Memory, events and pinned
// staging belong to it.
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

/// A driver event of a primary context's pool, to which it returns.
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

/// A stream of a primary context's pool, to which it returns: empty, or with work that ends by
/// itself.
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

/// Pinned host memory of a primary context.
using Staging = sdk::Staging<Primary>;

/// Whether one primary context can use another's memory, and if not, why.
struct PeerAccess {
    bool possible; ///< cuDeviceCanAccessPeer
    bool granted;  ///< for all its memory, its pool's included
    CUresult refusal = CUDA_SUCCESS;
    const char *call = nullptr; ///< the driver's call that was refused
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

    /// Throws unless the code is CUDA_SUCCESS. Records errors that destroy the context.
    template <class... Parts>
    void check(CUresult code, const char *call, const Parts &...parts) {
        note(code);
        cuda::check(api(), code, call, parts...);
    }
    void note(CUresult code) {
        if (to_result(code) == PI_ERROR_DEVICE_LOST)
            lost_.store(code, std::memory_order_relaxed);
    }
    /// Asks the driver for an error that has destroyed the context unnoticed.
    void look();
    bool lost() const { return lost_.load(std::memory_order_relaxed) != CUDA_SUCCESS; }
    /// PI_ERROR_DEVICE_LOST with the error that destroyed the context, if there was one.
    void require_alive() const;

    /// Whether commands of this context may use memory of `owner` in place. The first call enables
    /// access.
    PeerAccess access(const Primary &owner);

    /// Registers a queue's stream for sweep().
    std::shared_ptr<Stream> track(std::shared_ptr<Stream> stream);
    /// Drops the references of completed commands of all queues. Must not be called with locks that
    /// a destructor or a callback takes.
    void sweep();

    sdk::StagingPool<Primary> &staging() { return staging_; }
    std::byte *allocate_staging(uint64_t size);
    void free_staging(std::byte *begin) noexcept;

    Clock &clock() { return clock_; }
    /// The pool, which may be empty.
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
    std::vector<CUevent> events_[2];            ///< free ones, [1] with timing
    std::vector<CUstream> streams_;             ///< free ones
    std::vector<std::weak_ptr<Stream>> queues_; ///< the streams of queues
    sdk::StagingPool<Primary> staging_;
    std::mutex peers_mutex_;
    std::map<uint64_t, PeerAccess> peers_; ///< by the owner's serial
    Clock clock_;
    MemoryPool pool_;
};

/// Makes a primary context the calling thread's until the end of the block, then restores the
/// previous one. Asking which one is current is cheaper than changing it, and it often is the same:
/// blocks nest, and applications with CUDA code of their own use it too.
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
