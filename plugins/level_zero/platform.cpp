// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform.hpp"
#include "device.hpp"
#include "entries.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace pi::level_zero {

using namespace sdk;

// ----- Instance ----------------------------------------------------------------------------------

Instance::Instance(const pi_host *host) : Object(host) {}

Instance::~Instance() = default;

const std::vector<Ref<Platform>> &Instance::platforms() {
    std::lock_guard lock(mutex_);
    if (!api_) {
        const char *path = host()->get_option(host(), "PI_LEVEL_ZERO_LIBRARY");
        api_ = std::make_unique<Api>(path && *path ? path : "libze_loader.so.1");
    }
    if (platforms_.empty())
        platforms_ = find_platforms();
    return platforms_;
}

std::vector<Ref<Platform>> Instance::find_platforms() {
    const auto drivers = ask_list<ze_driver_handle_t>(
        "zeDriverGet", nullptr,
        [&](uint32_t *count, ze_driver_handle_t *ids) { return api_->zeDriverGet(count, ids); });
    std::vector<Ref<Platform>> found;
    std::string left_out;
    for (const ze_driver_handle_t id : drivers) {
        try {
            found.push_back(make<Platform>(*this, *api_, id, drivers.size() == 1));
        } catch (...) {
            rethrow_no_memory();
            const std::string reason = current_error().text();
            log(PI_LOG_WARNING, text("a driver of Level Zero is left out: ", reason));
            left_out += text(left_out.empty() ? ": " : "; ", reason);
        }
    }
    if (found.empty())
        fail(PI_ERROR_UNAVAILABLE, api_->path(), " has ", drivers.size(),
             " drivers, none of which is usable", left_out);
    return found;
}

// ----- Platform ----------------------------------------------------------------------------------

Platform::Platform(Instance &instance, const Api &api, ze_driver_handle_t id, bool alone)
    : Object(instance.host()), instance_(instance), api_(api), id_(id), alone_(alone),
      context_handles_(api) {
    check(api_.zeDriverGetApiVersion(id_, &version_), "zeDriverGetApiVersion");
    auto properties = typed<ze_driver_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
    check(api_.zeDriverGetProperties(id_, &properties), "zeDriverGetProperties");
    driver_version_ = properties.driverVersion;
    for (const auto &extension : ask_list<ze_driver_extension_properties_t>(
             "zeDriverGetExtensionProperties", {}, [&](uint32_t *count, auto *items) {
                 return api_.zeDriverGetExtensionProperties(id_, count, items);
             }))
        extensions_.emplace_back(extension.name);
    std::string left_out;
    const auto ids = ask_list<ze_device_handle_t>(
        "zeDeviceGet", nullptr, [&](uint32_t *count, ze_device_handle_t *devices) {
            return api_.zeDeviceGet(id_, count, devices);
        });
    for (const ze_device_handle_t device : ids) {
        try {
            devices_.push_back(make<Device>(*this, device));
        } catch (...) {
            rethrow_no_memory();
            const std::string reason = current_error().text();
            instance_.log(PI_LOG_WARNING, text("a device of Level Zero is left out: ", reason));
            left_out += text(left_out.empty() ? ": " : "; ", reason);
        }
    }
    if (devices_.empty())
        fail(PI_ERROR_UNAVAILABLE, "a driver of API ", version_text(version_), " has ", ids.size(),
             " devices, none of which is usable", left_out);
}

Platform::~Platform() = default;

bool Platform::has_extension(const char *name) const {
    return std::find(extensions_.begin(), extensions_.end(), name) != extensions_.end();
}

void *Platform::own_handle(HandleKind of, void *handle) const {
    void *own = nullptr;
    return api_.zelLoaderTranslateHandle &&
                   api_.zelLoaderTranslateHandle(of, handle, &own) == ZE_RESULT_SUCCESS && own
               ? own
               : handle;
}

ze_driver_handle_t Platform::driver_handle() const {
    return static_cast<ze_driver_handle_t>(own_handle(DRIVER_HANDLE, id_));
}

std::string Platform::last_words() const {
    const char *words = nullptr;
    if (api_.zeDriverGetLastErrorDescription &&
        api_.zeDriverGetLastErrorDescription(id_, &words) == ZE_RESULT_SUCCESS && words && *words)
        return text(": ", words);
    return {};
}

// ----- entry points ------------------------------------------------------------------------------

namespace entries {

pi_result PI_CALL piPlatformsGet(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                                 uint32_t *out_count) {
    return call<Instance>(plugin, [&](Instance &self) {
        std::vector<pi_platform> handles;
        for (const Ref<Platform> &platform : self.platforms())
            handles.push_back(platform->handle());
        write_list<pi_platform>(handles, capacity, out_platforms, out_count);
    });
}

pi_result PI_CALL piPlatformGetInfo(pi_platform platform, pi_platform_info name, uint64_t size,
                                    void *value, uint64_t *out_size) {
    static constexpr InfoRow<Platform> rows[] = {
        {PI_PLATFORM_INFO_NAME, [](Platform &, const InfoWriter &write) { write("Level Zero"); }},
        {PI_PLATFORM_INFO_VENDOR,
         [](Platform &p, const InfoWriter &write) { write(vendor_name(*p.devices().front())); }},
        {PI_PLATFORM_INFO_VERSION,
         [](Platform &p, const InfoWriter &write) {
             write("Level Zero " + version_text(p.version()));
         }},
        {PI_PLATFORM_INFO_PLUGIN,
         [](Platform &p, const InfoWriter &write) { write(p.instance().handle()); }},
        {PI_PLATFORM_INFO_BACKEND,
         [](Platform &, const InfoWriter &write) { write(uint32_t{PI_BACKEND_LEVEL_ZERO}); }},
    };
    return call<Platform>(
        platform, [&](Platform &self) { answer_info(self, rows, name, size, value, out_size); });
}

pi_result PI_CALL piPlatformGetBackendOption(pi_platform platform, const char *frontend_option,
                                             uint64_t size, char *value, uint64_t *out_size) {
    static constexpr std::pair<std::string_view, const char *> known[] = {
        {"-O0", "-ze-opt-disable"},
        {"-O1", "-ze-opt-level=1"},
        {"-O2", "-ze-opt-level=2"},
        {"-O3", "-ze-opt-level=2"},
        {"-g", "-g"},
        {"-foffload-fp32-prec-div", "-ze-fp32-correctly-rounded-divide-sqrt"},
        {"-foffload-fp32-prec-sqrt", "-ze-fp32-correctly-rounded-divide-sqrt"},
    };
    return call<Platform>(platform, [&](Platform &) {
        require(frontend_option, "frontend_option");
        const auto found = std::find_if(std::begin(known), std::end(known), [&](const auto &row) {
            return row.first == frontend_option;
        });
        InfoWriter(size, value, out_size)(found == std::end(known) ? "" : found->second);
    });
}

pi_result PI_CALL piDevicesGet(pi_platform platform, pi_device_type types, uint32_t capacity,
                               pi_device *out_devices, uint32_t *out_count) {
    return call<Platform>(platform, [&](Platform &self) {
        std::vector<pi_device> devices;
        for (const Ref<Device> &device : self.devices())
            if (pi_sdk_asks_for(types, device_type(*device)))
                devices.push_back(device->handle());
        write_list<pi_device>(devices, capacity, out_devices, out_count);
    });
}

} // namespace entries
} // namespace pi::level_zero
