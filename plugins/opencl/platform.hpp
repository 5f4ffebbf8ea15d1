// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Platforms and devices. Both live as long as their instance.
#pragma once

#include "globals.hpp"
#include "il.hpp"
#include "instance.hpp"
#include "quirks.hpp"
#include "usm_driver.hpp"

#include <pi/sdk/object.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pi::opencl {

class Device;

class Platform : public sdk::Object<Platform, pi_platform> {
public:
    /// Queries the platform's properties and devices.
    Platform(Instance &instance, const Api &api, cl_platform_id id);
    ~Platform();

    Instance &instance() const { return instance_; }
    const Api &api() const { return api_; }
    cl_platform_id id() const { return id_; }
    const std::string &name() const { return name_; }
    const std::string &vendor() const { return vendor_; }
    const std::string &version() const { return version_; }
    /// The API's version as 100 * major + minor: functions of a later version must not be called.
    unsigned api_version() const { return api_version_; }
    const std::vector<sdk::Ref<Device>> &devices() const { return devices_; }
    /// NULL if the devices have no USM.
    const UsmDriver *usm() const { return usm_.get(); }
    const GlobalsApi &globals() const { return globals_; }
    /// A function of an extension, or NULL.
    template <class Function>
    Function extension_function(const char *name) const {
        const auto find = api_.clGetExtensionFunctionAddressForPlatform;
        return find ? reinterpret_cast<Function>(find(id_, name)) : nullptr;
    }
    /// The device behind the handle: a root device, or a new object around a sub-device.
    /// PI_ERROR_INVALID_NATIVE_HANDLE for a device of another platform.
    sdk::Ref<Device> find_device(cl_device_id id);

private:
    Instance &instance_;
    const Api &api_;
    const cl_platform_id id_;
    std::string name_, vendor_, version_;
    unsigned api_version_ = 100;
    std::unique_ptr<const UsmDriver> usm_;
    GlobalsApi globals_;
    std::vector<sdk::Ref<Device>> devices_; ///< the root devices
};

/// How the host reads the device's clock, on which profiling times are based.
enum class Clock {
    NONE,          ///< it cannot
    TIMER,         ///< clGetDeviceAndHostTimer
    MONOTONIC_RAW, ///< it is CLOCK_MONOTONIC_RAW
};

class Device : public sdk::Object<Device, pi_device> {
public:
    /// A root device, or, with a parent and its own reference, a sub-device, which is counted and
    /// destroyed with its last reference. `partition`: how it was made; 0: ask the driver.
    Device(Platform &platform, cl_device_id id, sdk::Ref<Device> parent = {},
           DeviceOwner vendor = {}, pi_partition_kind partition = 0);

    Platform &platform() const { return platform_; }
    const Api &api() const { return platform_.api(); }
    Instance &instance() const { return platform_.instance(); }
    cl_device_id id() const { return id_; }
    Device *parent() const { return parent_.get(); } ///< NULL for a root device
    /// This device's position in the driver's list of a program's devices. PoCL lists a parent in
    /// place of its sub-devices.
    std::optional<size_t> position_in(const std::vector<cl_device_id> &ids) const;
    const Device &root() const { return parent_ ? parent_->root() : *this; }
    const std::string &name() const { return name_; }
    bool quirk(Quirks bit) const { return quirks_ & bit; }

