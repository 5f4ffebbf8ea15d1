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
    /// Asks the driver for its devices. PI_ERROR_UNAVAILABLE if none is usable. `alone`: it is the
    /// only driver.
    Platform(Instance &instance, const Api &api, ze_driver_handle_t id, bool alone);
    ~Platform();

    Instance &instance() const { return instance_; }
    const Api &api() const { return api_; }
    ze_driver_handle_t id() const { return id_; }
    /// Root devices.
    const std::vector<sdk::Ref<Device>> &devices() const { return devices_; }
    /// Whether failed builds have logs. With several drivers the vendor's loader translates
    /// handles except the log handle of a failed build, so that log is unreadable; and linking
    /// without a log crashes it.
    bool has_build_logs() const { return alone_; }
    ze_api_version_t version() const { return version_; }
    uint32_t driver_version() const { return driver_version_; }
    /// Whether the driver lists the extension.
    bool has_extension(const char *name) const;
    const std::vector<std::string> &extensions() const { return extensions_; }
    /// An entry point of the driver that is in no header; NULL if it has none. It expects the
    /// driver's own handles.
    template <class Function>
    Function extension(const char *name) const {
        void *address = nullptr;
        if (!api_.zeDriverGetExtensionFunctionAddress ||
            api_.zeDriverGetExtensionFunctionAddress(id_, name, &address) != ZE_RESULT_SUCCESS)
            return nullptr;
        return reinterpret_cast<Function>(address);
    }
    /// Kinds of handles, numbered as for zelLoaderTranslateHandle (ZEL_HANDLE_).
    enum HandleKind : int { DRIVER_HANDLE = 0, IMAGE_HANDLE = 8, SAMPLER_HANDLE = 12 };
    /// The driver's own handle behind a handle of the loader. They differ where there are several
    /// drivers. Needed wherever a handle does not pass through a function of the loader as a
    /// handle.
    void *own_handle(HandleKind of, void *handle) const;
    /// own_handle() of the driver.
    ze_driver_handle_t driver_handle() const;
    ContextHandles &context_handles() { return context_handles_; }
    /// Which of the application's memory is imported.
    sdk::Registrations &registrations() { return registrations_; }
    /// ": " and the driver's text about this thread's last failure; empty if there is none.
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
