// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vendor's shared virtual memory, which implements USM.
#pragma once

#include "opencl.hpp"

#include <cstddef>
#include <utility>

namespace pi::opencl {

/// Memory from clSVMAlloc, freed by the destructor. The context must outlive it.
class SvmMemory {
public:
    /// `alignment` is any power of two. PI_ERROR_OUT_OF_DEVICE_MEMORY with the size and `device`.
    SvmMemory(const Api &api, cl_context context, cl_svm_mem_flags flags, uint64_t size,
              uint64_t alignment, const std::string &device);
    SvmMemory(SvmMemory &&other) noexcept
        : api_(other.api_), context_(other.context_), begin_(std::exchange(other.begin_, nullptr)),
          data_(other.data_) {}
    SvmMemory &operator=(SvmMemory &&) = delete;
    ~SvmMemory() {
        if (begin_)
            api_.clSVMFree(context_, begin_);
    }

    std::byte *data() const { return data_; }

private:
    const Api &api_;
    const cl_context context_;
    void *begin_;     ///< as the vendor returned it
    std::byte *data_; ///< the first aligned byte
};

} // namespace pi::opencl
