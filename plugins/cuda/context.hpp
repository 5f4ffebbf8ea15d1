// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "primary.hpp"

#include <pi/sdk/context.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::cuda {

/// A list of devices, each with its primary context. CUDA has no memory of several devices: access
/// between them is a property of the connection.
class Context : public sdk::Object<Context, pi_context> {
public:
    Context(Platform &platform, std::vector<Device *> devices);
    ~Context();

    Platform &platform() const { return platform_; }
    Instance &instance() const { return platform_.instance(); }
    const Api &api() const { return platform_.api(); }
    const std::vector<Device *> &devices() const { return devices_; }
    /// The device behind an argument; PI_ERROR_INVALID_DEVICE unless it is one of this context's.
    Device &checked_device(pi_device handle, const sdk::ArgumentName &name = "device") const {
        return sdk::checked_member(*this, handle, name);
    }
    /// The primary context of one of its devices.
    Primary &primary(const Device &device) const;

    /// Pins the range for transfers, until remove_pin() or until the context is destroyed.
    void add_pin(std::byte *begin, uint64_t size);
    /// Undoes the newest pin of this pointer; PI_ERROR_INVALID_VALUE if there is none.
    void remove_pin(const void *begin);

private:
    Platform &platform_;
    const std::vector<Device *> devices_;
    std::vector<std::shared_ptr<Primary>> primaries_; ///< one for each of devices_
    std::mutex pins_mutex_;
    /// Guarded by pins_mutex_; equal keys are in the order of their creation.
    std::multimap<const void *, std::shared_ptr<void>> pins_;
};

} // namespace pi::cuda
