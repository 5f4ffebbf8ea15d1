// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for Unified Runtime's loader: two platforms, with PI_TEST_DEVICES devices each, of
// PI_TEST_ADAPTERS adapters.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unified-runtime/ur_api.h>

struct ur_platform_handle_t_ {
    std::string_view name;
    ur_backend_t backend;
};

struct ur_device_handle_t_ {
    std::string_view name;
    ur_device_type_t type;
};

namespace {

std::array platforms{ur_platform_handle_t_{"First\nplatform", UR_BACKEND_OPENCL},
                     ur_platform_handle_t_{"Second", UR_BACKEND_CUDA}};
std::array devices{ur_device_handle_t_{"A processor", UR_DEVICE_TYPE_CPU},
                   ur_device_handle_t_{"Another", UR_DEVICE_TYPE_CUSTOM}};

template <class Handle>
ur_result_t list(uint32_t available, uint32_t wanted, Handle *handles, uint32_t *count,
                 Handle first) {
    if (count != nullptr)
        *count = available;
    for (uint32_t i = 0; handles != nullptr && i < std::min(available, wanted); ++i)
        handles[i] = first + i;
    return UR_RESULT_SUCCESS;
}

ur_result_t answer(const void *value, size_t bytes, size_t size, void *out, size_t *needed) {
    if (needed != nullptr)
        *needed = bytes;
    if (out != nullptr) {
        if (size < bytes)
            return UR_RESULT_ERROR_INVALID_SIZE;
        std::memcpy(out, value, bytes);
    }
    return UR_RESULT_SUCCESS;
}

ur_result_t answer(std::string_view text, size_t size, void *out, size_t *needed) {
    return answer(text.data(), text.size() + 1, size, out, needed);
}

} // namespace

extern "C" {

ur_result_t urLoaderInit(ur_device_init_flags_t, ur_loader_config_handle_t) {
    return UR_RESULT_SUCCESS;
}

ur_result_t urLoaderTearDown() {
    return UR_RESULT_SUCCESS;
}

ur_result_t urAdapterGet(uint32_t wanted, ur_adapter_handle_t *handles, uint32_t *count) {
    static char adapter = 0;
    if (count != nullptr)
        *count = PI_TEST_ADAPTERS;
    if (handles != nullptr && wanted != 0)
        handles[0] = reinterpret_cast<ur_adapter_handle_t>(&adapter);
    return UR_RESULT_SUCCESS;
}

ur_result_t urAdapterRelease(ur_adapter_handle_t) {
    return UR_RESULT_SUCCESS;
}

ur_result_t urPlatformGet(ur_adapter_handle_t, uint32_t wanted, ur_platform_handle_t *handles,
                          uint32_t *count) {
    return list(platforms.size(), wanted, handles, count, platforms.data());
}

ur_result_t urPlatformGetInfo(ur_platform_handle_t platform, ur_platform_info_t name, size_t size,
                              void *out, size_t *needed) {
    switch (name) {
    case UR_PLATFORM_INFO_NAME:
        return answer(platform->name, size, out, needed);
    case UR_PLATFORM_INFO_VERSION:
        return answer("version 1", size, out, needed);
    case UR_PLATFORM_INFO_BACKEND:
        return answer(&platform->backend, sizeof platform->backend, size, out, needed);
    default:
        return UR_RESULT_ERROR_INVALID_ENUMERATION;
    }
}

ur_result_t urDeviceGet(ur_platform_handle_t, ur_device_type_t, uint32_t wanted,
                        ur_device_handle_t *handles, uint32_t *count) {
    return list(PI_TEST_DEVICES, wanted, handles, count, devices.data());
}

ur_result_t urDeviceGetInfo(ur_device_handle_t device, ur_device_info_t name, size_t size,
                            void *out, size_t *needed) {
    switch (name) {
    case UR_DEVICE_INFO_NAME:
        return answer(device->name, size, out, needed);
    case UR_DEVICE_INFO_DRIVER_VERSION:
        return answer("7.5", size, out, needed);
    case UR_DEVICE_INFO_TYPE:
        return answer(&device->type, sizeof device->type, size, out, needed);
    default:
        return UR_RESULT_ERROR_INVALID_ENUMERATION;
    }
}

ur_result_t urDeviceRelease(ur_device_handle_t) {
    return UR_RESULT_SUCCESS;
}
}
