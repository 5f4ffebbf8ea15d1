// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi.h>
#include <pi/runtime/error.hpp>

#include <utility>

namespace pi::runtime {

/// Owns one reference to a PI object. Copying retains and destruction releases; both are cheap and
/// legal on any thread and inside callbacks. A copy throws Error, and owns nothing, if the plugin
/// refuses the retain.
///
///     Event event;
///     check(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, event.out()),
///           "piEnqueueKernelLaunch");
template <class Raw, pi_result(PI_CALL *Retain)(Raw), pi_result(PI_CALL *Release)(Raw)>
class Handle {
public:
    Handle() noexcept = default;
    /// Takes over a reference of the caller.
    static Handle adopt(Raw raw) noexcept {
        Handle handle;
        handle.raw_ = raw;
        return handle;
    }
    /// Retains: the caller keeps its own reference.
    static Handle share(Raw raw) {
        if (raw != nullptr) {
            check(Retain(raw), "retain");
        }
        return adopt(raw);
    }

    Handle(const Handle &other) : Handle(share(other.raw_)) {}
    Handle(Handle &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    Handle &operator=(Handle other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~Handle() { reset(); }

    Raw get() const noexcept { return raw_; }
    explicit operator bool() const noexcept { return raw_ != nullptr; }

    void reset() noexcept {
        if (raw_ != nullptr) {
            Release(std::exchange(raw_, nullptr));
        }
    }
    /// For output parameters: releases the current reference and returns the address to write to.
    Raw *out() noexcept {
        reset();
        return &raw_;
    }
    /// Transfers the reference to the caller.
    Raw detach() noexcept { return std::exchange(raw_, nullptr); }

private:
    Raw raw_ = nullptr;
};

using Device = Handle<pi_device, &piDeviceRetain, &piDeviceRelease>;
using Context = Handle<pi_context, &piContextRetain, &piContextRelease>;
using Queue = Handle<pi_queue, &piQueueRetain, &piQueueRelease>;
using Mem = Handle<pi_mem, &piMemRetain, &piMemRelease>;
using Event = Handle<pi_event, &piEventRetain, &piEventRelease>;
using Program = Handle<pi_program, &piProgramRetain, &piProgramRelease>;
using Kernel = Handle<pi_kernel, &piKernelRetain, &piKernelRelease>;

} // namespace pi::runtime
