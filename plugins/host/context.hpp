// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device.hpp"
#include "platform.hpp"

#include <pi/sdk/context.hpp>

#include <vector>

namespace pi::host {

/// A list of devices; all memory of an instance is usable everywhere in it, so a context joins nothing else.
class Context : public sdk::Object<Context, pi_context> {
public:
    Context(Platform &platform, std::vector<Device *> devices)
        : Object(platform.host()), platform_(platform), devices_(std::move(devices)) {
        for (Device *device : devices_)
            kept_.emplace_back(*device);
    }
    /// What is left of its USM goes with it.
    ~Context();

    Platform &platform() const { return platform_; }
    const std::vector<Device *> &devices() const { return devices_; }
    Executor &executor() const { return devices_.front()->executor(); }

    /// The device behind an argument, which must be one of this context's, else PI_ERROR_INVALID_DEVICE.
    Device &device(pi_device handle, const sdk::ArgumentName &name = "device") const {
        return sdk::checked_member(*this, handle, name);
    }

private:
    Platform &platform_;
    const std::vector<Device *> devices_;
    std::vector<sdk::Ref<Device>> kept_; ///< the same: sub-devices are counted
};

} // namespace pi::host
