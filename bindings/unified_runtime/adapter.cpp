// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"

#include "functions.hpp"
#include "info.hpp"

#include <pi/describe/descriptor.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <optional>

using namespace pi::unified_runtime;
using pi::runtime::check;

namespace {

constexpr std::array<std::pair<uint32_t, ur_backend_t>, 4> backends{{
    {PI_BACKEND_OPENCL, UR_BACKEND_OPENCL},
    {PI_BACKEND_CUDA, UR_BACKEND_CUDA},
    {PI_BACKEND_LEVEL_ZERO, UR_BACKEND_LEVEL_ZERO},
    {PI_BACKEND_HIP, UR_BACKEND_HIP},
}};

/// The compiler options of front ends that Unified Runtime's adapters know.
constexpr std::array<std::string_view, 9> frontend_options{
    "",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-g",
    "-ftarget-compile-fast",
    "-foffload-fp32-prec-div",
    "-foffload-fp32-prec-sqrt",
};

/// Whether the device accepts one of these program formats (1 << PI_PROGRAM_FORMAT_).
bool takes(pi_device device, uint32_t formats) {
    return (pi_info<uint32_t, piDeviceGetInfo>(device, PI_DEVICE_INFO_PROGRAM_FORMATS).value_or(0) &
            formats) != 0;
}

/// SYCL's images are SPIR-V or PTX: a device that accepts neither runs no kernel of SYCL.
bool takes_images(pi_device device) {
    return takes(device, 1U << PI_PROGRAM_FORMAT_SPIRV | 1U << PI_PROGRAM_FORMAT_PTX);
}

/// selector NULL: PI_DEVICE_SELECTOR, or all devices.
std::vector<pi_device> select_devices(pi_loader loader, const char *selector) {
    uint32_t count = 0;
    check(piLoaderSelectDevices(loader, selector, 0, nullptr, &count), "piLoaderSelectDevices");
    std::vector<pi_device> devices(count);
    check(piLoaderSelectDevices(loader, selector, count, devices.data(), &count),
          "piLoaderSelectDevices");
    devices.resize(std::min<size_t>(count, devices.size()));
    return devices;
}

pi_platform platform_of(pi_device device) {
    return pi_info<pi_platform, piDeviceGetInfo>(device, PI_DEVICE_INFO_PLATFORM).value();
}

/// OpenCL if the platforms have different ones.
ur_backend_t common_backend(const std::vector<pi_platform> &platforms) {
    std::optional<ur_backend_t> common;
    for (const pi_platform platform : platforms) {
        const uint32_t of_pi =
            pi_info<uint32_t, piPlatformGetInfo>(platform, PI_PLATFORM_INFO_BACKEND).value_or(0);
        const ur_backend_t backend = translate(backends, of_pi, UR_BACKEND_OPENCL);
        if (common.value_or(backend) != backend) {
            return UR_BACKEND_OPENCL;
        }
        common = backend;
    }
    return common.value_or(UR_BACKEND_OPENCL);
}

bool any_usm(const ur_platform_handle_t_ &platform) {
    return std::any_of(platform.devices.begin(), platform.devices.end(), [](const auto device) {
        return pi_info<uint32_t, piDeviceGetInfo>(device->device, PI_DEVICE_INFO_USM_CAPABILITIES)
                   .value_or(0) != 0;
    });
}

/// The text of each platform, each once.
std::string join_texts(const std::vector<pi_platform> &platforms, pi_platform_info name) {
    std::string joined;
    for (const pi_platform platform : platforms) {
        const std::string text = pi_info_text<piPlatformGetInfo>(platform, name);
        if (joined.find(text) == std::string::npos) {
            joined += (joined.empty() ? "" : ", ") + text;
        }
    }
    return joined;
}

} // namespace

ur_adapter_handle_t_::ur_adapter_handle_t_() {
    auto desc = pi::desc<pi_loader_desc>();
    check(piLoaderCreate(&desc, &loader), "piLoaderCreate");
    if (config.platform.empty()) {
        list_platforms();
    } else {
        list_one_platform();
    }
}

void ur_adapter_handle_t_::add_device(ur_platform_handle_t_ &to, pi_device device) {
    root_devices.push_back(std::make_unique<ur_device_handle_t_>(to, device, nullptr));
    to.devices.push_back(root_devices.back().get());
}

