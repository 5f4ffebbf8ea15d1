// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "primary.hpp"

#include <pi/sdk/context.hpp>

#include <memory>
#include <vector>

namespace pi::cuda {

/// A list of devices, each with its primary context. CUDA has no memory of several devices: what theirs is to each
/// other is the connection's to say.
class Context : public sdk::Object<Context, pi_context> {
public:
    Context(Platform &platform, std::vector<Device *> devices);

    Platform &platform() const { return platform_; }
    Instance &instance() const { return platform_.instance(); }
    const Api &api() const { return platform_.api(); }
    const std::vector<Device *> &devices() const { return devices_; }
    /// The device behind an argument, which must be one of this context's, else PI_ERROR_INVALID_DEVICE.
    Device &checked_device(pi_device handle, const sdk::ArgumentName &name = "device") const {
        return sdk::checked_member(*this, handle, name);
    }
    /// Of one of its devices.
    Primary &primary(const Device &device) const;

private:
    Platform &platform_;
    const std::vector<Device *> devices_;
    std::vector<std::shared_ptr<Primary>> primaries_; ///< one for each of devices_
};

} // namespace pi::cuda