    pi_device_type type() const { return type_; }
    bool integrated() const { return integrated_; }
    bool non_uniform_groups() const { return non_uniform_groups_; }
    bool out_of_order() const { return out_of_order_; }
    bool has_compiler() const { return has_compiler_; }
    bool images() const { return images_; }
    /// Access to variables of programs.
    bool has_globals() const { return has_globals_; }
    const Il &il() const { return il_; }
    /// OpenCL's version as 100 * major + minor, of device and platform: a platform may be newer
    /// than one of its devices.
    unsigned version() const { return version_; }
    uint64_t queue_flags() const {
        return PI_QUEUE_OUT_OF_ORDER |
               (quirk(QUIRK_NO_PROFILING) ? 0 : uint64_t{PI_QUEUE_PROFILING});
    }
    /// PI_CAPABILITY_: those of the plugin's that this device supports.
    uint64_t capabilities() const {
        return this_plugin.capabilities &
               ~((usm_kinds() ? 0 : usm_capabilities) |
                 (images_ ? 0 : uint64_t{PI_CAPABILITY_IMAGE}) |
                 (has_globals_ ? 0 : uint64_t{PI_CAPABILITY_DEVICE_GLOBALS}) |
                 (il_.specialization ? 0 : uint64_t{PI_CAPABILITY_SPECIALIZATION}) |
                 (partition_kinds_ ? 0 : uint64_t{PI_CAPABILITY_PARTITION}) |
                 (clock_ != Clock::NONE ? 0 : uint64_t{PI_CAPABILITY_TIMESTAMP}));
    }
    /// The supported kinds, as bits 1 << PI_USM_.
    uint32_t usm_kinds() const { return usm_kinds_; }
    const UsmAccess &usm() const { return usm_; }
    /// The supported ways of partitioning, as bits 1 << PI_PARTITION_.
    uint32_t partition_kinds() const { return partition_kinds_; }
    /// How it was partitioned; 0 for a root device. PI_ERROR_UNSUPPORTED_FEATURE for a way that PI
    /// does not have, of a sub-device that the application created.
    pi_partition_kind partition_kind() const;
    Clock clock() const { return clock_; }
    uint64_t max_allocation() const { return max_allocation_; }
    /// The alignment of every buffer.
    uint64_t min_alignment() const { return min_alignment_; }
    uint64_t offset_alignment() const { return offset_alignment_; }
    bool has_extension(const char *extension) const;

    /// The alignment that application memory needs to be used in place, determined by trials;
    /// nullopt if it is not used in place in all sizes tried, up to 4 MiB. The first call takes
    /// some time.
    std::optional<uint64_t> import_alignment();
    /// Whether this many bytes of that alignment are used in place. Tries a size that is larger
    /// than any before.
    bool uses_in_place(uint64_t size);
    /// Why host memory is not used in place.
    std::string import_refusal();

    /// Locked while a command is passed to the vendor, if the driver needs that; otherwise empty.
    std::unique_lock<std::mutex> submission_lock() {
        return quirk(QUIRK_DEVICE_LOCK) ? std::unique_lock(submission_mutex_)
                                        : std::unique_lock<std::mutex>();
    }

    /// The answer of clGetDeviceInfo to any name.
    template <class T>
    T get(cl_device_info name) const {
        return query<T>(api().clGetDeviceInfo, "clGetDeviceInfo", id_, name);
    }
    std::string get_text(cl_device_info name) const {
        return query_text(api().clGetDeviceInfo, "clGetDeviceInfo", id_, name);
    }

private:
    void find_import_alignment();

    Platform &platform_;
    const sdk::Ref<Device> parent_;
    const DeviceOwner vendor_; ///< empty for a root device, which OpenCL does not count
    const cl_device_id id_;
    std::string name_, extensions_;
    Quirks quirks_;
    pi_device_type type_;
    bool integrated_, out_of_order_, has_compiler_, non_uniform_groups_ = false, images_,
                                                    has_globals_;
    const pi_partition_kind partition_kind_; ///< 0: not known
    UsmAccess usm_;
    uint32_t usm_kinds_ = 0;
    uint32_t partition_kinds_ = 0;
    unsigned version_;
    Clock clock_ = Clock::NONE;
    Il il_;
    uint64_t max_allocation_, min_alignment_, offset_alignment_;
    std::mutex submission_mutex_, import_mutex_;
    bool import_known_ = false;
    std::optional<uint64_t> import_alignment_;
    /// The largest size known to be used in place, and the smallest known to be copied.
    uint64_t in_place_up_to_ = 0, copied_from_ = UINT64_MAX;
};

/// Whether an extension is in a list separated by spaces.
bool lists_extension(const std::string &extensions, const char *extension);

std::vector<cl_device_id> ids_of(const std::vector<Device *> &devices);

/// Ask the driver for the values of Device::partition_kinds and Device::clock (partition.cpp,
/// timestamp.cpp).
uint32_t find_partition_kinds(const Device &device);
Clock find_clock(const Device &device);
/// The time of the device's clock, which is not NONE.
uint64_t read_clock(Device &device);

/// A vendor queue; `properties` as for clCreateCommandQueue.
QueueOwner create_vendor_queue(const Device &device, cl_context context,
                               cl_command_queue_properties properties);

} // namespace pi::opencl
