// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infos of a device, with a default where its backend has none.
#pragma once

#include <pi/pi.h>
#include <pi/runtime/error.hpp>

#include <string>
#include <string_view>

namespace pi::runtime {

/// An info of fixed size.
template <class T>
T device_info(pi_device device, pi_device_info name, T fallback) {
    T value{};
    return piDeviceGetInfo(device, name, sizeof value, &value, nullptr) == PI_SUCCESS ? value
                                                                                      : fallback;
}

/// The bytes of an info of any size; empty where the backend has no answer.
inline std::string device_bytes(pi_device device, pi_device_info name) {
    uint64_t size = 0;
    if (piDeviceGetInfo(device, name, 0, nullptr, &size) != PI_SUCCESS || size == 0) {
        return {};
    }
    std::string bytes(size, '\0');
    if (piDeviceGetInfo(device, name, size, bytes.data(), nullptr) != PI_SUCCESS) {
        return {};
    }
    return bytes;
}

inline std::string device_text(pi_device device, pi_device_info name) {
    const std::string bytes = device_bytes(device, name);
    return bytes.substr(0, bytes.find('\0'));
}

inline pi_platform platform_of(pi_device device) {
    pi_platform platform = nullptr;
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr),
          "piDeviceGetInfo(PLATFORM)");
    return platform;
}

inline pi_platform platform_of(pi_context context) {
    pi_platform platform = nullptr;
    check(piContextGetInfo(context, PI_CONTEXT_INFO_PLATFORM, sizeof platform, &platform, nullptr),
          "piContextGetInfo(PLATFORM)");
    return platform;
}

inline pi_plugin plugin_of(pi_platform platform) {
    pi_plugin plugin = nullptr;
    check(piPlatformGetInfo(platform, PI_PLATFORM_INFO_PLUGIN, sizeof plugin, &plugin, nullptr),
          "piPlatformGetInfo(PLUGIN)");
    return plugin;
}
inline pi_plugin plugin_of(pi_device device) {
    return plugin_of(platform_of(device));
}

/// Two digits a byte.
inline std::string hexadecimal(std::string_view bytes) {
    constexpr const char *digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += digits[static_cast<unsigned char>(byte) >> 4];
        text += digits[static_cast<unsigned char>(byte) & 15];
    }
    return text;
}

} // namespace pi::runtime