void ur_adapter_handle_t_::list_platforms() {
    for (const pi_device device : select_devices(loader, nullptr)) {
        if (!takes_images(device)) {
            continue;
        }
        const pi_platform platform = platform_of(device);
        auto found = std::find_if(platforms.begin(), platforms.end(), [platform](const auto &each) {
            return each->platforms.front() == platform;
        });
        if (found == platforms.end()) {
            auto made = std::make_unique<ur_platform_handle_t_>();
            made->platforms = {platform};
            made->name = "PI: " + join_texts(made->platforms, PI_PLATFORM_INFO_NAME);
            made->backend = common_backend(made->platforms);
            found = platforms.insert(platforms.end(), std::move(made));
        }
        add_device(**found, device);
    }
}

void ur_adapter_handle_t_::list_one_platform() {
    const bool all = config.platform == "all";
    auto platform = std::make_unique<ur_platform_handle_t_>();
    for (const pi_device device : select_devices(loader, all ? nullptr : config.platform.c_str())) {
        if (all && !takes(device, 1U << PI_PROGRAM_FORMAT_SPIRV)) {
            continue;
        }
        auto &of_pi = platform->platforms;
        if (std::find(of_pi.begin(), of_pi.end(), platform_of(device)) == of_pi.end()) {
            of_pi.push_back(platform_of(device));
        }
        add_device(*platform, device);
    }
    platform->name = "PI: " + join_texts(platform->platforms, PI_PLATFORM_INFO_NAME);
    platform->backend = common_backend(platform->platforms);
    if (!platform->devices.empty()) {
        platforms.push_back(std::move(platform));
    }
}

namespace pi::unified_runtime {

void Logger::set(ur_logger_callback_t callback, void *user_data, ur_logger_level_t level) {
    const std::lock_guard lock(mutex_);
    callback_ = callback;
    user_data_ = user_data;
    level_ = level;
}

void Logger::set_level(ur_logger_level_t level) {
    const std::lock_guard lock(mutex_);
    level_ = level;
}

void Logger::operator()(ur_logger_level_t level, const char *text) noexcept {
    ur_logger_callback_t callback = nullptr;
    void *user_data = nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (level >= level_) {
            callback = callback_;
            user_data = user_data_;
        }
    }
    if (callback != nullptr) {
        callback(level, text, user_data);
    }
}

Logger &logger() noexcept {
    static Logger &the_logger = *new Logger; // outlives static destructors
    return the_logger;
}

ur_adapter_handle_t_ &adapter() {
    static ur_adapter_handle_t_ &the_adapter = *new ur_adapter_handle_t_;
    return the_adapter;
}

// ----- Adapters ---------------------------------------------------------------------------------

ur_result_t UR_APICALL urAdapterGet(uint32_t count, ur_adapter_handle_t *out_adapters,
                                    uint32_t *out_count) {
    return boundary([&] {
        // No logger and no urAdapterGetLastError can say why before there is an adapter.
        try {
            adapter();
        } catch (const std::exception &error) {
            std::fprintf(stderr, "libur_adapter_pi: %s\n", error.what());
            throw Refusal(UR_RESULT_ERROR_UNINITIALIZED, error.what());
        }
        if (out_adapters != nullptr && count == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, "urAdapterGet: NumEntries is 0");
        }
        ur_adapter_handle_t_ &the_adapter = adapter();
        if (out_adapters != nullptr) {
            retain(&the_adapter);
            out_adapters[0] = &the_adapter;
        }
        if (out_count != nullptr) {
            *out_count = 1;
        }
    });
}

ur_result_t UR_APICALL urAdapterRetain(ur_adapter_handle_t handle) {
    return retain_handle(handle);
}

ur_result_t UR_APICALL urAdapterRelease(ur_adapter_handle_t handle) {
    // The adapter itself holds the first reference, so it is never destroyed.
    return boundary([&] {
        if (deref(handle).references.load() > 1) {
            release(handle);
        }
    });
}

ur_result_t UR_APICALL urAdapterGetLastError(ur_adapter_handle_t, const char **out_message,
                                             int32_t *out_error) {
    const LastError &last = last_error();
    if (out_message != nullptr) {
        *out_message = last.text;
    }
    if (out_error != nullptr) {
        *out_error = last.code;
    }
    // DPC++ takes success for a mere warning.
    return last.code == PI_SUCCESS ? UR_RESULT_SUCCESS : to_ur(last.code);
}

