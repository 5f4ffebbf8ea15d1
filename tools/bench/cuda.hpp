// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain calls of the CUDA driver, as a program without PI would make them.
#pragma once

#include <pi/cuda/driver_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

namespace pi_bench {

/// The driver. A missing entry point is a null pointer.
class Cuda : public pi::cuda::pi_cuda_functions {
public:
    /// Throws std::runtime_error. The library is never closed: drivers do not support that.
    explicit Cuda(const std::string &path);
};

/// Throws std::runtime_error unless the code is CUDA_SUCCESS.
void check_cuda(pi::cuda::CUresult code, const char *call);

/// An object of the driver, released at the end of its scope.
template <class T>
using CudaOwned = std::unique_ptr<std::remove_pointer_t<T>, std::function<void(T)>>;

/// Device memory of the current context, or pinned host memory; freed at the end of its scope.
class CudaMemory {
public:
    enum class Where { device, host };
    CudaMemory(const Cuda &cuda, Where where, uint64_t size);
    ~CudaMemory();
    CudaMemory(const CudaMemory &) = delete;
    CudaMemory &operator=(const CudaMemory &) = delete;
    pi::cuda::CUdeviceptr address() const { return address_; }
    void *pointer() const { return pointer_; } ///< NULL on a device

private:
    const Cuda &cuda_;
    pi::cuda::CUdeviceptr address_ = 0;
    void *pointer_ = nullptr;
};

} // namespace pi_bench
