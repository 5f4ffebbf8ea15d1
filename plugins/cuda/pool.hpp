// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A memory pool of a primary context: allocations and frees are ordered by a stream, and so wait
// for no other work.
#pragma once

#include <pi/cuda/driver_api.h>

#include <cstdint>
#include <mutex>

namespace pi::cuda {

class Device;
class Primary;

/// The plugin's own pool, so that it decides which devices get access; none where the device lacks
/// pools. Its private stream has only allocations and frees: memory is freed once nothing uses it
/// any more.
class MemoryPool {
public:
    explicit MemoryPool(Primary &primary);
    MemoryPool(const MemoryPool &) = delete;
    ~MemoryPool() { close(true); }
    explicit operator bool() const { return id_ != nullptr; }

    /// The memory is usable on return. The context must be current, for free() as well.
    CUresult allocate(CUdeviceptr *out, uint64_t size);
    CUresult free(CUdeviceptr address);
    /// Gives the device access to the pool's memory, present and future. CUDA_SUCCESS if there is
    /// no pool.
    CUresult grant(const Device &user) const;
    /// Returns unused memory to the device.
    void trim();

    /// To be called before the context is destroyed; it is current, unless it is lost or was never
    /// created.
    void close(bool lost);

private:
    CUstream stream();

    Primary &primary_;
    CUmemoryPool id_ = nullptr;
    std::mutex mutex_; ///< guards stream_
    CUstream stream_ = nullptr;
};

} // namespace pi::cuda
