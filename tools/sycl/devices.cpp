// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "devices.hpp"

#include <pi/describe/printable.hpp>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace pi_sycl {
namespace {

template <class Key>
using Names = std::initializer_list<std::pair<Key, const char *>>;

constexpr Names<ur_backend_t> backends = {{UR_BACKEND_LEVEL_ZERO, "level_zero"},
                                          {UR_BACKEND_OPENCL, "opencl"},
                                          {UR_BACKEND_CUDA, "cuda"},
                                          {UR_BACKEND_HIP, "hip"},
                                          {UR_BACKEND_NATIVE_CPU, "native_cpu"},
                                          {UR_BACKEND_OFFLOAD, "offload"}};
constexpr Names<ur_device_type_t> types = {{UR_DEVICE_TYPE_CPU, "cpu"},
                                           {UR_DEVICE_TYPE_GPU, "gpu"},
                                           {UR_DEVICE_TYPE_FPGA, "fpga"},
                                           {UR_DEVICE_TYPE_VPU, "vpu"},
                                           {UR_DEVICE_TYPE_MCA, "mca"}};

template <class Key>
std::string name_of(const Names<Key> &names, Key key, const char *otherwise) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const auto &name) { return name.first == key; });
    return found == names.end() ? otherwise : found->second;
}

void check(ur_result_t result, const char *function) {
    if (result != UR_RESULT_SUCCESS) {
        throw std::runtime_error(std::string(function) + ": error " + std::to_string(result) +
                                 " of Unified Runtime");
    }
}

/// The handles that `get(count, handles, &count)` lists.
template <class Handle, class Get>
std::vector<Handle> list(const char *function, Get &&get) {
    uint32_t count = 0;
    check(get(0, nullptr, &count), function);
    std::vector<Handle> handles(count);
    if (count != 0) {
        check(get(count, handles.data(), nullptr), function);
    }
    return handles;
}

/// An info that is a text; `get(size, value, &size)`.
template <class Get>
std::string text(const char *function, Get &&get) {
    size_t size = 0;
    check(get(size_t{0}, nullptr, &size), function);
    std::string value(size, '\0');
    if (size != 0) {
        check(get(size, value.data(), nullptr), function);
    }
    value.resize(std::min(value.find('\0'), value.size()));
    return pi::printable_line(value);
}

class Finder {
public:
    explicit Finder(const UrLoader &ur) : ur_(ur) {}

    void add_platforms(ur_adapter_handle_t adapter, std::vector<Platform> &platforms) {
        const auto handles = list<ur_platform_handle_t>(
            "urPlatformGet", [&](auto... rest) { return ur_.PlatformGet(adapter, rest...); });
        for (ur_platform_handle_t handle : handles) {
            platforms.push_back(platform(handle));
        }
    }

private:
    std::string platform_text(ur_platform_handle_t platform, ur_platform_info_t info) const {
        return text("urPlatformGetInfo",
                    [&](auto... rest) { return ur_.PlatformGetInfo(platform, info, rest...); });
    }

    std::string device_text(ur_device_handle_t device, ur_device_info_t info) const {
        return text("urDeviceGetInfo",
                    [&](auto... rest) { return ur_.DeviceGetInfo(device, info, rest...); });
    }

    Platform platform(ur_platform_handle_t handle) {
        auto backend = UR_BACKEND_UNKNOWN;
        check(ur_.PlatformGetInfo(handle, UR_PLATFORM_INFO_BACKEND, sizeof backend, &backend,
                                  nullptr),
              "urPlatformGetInfo");
        Platform found{platform_text(handle, UR_PLATFORM_INFO_NAME),
                       name_of(backends, backend, "unknown"),
                       platform_text(handle, UR_PLATFORM_INFO_VERSION),
                       {}};
        const auto handles = list<ur_device_handle_t>("urDeviceGet", [&](auto... rest) {
            return ur_.DeviceGet(handle, UR_DEVICE_TYPE_ALL, rest...);
        });
        for (ur_device_handle_t device : handles) {
            found.devices.push_back(describe(device, found.backend));
            ur_.DeviceRelease(device);
        }
        return found;
    }

    Device describe(ur_device_handle_t handle, const std::string &backend) {
        auto type = UR_DEVICE_TYPE_CUSTOM;
        check(ur_.DeviceGetInfo(handle, UR_DEVICE_INFO_TYPE, sizeof type, &type, nullptr),
              "urDeviceGetInfo");
        return {backend + ":" + std::to_string(number_++), name_of(types, type, "custom"),
                device_text(handle, UR_DEVICE_INFO_NAME),
                device_text(handle, UR_DEVICE_INFO_DRIVER_VERSION)};
    }

    const UrLoader &ur_;
    unsigned number_ = 0; ///< SYCL counts the devices of an adapter
};

} // namespace

std::vector<Platform> find_platforms(const UrLoader &loader) {
    check(loader.LoaderInit(0, nullptr), "urLoaderInit");
    const auto adapters = list<ur_adapter_handle_t>(
        "urAdapterGet", [&](auto... rest) { return loader.AdapterGet(rest...); });
    if (adapters.empty()) {
        throw std::runtime_error("Unified Runtime refused PI's adapter; "
                                 "UR_LOG_LOADER='level:info;output:stderr' shows the reason");
    }
    std::vector<Platform> platforms;
    Finder finder(loader);
    for (ur_adapter_handle_t adapter : adapters) {
        finder.add_platforms(adapter, platforms);
        loader.AdapterRelease(adapter);
    }
    loader.LoaderTearDown();
    return platforms;
}

std::string to_text(const std::vector<Platform> &platforms) {
    std::string text;
    for (const Platform &platform : platforms) {
        text += platform.name + " (" + platform.backend + ", " + platform.version + ")\n";
        for (const Device &device : platform.devices) {
            text += "  " + device.selector + "  " + device.type + "  " + device.name + ", driver " +
                    device.driver + "\n";
        }
    }
    return text;
}

size_t count_devices(const std::vector<Platform> &platforms) {
    size_t count = 0;
    for (const Platform &platform : platforms) {
        count += platform.devices.size();
    }
    return count;
}

} // namespace pi_sycl
