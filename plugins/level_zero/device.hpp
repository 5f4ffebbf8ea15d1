// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices and sub-devices. Root devices live as long as their instance.
#pragma once

#include "clock.hpp"
#include "platform.hpp"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pi::level_zero {

/// A number known to fit the driver's 32 bits.
constexpr uint32_t narrow(uint64_t number) {
    return static_cast<uint32_t>(number);
}

/// Whether a device can use another device's memory. Drivers have two queries for it, whose answers
/// may differ.
struct PeerAccess {
    bool listed = false;   ///< by zeDeviceGetP2PProperties
    bool possible = false; ///< by zeDeviceCanAccessPeer, asked only if listed
    bool atomics = false;
    bool granted() const { return possible && listed; }
};

/// The engines of immediate command lists: the first group that supports all commands.
struct EngineGroup {
    uint32_t ordinal = 0;
    uint32_t engines = 1;
    uint64_t max_pattern = 1; ///< longest pattern of a fill, in bytes
    bool cooperative = false;
};

class Device : public sdk::Object<Device, pi_device> {
public:
    /// A root device, or a sub-device of `parent`. PI_ERROR_UNSUPPORTED_FEATURE for one that lacks
    /// what the plugin requires.
    Device(Platform &platform, ze_device_handle_t id, sdk::Ref<Device> parent = nullptr);
    ~Device();

    Platform &platform() const { return platform_; }
    const Api &api() const { return platform_.api(); }
    Instance &instance() const { return platform_.instance(); }
    ze_device_handle_t id() const { return id_; }
    /// NULL for a root device.
    Device *parent() const { return parent_.get(); }
    const std::string &name() const { return name_; }
    const std::string &description() const { return name_; }
    const ze_device_properties_t &properties() const { return properties_; }
    const ze_device_compute_properties_t &compute() const { return compute_; }
    const ze_device_module_properties_t &modules() const { return modules_; }
    const ze_device_memory_access_properties_t &access() const { return access_; }
    const ze_device_image_properties_t &image_properties() const { return images_; }
    /// Of the memory that allocations use; zeros if the driver lists none.
    const ze_device_memory_properties_t &memory() const { return memory_; }
    const EngineGroup &engines() const { return engines_; }
    /// The engine index for the next queue, round robin.
    uint32_t next_engine() { return next_engine_.fetch_add(1) % engines_.engines; }

    bool integrated() const { return properties_.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED; }
    uint64_t memory_size() const { return memory_size_; }
    uint64_t max_allocation() const { return properties_.maxMemAllocSize; }
    /// Those of all sub-devices, if it has any, whatever the driver reports for the device.
    uint32_t compute_units() const { return compute_units_; }
    /// The supported kinds, as bits 1 << PI_USM_.
    uint32_t usm_kinds() const { return usm_kinds_; }
    /// The supported types of file descriptors, as bits 1 << PI_EXTERNAL_.
    uint32_t import_files() const { return import_files_; }
    uint32_t export_files() const { return export_files_; }
    bool imports_host_pointers() const { return imports_host_pointers_; }
    bool global_offset() const;
    /// Whether the driver can link several SPIR-V modules into one.
    bool links_parts() const;
    bool images() const { return images_.maxImageDims2D; }
    /// Whether copies between images and memory support pitches of the memory.
    bool image_pitches() const { return image_pitches_; }
    const std::vector<ze_device_handle_t> &sub_devices() const { return sub_devices_; }
    uint64_t capabilities() const;

    /// Whether commands of this device can use memory of `owner` in the same context. Queried once
    /// per pair.
    PeerAccess access(const Device &owner);
    /// The types, as bits 1 << PI_EXTERNAL_, that `exporter` exports and this device imports.
    /// try_out() determines them, is called without a lock, and not again once it has returned an
    /// answer.
    template <class TryOut>
    uint32_t imports_of(const Device &exporter, TryOut &&try_out) {
        {
            std::lock_guard lock(imports_mutex_);
            if (const auto known = imports_.find(exporter.id_); known != imports_.end())
                return known->second;
        }
        const std::optional<uint32_t> types = try_out();
        std::lock_guard lock(imports_mutex_);
        if (types)
            imports_[exporter.id_] = *types;
        return types.value_or(0);
    }
    Clock &clock() { return clock_; }

    /// Bytes of the device's memory that the plugin has allocated.
    std::atomic<uint64_t> &taken() { return taken_; }

private:
    void read_memory();
    void read_external();
    void read_images();
    uint32_t count_units() const;

    Platform &platform_;
    const ze_device_handle_t id_;
    const sdk::Ref<Device> parent_;
    ze_device_properties_t properties_{};
    ze_device_compute_properties_t compute_{};
    ze_device_module_properties_t modules_{};
    ze_device_memory_access_properties_t access_{};
    ze_device_image_properties_t images_{};
    ze_device_memory_properties_t memory_{};
    std::string name_;
    EngineGroup engines_;
    uint64_t memory_size_ = 0;
    uint32_t usm_kinds_ = 0, import_files_ = 0, export_files_ = 0;
    bool imports_host_pointers_ = false, image_pitches_ = false;
    std::vector<ze_device_handle_t> sub_devices_;
    uint32_t compute_units_ = 1;
    std::atomic<uint32_t> next_engine_{0};
    std::atomic<uint64_t> taken_{0};
    std::mutex peers_mutex_;
    std::map<ze_device_handle_t, PeerAccess> peers_; ///< guarded by peers_mutex_
    std::mutex imports_mutex_;
    std::map<ze_device_handle_t, uint32_t> imports_; ///< guarded by imports_mutex_
    Clock clock_;
};

pi_device_type device_type(const Device &device);
/// "Intel(R) Corporation" for Intel's PCI vendor id; otherwise the id.
std::string vendor_name(const Device &device);

/// The alignment of all allocations.
inline constexpr uint64_t min_alignment = 64;
/// The largest alignment that can be requested. If the driver refuses it, the plugin allocates more
/// and aligns within.
inline constexpr uint64_t max_alignment = uint64_t{1} << 30;

/// A list from a driver query that returns the count first, then that many elements.
template <class T, class Ask>
std::vector<T> ask_list(const char *call, const T &blank, Ask &&ask) {
    uint32_t count = 0;
    check(ask(&count, static_cast<T *>(nullptr)), call);
    std::vector<T> items(count, blank);
    if (count)
        check(ask(&count, items.data()), call);
    items.resize(count, blank);
    return items;
}

} // namespace pi::level_zero
