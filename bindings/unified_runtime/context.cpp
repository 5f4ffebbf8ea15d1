// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "enqueue.hpp"
#include "functions.hpp"
#include "info.hpp"
#include "native.hpp"

#include <pi/describe/descriptor.hpp>

#include <algorithm>

using namespace pi::unified_runtime;

ur_context_handle_t_::~ur_context_handle_t_() {
    for (const auto &[deleter, user_data] : deleters) {
        deleter(user_data);
    }
}

ur_device_handle_t_ &ur_context_handle_t_::device_of(pi_device device) const {
    for (const auto &each : devices) {
        if (each->device == device) {
            return *each;
        }
    }
    throw Refusal(UR_RESULT_ERROR_INVALID_DEVICE, "the device is not one of the context's");
}

void ur_context_handle_t_::check_device(ur_device_handle_t device) const {
    device_of(deref(device).device);
}

namespace pi::unified_runtime {

using runtime::check;

namespace {

facade::ContextOptions options() {
    facade::ContextOptions options;
    options.always_storages = adapter().config.always_storages;
    return options;
}

bool every_device(const ur_context_handle_t_ &context, uint64_t capability) {
    return std::all_of(context.devices.begin(), context.devices.end(), [=](const auto &device) {
        return (pi_info<uint64_t, piDeviceGetInfo>(device->device, PI_DEVICE_INFO_CAPABILITIES)
                    .value_or(0) &
                capability) != 0;
    });
}

} // namespace

ur_result_t UR_APICALL urContextCreate(uint32_t count, const ur_device_handle_t *devices,
                                       const ur_context_properties_t *properties,
                                       ur_context_handle_t *out_context) {
    return boundary([&] {
        needed(devices);
        needed(out_context);
        if (count == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, "urContextCreate: no device");
        }
        if (properties != nullptr && (properties->flags & UR_CONTEXT_FLAGS_MASK) != 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urContextCreate: unknown flags");
        }
        std::vector<pi_device> pi_devices;
        ur_context_handle_t_::Devices handles;
        for (uint32_t i = 0; i < count; ++i) {
            pi_devices.push_back(deref(devices[i]).device);
            handles.emplace_back(devices[i]);
        }
        *out_context = new ur_context_handle_t_(
            std::make_shared<facade::Context>(pi_devices, options()), std::move(handles));
    });
}

ur_result_t UR_APICALL urContextGetInfo(ur_context_handle_t handle, ur_context_info_t name,
                                        size_t size, void *value, size_t *out_size) {
    return boundary([&] {
        const ur_context_handle_t_ &context = deref(handle);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_CONTEXT_INFO_NUM_DEVICES:
            return answer(static_cast<uint32_t>(context.devices.size()));
        case UR_CONTEXT_INFO_DEVICES: {
            std::vector<ur_device_handle_t> devices;
            for (const auto &device : context.devices) {
                devices.push_back(device.get());
            }
            return answer.list(devices);
        }
        case UR_CONTEXT_INFO_REFERENCE_COUNT:
            return answer(context.references.load());
        case UR_CONTEXT_INFO_USM_MEMCPY2D_SUPPORT:
        case UR_CONTEXT_INFO_USM_FILL2D_SUPPORT:
            return answer(ur_bool_t{every_device(context, PI_CAPABILITY_USM)});
        default:
            throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                          "urContextGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urContextGetNativeHandle(ur_context_handle_t handle,
                                                ur_native_handle_t *out_handle) {
    return boundary([&] {
        const facade::Context &context = *deref(handle).core;
        if (context.parts().size() > 1) {
            throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "urContextGetNativeHandle: the context has devices of several drivers");
        }
        pi_native_handle native{};
        check(piContextGetNativeHandle(context.parts().front().context.get(),
                                       context.devices().front(), &native),
              "piContextGetNativeHandle");
        *needed(out_handle) = word_of(handle->devices.front()->platform, native);
    });
}

ur_result_t UR_APICALL urContextCreateWithNativeHandle(
    ur_native_handle_t native, ur_adapter_handle_t adapter_handle, uint32_t count,
    const ur_device_handle_t *devices, const ur_context_native_properties_t *properties,
    ur_context_handle_t *out_context) {
    return boundary([&] {
        needed(out_context);
        deref(adapter_handle);
        if (count == 0 || devices == nullptr) {
            throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                          "urContextCreateWithNativeHandle: the devices are needed");
        }
        const pi_device first = deref(devices[0]).device;
        auto desc = pi::desc<pi_native_desc>();
        desc.flags = properties != nullptr && properties->isNativeHandleOwned ? PI_NATIVE_OWN : 0;
        // The type is that of the device's own handle, except where the kinds have different types.
        desc.handle = native_of_type(devices[0]->platform, PI_KIND_CONTEXT, native);
        if (desc.handle.type == PI_NATIVE_CUDA_CONTEXT) {
            desc.device = first;
        }
        // The device's own: UR's platform may be one of several drivers.
        const auto platform = pi_info<pi_platform, piDeviceGetInfo>(first, PI_DEVICE_INFO_PLATFORM);
        runtime::Context context;
        check(piContextCreateWithNativeHandle(platform.value_or(nullptr), &desc, context.out()),
              "piContextCreateWithNativeHandle");
        auto core = std::make_shared<facade::Context>(std::move(context), options());
        ur_context_handle_t_::Devices handles;
        for (uint32_t i = 0; i < count; ++i) {
            if (core->has(deref(devices[i]).device)) {
                handles.emplace_back(devices[i]);
            }
        }
        if (handles.empty()) {
            throw Refusal(UR_RESULT_ERROR_INVALID_DEVICE,
                          "urContextCreateWithNativeHandle: the context has none of the devices");
        }
        *out_context = new ur_context_handle_t_(std::move(core), std::move(handles));
    });
}

ur_result_t UR_APICALL urContextSetExtendedDeleter(ur_context_handle_t handle,
                                                   ur_context_extended_deleter_t deleter,
                                                   void *user_data) {
    return boundary([&] {
        ur_context_handle_t_ &context = deref(handle);
        const std::lock_guard lock(context.deleters_mutex);
        context.deleters.emplace_back(needed(deleter), user_data);
    });
}

// ----- Platforms' native handles -----------------------------------------------------------------

ur_result_t UR_APICALL urPlatformGetNativeHandle(ur_platform_handle_t platform,
                                                 ur_native_handle_t *out_handle) {
    return boundary([&] {
        pi_native_handle native{};
        check(piPlatformGetNativeHandle(deref(platform).platforms.front(), &native),
              "piPlatformGetNativeHandle");
        *needed(out_handle) = word_of(*platform, native);
    });
}

ur_result_t UR_APICALL urPlatformCreateWithNativeHandle(ur_native_handle_t native,
                                                        ur_adapter_handle_t adapter_handle,
                                                        const ur_platform_native_properties_t *,
                                                        ur_platform_handle_t *out_platform) {
    return boundary([&] {
        needed(out_platform);
        const auto has_native = [native](pi_platform platform) {
            pi_native_handle own{};
            return piPlatformGetNativeHandle(platform, &own) == PI_SUCCESS &&
                   own.value[0] == native;
        };
        for (const auto &platform : deref(adapter_handle).platforms) {
            if (std::any_of(platform->platforms.begin(), platform->platforms.end(), has_native)) {
                *out_platform = platform.get();
                return;
            }
        }
        throw Refusal(UR_RESULT_ERROR_INVALID_PLATFORM,
                      "urPlatformCreateWithNativeHandle: no platform of the adapter has it");
    });
}

} // namespace pi::unified_runtime
