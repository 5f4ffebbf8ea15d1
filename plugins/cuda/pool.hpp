// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's pool of a primary context: memory that comes and goes in the order of a stream, and so waits for no
// other work.
#pragma once

#include <pi/cuda/driver_api.h>

#include <cstdint>
#include <mutex>

namespace pi::cuda {

class Device;
class Primary;

/// A pool of our own, so that the access that it grants is ours to say; none where the device has no pools. Its stream is
/// private and has nothing but allocations and frees: who frees knows already that nobody uses the memory any more.
class MemoryPool {
public:
    explicit MemoryPool(Primary &primary);
    MemoryPool(const MemoryPool &) = delete;
    ~MemoryPool() { close(true); }
    explicit operator bool() const { return id_ != nullptr; }

    /// The memory is there on return. Needs the context to be current, as free() does.
    CUresult allocate(CUdeviceptr *out, uint64_t size);
    CUresult free(CUdeviceptr address);
    /// Lets the device use its memory, all that there is and will be. CUDA_SUCCESS without a pool.
    CUresult grant(const Device &user) const;
    /// Gives back to the device what is kept for reuse.
    void trim();

    /// Before the context goes; it is current, unless it is lost, or there never was one.
    void close(bool lost);

private:
    CUstream stream();

    Primary &primary_;
    CUmemoryPool id_ = nullptr;
    std::mutex mutex_; ///< guards stream_
    CUstream stream_ = nullptr;
};

} // namespace pi::cuda
