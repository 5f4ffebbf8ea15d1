// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM of both sides of the OpenCL benchmark.
#pragma once

#include "opencl_sides.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <stdexcept>

namespace pi_bench {

/// USM of kind DEVICE on both sides: coarse-grain SVM.
class UsmPair {
public:
    UsmPair(const Sides &sides, uint64_t size) : sides_(sides) {
        auto desc = pi::desc<pi_usm_desc>();
        desc.kind = PI_USM_DEVICE;
        desc.size = size;
        pi::runtime::check(piUsmAlloc(sides.place.context.get(), sides.place.device, &desc, &ours_),
                           "piUsmAlloc");
        theirs_ = sides.cl.clSVMAlloc(sides.context.get(), CL_MEM_READ_WRITE, size, 0);
        if (theirs_ == nullptr) {
            piUsmFree(sides.place.context.get(), ours_);
            throw std::runtime_error("clSVMAlloc returns NULL");
        }
    }
    UsmPair(const UsmPair &) = delete;
    ~UsmPair() {
        piUsmFree(sides_.place.context.get(), ours_);
        sides_.cl.clSVMFree(sides_.context.get(), theirs_);
    }
    void *ours() const { return ours_; }
    void *theirs() const { return theirs_; }

private:
    const Sides &sides_;
    void *ours_ = nullptr;
    void *theirs_ = nullptr;
};

/// One end may be host memory.
inline void copy_usm(const Place &place, const void *src, void *dst, uint64_t size) {
    const pi_region region = {.extent = {size}};
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.src = src;
    desc.dst = dst;
    desc.region_count = 1;
    desc.regions = &region;
    pi::runtime::check(piEnqueueUsmCopy(place.queue.get(), &desc, 0, nullptr, nullptr),
                       "piEnqueueUsmCopy");
}

inline void copy_usm(const Sides &sides, const void *src, void *dst, uint64_t size) {
    check_cl(sides.cl.clEnqueueSVMMemcpy(sides.queue.get(), CL_TRUE, dst, src, size, 0, nullptr,
                                         nullptr),
             "clEnqueueSVMMemcpy");
}

} // namespace pi_bench