ur_result_t UR_APICALL urAdapterGetInfo(ur_adapter_handle_t handle, ur_adapter_info_t name,
                                        size_t size, void *value, size_t *out_size) {
    return boundary([&] {
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_ADAPTER_INFO_BACKEND: {
            const auto &platforms = deref(handle).platforms;
            return answer(platforms.empty() ? UR_BACKEND_OPENCL : platforms.front()->backend);
        }
        case UR_ADAPTER_INFO_REFERENCE_COUNT:
            return answer(deref(handle).references.load() - 1);
        case UR_ADAPTER_INFO_VERSION:
            return answer(uint32_t{1});
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urAdapterGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urAdapterSetLoggerCallback(ur_adapter_handle_t handle,
                                                  ur_logger_callback_t callback, void *user_data,
                                                  ur_logger_level_t level) {
    return boundary([&] {
        deref(handle);
        logger().set(callback, user_data, level);
    });
}

ur_result_t UR_APICALL urAdapterSetLoggerCallbackLevel(ur_adapter_handle_t handle,
                                                       ur_logger_level_t level) {
    return boundary([&] {
        deref(handle);
        logger().set_level(level);
    });
}

// ----- Platforms --------------------------------------------------------------------------------

ur_result_t UR_APICALL urPlatformGet(ur_adapter_handle_t handle, uint32_t count,
                                     ur_platform_handle_t *out_platforms, uint32_t *out_count) {
    return boundary([&] {
        const auto &platforms = deref(handle).platforms;
        if (out_platforms != nullptr && count == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, "urPlatformGet: NumEntries is 0");
        }
        if (out_platforms == nullptr && out_count == nullptr) {
            throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                          "urPlatformGet: neither platforms nor their count are requested");
        }
        for (size_t i = 0;
             out_platforms != nullptr && i < std::min<size_t>(count, platforms.size()); ++i) {
            out_platforms[i] = platforms[i].get();
        }
        if (out_count != nullptr) {
            *out_count = static_cast<uint32_t>(platforms.size());
        }
    });
}

ur_result_t UR_APICALL urPlatformGetInfo(ur_platform_handle_t handle, ur_platform_info_t name,
                                         size_t size, void *value, size_t *out_size) {
    return boundary([&] {
        const ur_platform_handle_t_ &platform = deref(handle);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_PLATFORM_INFO_NAME:
            return answer.text(platform.name);
        case UR_PLATFORM_INFO_VENDOR_NAME:
            return answer.text(join_texts(platform.platforms, PI_PLATFORM_INFO_VENDOR));
        case UR_PLATFORM_INFO_VERSION:
            return answer.text(join_texts(platform.platforms, PI_PLATFORM_INFO_VERSION));
        case UR_PLATFORM_INFO_EXTENSIONS:
            // With this name DPC++ declares that kernels follow pointers in memory.
            return answer.text(any_usm(platform) ? "cl_intel_unified_shared_memory" : "");
        case UR_PLATFORM_INFO_PROFILE:
            return answer.text("FULL_PROFILE");
        case UR_PLATFORM_INFO_BACKEND:
            return answer(platform.backend);
        case UR_PLATFORM_INFO_ADAPTER:
            return answer(&adapter());
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urPlatformGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urPlatformGetApiVersion(ur_platform_handle_t handle,
                                               ur_api_version_t *out_version) {
    return boundary([&] {
        deref(handle);
        *needed(out_version) = UR_API_VERSION_CURRENT;
    });
}

ur_result_t UR_APICALL urPlatformGetBackendOption(ur_platform_handle_t handle, const char *option,
                                                  const char **out_option) {
    return boundary([&] {
        deref(handle);
        needed(out_option);
        if (std::find(frontend_options.begin(), frontend_options.end(), needed(option)) ==
            frontend_options.end()) {
            throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                          std::string("no option of a front end: ") + option);
        }
        // UR borrows the text for ever: the platform keeps each that was asked for.
        const std::string translated = [&] {
            uint64_t size = 0;
            check(piPlatformGetBackendOption(handle->platforms.front(), option, 0, nullptr, &size),
                  "piPlatformGetBackendOption");
            std::string text(size, '\0');
            check(piPlatformGetBackendOption(handle->platforms.front(), option, size, text.data(),
                                             nullptr),
                  "piPlatformGetBackendOption");
            return text;
        }();
        const std::lock_guard lock(handle->options_mutex);
        *out_option = handle->options.insert(translated.c_str()).first->c_str();
    });
}

} // namespace pi::unified_runtime
