// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"
#include "functions.hpp"
#include "info.hpp"
#include "native.hpp"

#include <pi/describe/descriptor.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

using namespace pi::unified_runtime;

ur_device_handle_t_::ur_device_handle_t_(ur_platform_handle_t_ &on_platform, pi_device of_pi,
                                         ur_device_handle_t_ *whole)
    : platform(on_platform), device(of_pi), parent(whole) {
    if (!is_root()) {
        const std::lock_guard lock(platform.sub_devices_mutex);
        platform.sub_devices.insert(this);
    }
}

ur_device_handle_t_::~ur_device_handle_t_() {
    if (!is_root()) {
        const std::lock_guard lock(platform.sub_devices_mutex);
        platform.sub_devices.erase(this);
    }
}

namespace pi::unified_runtime {

using runtime::check;

namespace {

constexpr std::array<std::pair<ur_device_type_t, pi_device_type>, 6> device_types{{
    {UR_DEVICE_TYPE_CPU, PI_DEVICE_TYPE_CPU},
    {UR_DEVICE_TYPE_GPU, PI_DEVICE_TYPE_GPU},
    {UR_DEVICE_TYPE_FPGA, PI_DEVICE_TYPE_ACCELERATOR},
    {UR_DEVICE_TYPE_MCA, PI_DEVICE_TYPE_ACCELERATOR},
    {UR_DEVICE_TYPE_VPU, PI_DEVICE_TYPE_ACCELERATOR},
    {UR_DEVICE_TYPE_CUSTOM, PI_DEVICE_TYPE_OTHER},
}};

bool has_type(const ur_device_handle_t_ &device, ur_device_type_t type) {
    if (type == UR_DEVICE_TYPE_ALL || type == UR_DEVICE_TYPE_DEFAULT) {
        return true;
    }
    const pi_device_type wanted = translate(device_types, type, pi_device_type{0});
    if (wanted == 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                      "urDeviceGet: device type " + std::to_string(type) + " is not in the list");
    }
    return (pi_info<pi_device_type, piDeviceGetInfo>(device.device, PI_DEVICE_INFO_TYPE)
                .value_or(0) &
            wanted) != 0;
}

/// The PI descriptor of one property of urDevicePartition, and of several BY_COUNTS.
struct Partition {
    pi_device_partition_desc desc = pi::desc<pi_device_partition_desc>();
    std::vector<uint32_t> counts;
};
Partition partition_of(const ur_device_partition_properties_t &properties) {
    Partition partition;
    const auto *const first = needed(properties.pProperties);
    if (properties.PropCount == 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "urDevicePartition: no property");
    }
    switch (first->type) {
    case UR_DEVICE_PARTITION_EQUALLY:
        partition.desc.kind = PI_PARTITION_EQUALLY;
        partition.desc.count = first->value.equally;
        break;
    case UR_DEVICE_PARTITION_BY_COUNTS:
        partition.desc.kind = PI_PARTITION_BY_COUNTS;
        for (size_t i = 0; i < properties.PropCount; ++i) {
            if (first[i].type != first->type) {
                throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                              "urDevicePartition: the properties have different types");
            }
            partition.counts.push_back(first[i].value.count);
        }
        partition.desc.count = static_cast<uint32_t>(partition.counts.size());
        partition.desc.counts = partition.counts.data();
        return partition;
    case UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
        // UR names domains that PI has no kind for; 0 is none.
        if ((first->value.affinity_domain & (UR_DEVICE_AFFINITY_DOMAIN_FLAG_NUMA |
                                             UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE)) !=
            0) {
            partition.desc.kind = PI_PARTITION_BY_NUMA;
        }
        break;
    case UR_DEVICE_PARTITION_BY_CSLICE:
        partition.desc.kind = PI_PARTITION_BY_HARDWARE;
        break;
    default:
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urDevicePartition: type " +
                                                               std::to_string(first->type) +
                                                               " is not in the list");
    }
    if (properties.PropCount != 1) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                      "urDevicePartition: this type allows one property");
    }
    return partition;
}

[[noreturn]] void partition_failed(pi_result result, const Partition &partition) {
    const runtime::Error error(result, runtime::last_error_text(result));
    if (result == PI_ERROR_INVALID_SIZE) {
        throw Refusal(partition.desc.kind == PI_PARTITION_BY_COUNTS
                          ? UR_RESULT_ERROR_INVALID_DEVICE_PARTITION_COUNT
                          : UR_RESULT_ERROR_DEVICE_PARTITION_FAILED,
                      error.what());
    }
    if (result == PI_ERROR_UNSUPPORTED_FEATURE || result == PI_ERROR_INVALID_ENUMERATION) {
        throw Refusal(UR_RESULT_ERROR_DEVICE_PARTITION_FAILED, error.what());
    }
    throw error;
}

