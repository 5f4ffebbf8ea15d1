// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways in which drivers implement USM. A platform has one of them, since memory of two must not
// meet in a context: Intel's extension cl_intel_unified_shared_memory if all its devices that have
// shared virtual memory have the extension, else OpenCL's shared virtual memory.
#pragma once

#include "opencl.hpp"

#include <pi/pi.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pi::opencl {

class Device;
class Kernel;
class Platform;
class Submission;

/// A device's access to USM, as CL_UNIFIED_SHARED_MEMORY_ bits, by kind.
struct UsmAccess {
    using Kinds = std::array<cl_bitfield, PI_USM_SHARED + 1>;
    Kinds own{};            ///< memory allocated for it
    Kinds others{};         ///< memory allocated for other devices of the context
    cl_bitfield system = 0; ///< the process's own memory, which no call of OpenCL allocated
};

/// A function, and its name for messages.
template <class Function>
struct Named {
    const char *name = nullptr;
    Function call = nullptr;
};

class UsmDriver {
public:
    UsmDriver(const Platform &platform) : platform_(platform) {}
    UsmDriver(const UsmDriver &) = delete;
    virtual ~UsmDriver() = default;

    Named<decltype(&::clSetKernelArgSVMPointer)> set_argument;
    Named<decltype(&::clEnqueueSVMMemcpy)> copy;
    Named<decltype(&::clEnqueueSVMMemFill)> fill;

    virtual UsmAccess access(const Device &device) const = 0;
    /// New memory, or NULL and why there is none.
    virtual std::pair<void *, std::string> allocate(cl_context context, const Device &device,
                                                    pi_usm_kind kind, size_t size,
                                                    cl_uint alignment) const = 0;
    virtual void free(cl_context context, void *pointer) const noexcept = 0;
    virtual void prefetch(Submission &submission, const void *pointer, size_t size,
                          cl_mem_migration_flags flags) const = 0;
    /// Whether a buffer created around an allocation uses its memory.
    virtual bool has_buffers(const Device &device) const = 0;
    /// Calls launch() with the vendor's kernel set for indirect access to memory of these kinds
    /// (1 << PI_USM_). The kernel's mutex is locked.
    virtual void launch(Kernel &kernel, uint32_t kinds,
                        const std::function<void()> &launch) const = 0;

protected:
    const Platform &platform_;
};

/// The platform's way; NULL if none of the devices has USM.
std::unique_ptr<const UsmDriver> find_usm_driver(const Platform &platform,
                                                 const std::vector<cl_device_id> &devices);

/// Memory of a context, which must outlive it. Freed by the destructor.
class UsmMemory {
public:
    /// `alignment` is any power of two. PI_ERROR_OUT_OF_DEVICE_MEMORY with the size and the device.
    UsmMemory(cl_context context, const Device &device, pi_usm_kind kind, uint64_t size,
              uint64_t alignment);
    UsmMemory(UsmMemory &&other) noexcept
        : driver_(other.driver_), context_(other.context_),
          begin_(std::exchange(other.begin_, nullptr)), data_(other.data_) {}
    UsmMemory &operator=(UsmMemory &&) = delete;
    ~UsmMemory() {
        if (begin_)
            driver_.free(context_, begin_);
    }

    std::byte *data() const { return data_; }

private:
    const UsmDriver &driver_;
    const cl_context context_;
    void *begin_;     ///< as the vendor returned it
    std::byte *data_; ///< the first aligned byte
};

} // namespace pi::opencl
