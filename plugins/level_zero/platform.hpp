// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The platforms, one for each driver. They live as long as their instance.
#pragma once

#include "context_handle.hpp"
#include "instance.hpp"

#include <pi/sdk/registration.hpp>

#include <string>
#include <vector>

namespace pi::level_zero {

class Device;

class Platform : public sdk::Object<Platform, pi_platform> {
public:
    /// Asks the driver for its devices. PI_ERROR_UNAVAILABLE if none is usable.
    /// `alone`: it is the only driver.
    Platform(Instance &instance, const Api &api, ze_driver_handle_t id, bool alone);
    ~Platform();

    Instance &instance() const { return instance_; }
    const Api &api() const { return api_; }
    ze_driver_handle_t id() const { return id_; }
    /// Root devices.
    const std::vector<sdk::Ref<Device>> &devices() const { return devices_; }
    /// With several drivers the vendor's loader gives out handles of its own, but forgets to for the log of a build that
    /// failed, which nobody can read then; and a link without a log it does not survive.
    bool has_build_logs() const { return alone_; }
    ze_api_version_t version() const { return version_; }
    uint32_t driver_version() const { return driver_version_; }
    /// Whether the driver lists the extension.
    bool has_extension(const char *name) const;
    /// An entry point of the driver that is in no header; NULL if it has none. What it is given are the driver's own handles.
    template <class Function>
    Function extension(const char *name) const {
        void *address = nullptr;
        if (!api_.zeDriverGetExtensionFunctionAddress ||
            api_.zeDriverGetExtensionFunctionAddress(id_, name, &address) != ZE_RESULT_SUCCESS)
            return nullptr;
        return reinterpret_cast<Function>(address);
    }
    /// Kinds of handles, as zelLoaderTranslateHandle numbers them (ZEL_HANDLE_).
    enum HandleKind : int { DRIVER_HANDLE = 0, IMAGE_HANDLE = 8, SAMPLER_HANDLE = 12 };
    /// The driver's own handle behind one that the loader has given, which are two where there are several drivers: for what
    /// does not go through the loader's functions as a handle.
    void *own_handle(HandleKind of, void *handle) const;
    /// The driver's own handle: where there are several drivers, the loader gives out handles that stand for theirs.
    ze_driver_handle_t driver_handle() const;
    ContextHandles &context_handles() { return context_handles_; }
    /// What of the application's memory is imported.
    sdk::Registrations &registrations() { return registrations_; }
    /// What the driver says about this thread's last failure, behind ": ", or nothing.
    std::string last_words() const;

private:
    Instance &instance_;
    const Api &api_;
    const ze_driver_handle_t id_;
    const bool alone_;
    ze_api_version_t version_{};
    uint32_t driver_version_ = 0;
    std::vector<std::string> extensions_;
    ContextHandles context_handles_;
    sdk::Registrations registrations_;
    std::vector<sdk::Ref<Device>> devices_;
};

} // namespace pi::level_zero