/// What DPC++ calls an image's target.
constexpr std::array<std::pair<std::string_view, std::pair<const char *, pi_program_format>>, 4>
    image_targets{{
        {UR_DEVICE_BINARY_TARGET_SPIRV64, {"spirv64", PI_PROGRAM_FORMAT_SPIRV}},
        {UR_DEVICE_BINARY_TARGET_SPIRV64_X86_64, {"native", PI_PROGRAM_FORMAT_DEVICE_BINARY}},
        {UR_DEVICE_BINARY_TARGET_SPIRV64_GEN, {"native", PI_PROGRAM_FORMAT_DEVICE_BINARY}},
        {UR_DEVICE_BINARY_TARGET_NVPTX64, {"ptx", PI_PROGRAM_FORMAT_PTX}},
    }};

bool has_native(const ur_device_handle_t_ &device, ur_native_handle_t native) {
    pi_native_handle own{};
    return piDeviceGetNativeHandle(device.device, &own) == PI_SUCCESS && own.value[0] == native;
}

/// Retained, if it is a sub-device. NULL: the adapter knows no device with the handle.
ur_device_handle_t known_device(const ur_adapter_handle_t_ &adapter, ur_native_handle_t native) {
    for (const auto &root : adapter.root_devices) {
        if (has_native(*root, native)) {
            return root.get();
        }
    }
    for (const auto &platform : adapter.platforms) {
        const std::lock_guard lock(platform->sub_devices_mutex);
        for (ur_device_handle_t_ *const device : platform->sub_devices) {
            if (has_native(*device, native) && retain_alive(device)) {
                return device;
            }
        }
    }
    return nullptr;
}

/// Around a sub-device that the application has made. NULL: no platform has it.
ur_device_handle_t adopt_sub_device(const ur_adapter_handle_t_ &adapter, ur_native_handle_t native,
                                    bool owned) {
    for (const auto &root : adapter.root_devices) {
        auto desc = pi::desc<pi_native_desc>();
        desc.flags = owned ? PI_NATIVE_OWN : 0;
        desc.handle = native_of_type(root->platform, PI_KIND_DEVICE, native);
        const auto platform =
            pi_info<pi_platform, piDeviceGetInfo>(root->device, PI_DEVICE_INFO_PLATFORM);
        runtime::Device made;
        if (!platform ||
            piDeviceCreateWithNativeHandle(*platform, &desc, made.out()) != PI_SUCCESS) {
            continue;
        }
        const auto parent = pi_info<pi_device, piDeviceGetInfo>(made.get(), PI_DEVICE_INFO_PARENT);
        for (const auto &whole : adapter.root_devices) {
            if (parent == whole->device) {
                auto device =
                    std::make_unique<ur_device_handle_t_>(whole->platform, made.get(), whole.get());
                device->owned = std::move(made);
                return device.release();
            }
        }
        return nullptr;
    }
    return nullptr;
}

/// Only then it is known what a native handle is, before a driver looks at it.
bool has_one_backend(const ur_adapter_handle_t_ &adapter) {
    return std::all_of(adapter.platforms.begin(), adapter.platforms.end(), [&](const auto &each) {
        return each->backend == adapter.platforms.front()->backend && each->platforms.size() == 1;
    });
}

pi_device_type type_of_target(std::string_view target) {
    if (target == UR_DEVICE_BINARY_TARGET_SPIRV64_X86_64) {
        return PI_DEVICE_TYPE_CPU;
    }
    if (target == UR_DEVICE_BINARY_TARGET_SPIRV64_GEN) {
        return PI_DEVICE_TYPE_GPU;
    }
    return PI_DEVICE_TYPE_ALL;
}

} // namespace

ur_result_t UR_APICALL urDeviceGet(ur_platform_handle_t platform, ur_device_type_t type,
                                   uint32_t count, ur_device_handle_t *out_devices,
                                   uint32_t *out_count) {
    return boundary([&] {
        if (out_devices != nullptr && count == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, "urDeviceGet: NumEntries is 0");
        }
        if (count > 0) {
            needed(out_devices);
        }
        uint32_t found = 0;
        for (const ur_device_handle_t device : deref(platform).devices) {
            if (!has_type(*device, type)) {
                continue;
            }
            if (out_devices != nullptr && found < count) {
                out_devices[found] = device;
            }
            ++found;
            if (type == UR_DEVICE_TYPE_DEFAULT) {
                break;
            }
        }
        if (out_count != nullptr) {
            *out_count = found;
        }
    });
}

ur_result_t UR_APICALL urDeviceRetain(ur_device_handle_t device) {
    return boundary([&] {
        if (!deref(device).is_root()) {
            retain(device);
        }
    });
}

ur_result_t UR_APICALL urDeviceRelease(ur_device_handle_t device) {
    return boundary([&] {
        if (!deref(device).is_root()) {
            release(device);
        }
    });
}

