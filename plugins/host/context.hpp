// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device.hpp"
#include "platform.hpp"

#include <pi/sdk/context.hpp>

#include <vector>

namespace pi::host {

/// A list of devices. All memory of an instance is usable everywhere in it, so a context has no
/// other effect.
class Context : public sdk::Object<Context, pi_context> {
public:
    Context(Platform &platform, std::vector<Device *> devices)
        : Object(platform.host()), platform_(platform), devices_(std::move(devices)) {
        for (Device *device : devices_)
            device_references_.emplace_back(*device);
    }
    /// Frees its remaining USM allocations.
    ~Context();

    Platform &platform() const { return platform_; }
    const std::vector<Device *> &devices() const { return devices_; }
    Executor &executor() const { return devices_.front()->executor(); }

    /// The device of an argument; PI_ERROR_INVALID_DEVICE unless it is one of this context's.
    Device &device(pi_device handle, const sdk::ArgumentName &name = "device") const {
        return sdk::checked_member(*this, handle, name);
    }

private:
    Platform &platform_;
    const std::vector<Device *> devices_;
    std::vector<sdk::Ref<Device>> device_references_; ///< sub-devices are counted
};

} // namespace pi::host
