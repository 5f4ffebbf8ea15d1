// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "place.hpp"

#include <pi/sdk/context.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::level_zero {

/// Devices of one driver, with a context of that driver.
class Context : public sdk::Object<Context, pi_context> {
public:
    Context(Platform &platform, std::vector<Device *> devices);
    /// Around the application's context: see DriverContext.
    Context(Platform &platform, std::vector<Device *> devices, ze_context_handle_t native,
            std::shared_ptr<const bool> own);
    ~Context();

    Platform &platform() const { return platform_; }
    Instance &instance() const { return platform_.instance(); }
    const Api &api() const { return platform_.api(); }
    const std::vector<Device *> &devices() const { return devices_; }
    DriverContext &driver() const { return *driver_; }
    /// The device behind an argument; PI_ERROR_INVALID_DEVICE unless it is one of this context's. A
    /// sub-device may have several handles.
    Device &checked_device(pi_device handle, const sdk::ArgumentName &name = "device") const;
    /// The place of one of its devices.
    Place &place(const Device &device) const { return driver_->place(device); }

    /// Pins the range for transfers, until remove_pin() or until the context is destroyed.
    void add_pin(std::byte *begin, uint64_t size);
    /// Undoes the newest pin of this pointer; PI_ERROR_INVALID_VALUE if there is none.
    void remove_pin(const void *begin);

private:
    Platform &platform_;
    const std::vector<Device *> devices_; ///< the driver's context keeps them alive
    const std::shared_ptr<DriverContext> driver_;
    std::mutex pins_mutex_;
    /// Guarded by pins_mutex_; equal keys are in the order of their creation.
    std::multimap<const void *, std::shared_ptr<void>> pins_;
};

} // namespace pi::level_zero
