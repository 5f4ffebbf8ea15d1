// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device.hpp"
#include "platform.hpp"

#include <pi/sdk/context.hpp>

#include <vector>

namespace pi::sim {

/// A list of devices. The machine's links determine the connections of their memory.
class Context : public sdk::Object<Context, pi_context> {
public:
    Context(Platform &platform, std::vector<Device *> devices)
        : Object(platform.host()), platform_(platform), devices_(std::move(devices)) {}

    Platform &platform() const { return platform_; }
    const std::vector<Device *> &devices() const { return devices_; }

    /// The device of an argument; PI_ERROR_INVALID_DEVICE unless it is one of this context's.
    Device &device(pi_device handle, const sdk::ArgumentName &name = "device") const {
        return sdk::checked_member(*this, handle, name);
    }

private:
    Platform &platform_;
    const std::vector<Device *> devices_;
};

} // namespace pi::sim
