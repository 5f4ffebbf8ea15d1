// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device.hpp"
#include "platform.hpp"

#include <pi/sdk/context.hpp>

#include <vector>

namespace pi::sim {

/// A list of devices. What their memory is to each other is in the machine's links.
class Context : public sdk::Object<Context, pi_context> {
public:
    Context(Platform &platform, std::vector<Device *> devices)
        : Object(platform.host()), platform_(platform), devices_(std::move(devices)) {}

    Platform &platform() const { return platform_; }
    const std::vector<Device *> &devices() const { return devices_; }

    /// The device behind an argument, which must be one of this context's, else PI_ERROR_INVALID_DEVICE.
    Device &device(pi_device handle, const sdk::ArgumentName &name = "device") const {
        return sdk::checked_member(*this, handle, name);
    }

private:
    Platform &platform_;
    const std::vector<Device *> devices_;
};

} // namespace pi::sim
