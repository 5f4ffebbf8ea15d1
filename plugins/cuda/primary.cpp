// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "primary.hpp"
#include "stream.hpp"

#include <pi/sdk/bytes.hpp>

#include <utility>

namespace pi::cuda {

using namespace sdk;

// ----- pools -------------------------------------------------------------------------------------

PooledEvent::PooledEvent(Primary &primary, bool timed)
    : primary_(primary), timed_(timed), id_(primary.take_event(timed)) {}

PooledEvent::~PooledEvent() {
    primary_.give_event(id_, timed_);
}

CUevent Primary::take_event(bool timed) {
    {
        std::lock_guard lock(pools_mutex_);
        std::vector<CUevent> &free = events_[timed];
        if (!free.empty()) {
            const CUevent event = free.back();
            free.pop_back();
            return event;
        }
    }
    CUevent event = nullptr;
    check(api().cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC |
                                          (timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING)),
          "cuEventCreate", "on ", device_.name());
    return event;
}

void Primary::give_event(CUevent event, bool timed) noexcept {
    try {
        std::lock_guard lock(pools_mutex_);
        events_[timed].push_back(event);
    } catch (...) {
        api().cuEventDestroy_v2(event);
    }
}

PooledStream::PooledStream(Primary &primary) : primary_(primary), id_(primary.take_stream()) {}

PooledStream::~PooledStream() {
    primary_.give_stream(id_);
}

CUstream Primary::take_stream() {
    {
        std::lock_guard lock(pools_mutex_);
        if (!streams_.empty()) {
            const CUstream stream = streams_.back();
            streams_.pop_back();
            return stream;
        }
    }
    CUstream stream = nullptr;
    check(api().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", "on ",
          device_.name());
    return stream;
}

void Primary::give_stream(CUstream stream) noexcept {
    try {
        std::lock_guard lock(pools_mutex_);
        streams_.push_back(stream);
    } catch (...) {
        api().cuStreamDestroy_v2(stream);
    }
}

std::shared_ptr<Stream> Primary::track(std::shared_ptr<Stream> stream) {
    std::lock_guard lock(pools_mutex_);
    std::erase_if(queues_, [](const std::weak_ptr<Stream> &gone) { return gone.expired(); });
    queues_.push_back(stream);
    return stream;
}

void Primary::sweep() {
    std::vector<std::shared_ptr<Stream>> streams;
    {
        std::lock_guard lock(pools_mutex_);
        for (const std::weak_ptr<Stream> &queue : queues_)
            if (auto stream = queue.lock())
                streams.push_back(std::move(stream));
    }
    for (const auto &stream : streams)
        stream->sweep();
}

std::byte *Primary::allocate_staging(uint64_t size) {
    const Current current(*this);
    void *begin = nullptr;
    const CUresult code = api().cuMemHostAlloc(&begin, size, CU_MEMHOSTALLOC_PORTABLE);
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        fail(PI_ERROR_OUT_OF_HOST_MEMORY, "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY: ", Bytes(size),
             " of pinned memory requested");
    check(code, "cuMemHostAlloc", Bytes(size), " requested");
    return static_cast<std::byte *>(begin);
}

void Primary::free_staging(std::byte *begin) noexcept {
    // The staging's user still keeps this alive.
    instance().reap([self = shared_from_this(), begin] {
        try {
            const Current current(*self);
            self->api().cuMemFreeHost(begin);
        } catch (...) {
        }
    });
}

// ----- Primary -----------------------------------------------------------------------------------

Primary::Primary(Device &device)
    : device_(device), serial_(device.instance().next_serial()), clock_(*this), pool_(*this) {
    cuda::check(api(), api().cuDevicePrimaryCtxRetain(&id_, device.id()),
                "cuDevicePrimaryCtxRetain", "of ", device.name());
}

Primary::~Primary() {
    const Api &cu = api();
    // Objects of a lost context cannot be destroyed; they are released with it.
    const bool lost = cu.cuCtxPushCurrent_v2(id_) != CUDA_SUCCESS;
    pool_.close(lost);
    if (!lost) {
        clock_.close();
        for (const std::vector<CUevent> &events : events_)
            for (const CUevent event : events)
                cu.cuEventDestroy_v2(event);
        for (const CUstream stream : streams_)
            cu.cuStreamDestroy_v2(stream);
        staging_.clear([&](std::byte *block) { cu.cuMemFreeHost(block); });
        cu.cuCtxPopCurrent_v2(nullptr);
    }
    cu.cuDevicePrimaryCtxRelease_v2(device_.id());
}

void Primary::look() {
    const Current current(*this);
    note(api().cuStreamQuery(nullptr));
}

void Primary::require_alive() const {
    if (const CUresult code = lost_.load(std::memory_order_relaxed); code != CUDA_SUCCESS)
        fail(PI_ERROR_DEVICE_LOST, device_.name(),
             " is lost until all of its contexts are released: ", error_name(api(), code));
}

PeerAccess Primary::access(const Primary &owner) {
    if (&owner == this)
        return {true, true};
    std::lock_guard lock(peers_mutex_);
    if (const auto known = peers_.find(owner.serial_); known != peers_.end())
        return known->second;
    const Current current(*this);
    int possible = 0;
    check(api().cuDeviceCanAccessPeer(&possible, device_.id(), owner.device_.id()),
          "cuDeviceCanAccessPeer");
    PeerAccess access{possible != 0, false};
    if (possible) {
        const auto granted = [&](const char *call, CUresult code) {
            note(code);
            access.call = call;
            access.refusal = code;
            return code == CUDA_SUCCESS;
        };
        CUresult enabled = api().cuCtxEnablePeerAccess(owner.id(), 0);
        // The application may have enabled it: the primary context is shared with its own code.
        if (enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
            enabled = CUDA_SUCCESS;
        access.granted = granted("cuCtxEnablePeerAccess", enabled) &&
                         granted("cuMemPoolSetAccess", owner.pool().grant(device_));
    }
    return peers_[owner.serial_] = access;
}

} // namespace pi::cuda