ur_result_t UR_APICALL urDevicePartition(ur_device_handle_t device,
                                         const ur_device_partition_properties_t *properties,
                                         uint32_t capacity, ur_device_handle_t *out_devices,
                                         uint32_t *out_count) {
    return boundary([&] {
        ur_device_handle_t_ &parent = deref(device);
        const Partition partition = partition_of(*needed(properties));
        uint32_t count = 0;
        if (const pi_result result =
                piDevicePartition(parent.device, &partition.desc, 0, nullptr, &count);
            result != PI_SUCCESS) {
            partition_failed(result, partition);
        }
        if (out_count != nullptr) {
            *out_count = count;
        }
        if (out_devices == nullptr) {
            return;
        }
        count = std::min(count, capacity);
        std::vector<pi_device> parts(count);
        if (const pi_result result =
                piDevicePartition(parent.device, &partition.desc, count, parts.data(), nullptr);
            result != PI_SUCCESS) {
            partition_failed(result, partition);
        }
        std::vector<runtime::Device> owned;
        owned.reserve(count);
        for (const pi_device part : parts) {
            owned.push_back(runtime::Device::adopt(part));
        }
        std::vector<std::unique_ptr<ur_device_handle_t_>> made;
        for (uint32_t i = 0; i < count; ++i) {
            made.push_back(
                std::make_unique<ur_device_handle_t_>(parent.platform, parts[i], &parent));
            made.back()->owned = std::move(owned[i]);
            made.back()->partition = properties->pProperties[partition.counts.empty() ? 0 : i];
        }
        for (uint32_t i = 0; i < count; ++i) {
            out_devices[i] = made[i].release();
        }
    });
}

ur_result_t UR_APICALL urDeviceSelectBinary(ur_device_handle_t device,
                                            const ur_device_binary_t *binaries, uint32_t count,
                                            uint32_t *out_index) {
    return boundary([&] {
        deref(device);
        needed(binaries);
        needed(out_index);
        if (count == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, "urDeviceSelectBinary: no binary");
        }
        const auto type =
            pi_info<pi_device_type, piDeviceGetInfo>(device->device, PI_DEVICE_INFO_TYPE)
                .value_or(0);
        std::vector<pi_program_binary> images(count);
        for (uint32_t i = 0; i < count; ++i) {
            const std::string_view target = binaries[i].pDeviceTargetSpec;
            images[i].target = "unknown";
            if ((type & type_of_target(target)) == 0) {
                continue;
            }
            for (const auto &[name, image] : image_targets) {
                if (name == target) {
                    images[i].target = image.first;
                    images[i].format = image.second;
                }
            }
        }
        const pi_result result =
            piDeviceSelectBinary(device->device, count, images.data(), out_index);
        if (result == PI_ERROR_INVALID_BINARY) {
            throw Refusal(UR_RESULT_ERROR_INVALID_BINARY, runtime::last_error_text(result));
        }
        check(result, "piDeviceSelectBinary");
    });
}

ur_result_t UR_APICALL urDeviceGetNativeHandle(ur_device_handle_t device,
                                               ur_native_handle_t *out_handle) {
    return boundary([&] {
        pi_native_handle native{};
        check(piDeviceGetNativeHandle(deref(device).device, &native), "piDeviceGetNativeHandle");
        *needed(out_handle) = word_of(device->platform, native);
    });
}

ur_result_t UR_APICALL urDeviceCreateWithNativeHandle(
    ur_native_handle_t native, ur_adapter_handle_t adapter_handle,
    const ur_device_native_properties_t *properties, ur_device_handle_t *out_device) {
    return boundary([&] {
        needed(out_device);
        const ur_adapter_handle_t_ &adapter = deref(adapter_handle);
        ur_device_handle_t device = known_device(adapter, native);
        if (device == nullptr && native != 0 && has_one_backend(adapter)) {
            device = adopt_sub_device(adapter, native,
                                      properties != nullptr && properties->isNativeHandleOwned);
        }
        if (device == nullptr) {
            throw Refusal(UR_RESULT_ERROR_INVALID_DEVICE, "urDeviceCreateWithNativeHandle: no "
                                                          "device of the adapter has the handle");
        }
        *out_device = device;
    });
}

ur_result_t UR_APICALL urDeviceGetGlobalTimestamps(ur_device_handle_t device,
                                                   uint64_t *out_device_time,
                                                   uint64_t *out_host_time) {
    return boundary([&] {
        deref(device);
        if (out_device_time == nullptr && out_host_time == nullptr) {
            return;
        }
        check(piDeviceGetGlobalTimestamps(device->device, out_device_time, out_host_time),
              "piDeviceGetGlobalTimestamps");
    });
}

} // namespace pi::unified_runtime
