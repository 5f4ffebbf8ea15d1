// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.hpp"

#include "entries.hpp"
#include "plugin.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/bytes.hpp>
#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/dma_buf.hpp>
#include <pi/sdk/external.hpp>

#include <array>
#include <cmath>

namespace pi::sim {

using sdk::Bytes;
using sdk::InfoWriter;

// ----- ScopeMemory -------------------------------------------------------------------------------

void ScopeMemory::fail(const char *why, uint64_t size) const {
    const pi_memory_scope &scope = spec_.scope;
    sdk::fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, why, Bytes(size), " (", size, " bytes) requested, ",
              Bytes(scope.capacity - used_), " (", scope.capacity - used_, " bytes) free of ",
              Bytes(scope.capacity), " in scope \"", scope.name, "\" of ", owner_);
}

std::optional<uint64_t> ScopeMemory::find_run(uint64_t size, uint64_t alignment) const {
    // The bus address must be a multiple of the alignment, and the scope's start may not be one.
    const auto aligned = [&](uint64_t offset) {
        return sdk::align_up(spec_.bus_address + offset, alignment) - spec_.bus_address;
    };
    uint64_t begin = aligned(0);
    for (const auto &[from, to] : runs_) {
        if (begin + size <= from)
            break;
        begin = std::max(begin, aligned(to));
    }
    return begin <= spec_.scope.capacity && size <= spec_.scope.capacity - begin
               ? std::optional(begin)
               : std::nullopt;
}

ScopeMemory::Reservation ScopeMemory::reserve(uint64_t size, uint64_t alignment, bool contiguous) {
    std::lock_guard lock(mutex_);
    if (size > spec_.scope.max_allocation)
        fail(
            sdk::text("more than the largest allocation, ", Bytes(spec_.scope.max_allocation), ": ")
                .c_str(),
            size);
    if (size > spec_.scope.capacity - used_)
        fail("", size);
    std::optional<uint64_t> run;
    if (contiguous) {
        run = find_run(size, alignment);
        if (!run)
            fail("no free range is large enough: ", size);
        runs_.emplace(*run, *run + size);
    }
    used_ += size;
    return {*this, size, run};
}

uint64_t ScopeMemory::available() {
    std::lock_guard lock(mutex_);
    return spec_.scope.capacity - used_;
}

void ScopeMemory::release(const Reservation &reservation) {
    std::lock_guard lock(mutex_);
    used_ -= reservation.size_;
    if (reservation.run_)
        runs_.erase(*reservation.run_);
}

// ----- Device ------------------------------------------------------------------------------------

Device::Device(const pi_host *host, Platform &platform, const DeviceSpec &spec, Site site)
    : Object(host, false), platform_(platform), spec_(spec), site_(site) {
    for (const ScopeSpec &scope : spec.scopes)
        scopes_.push_back(std::make_unique<ScopeMemory>(scope, spec.name));
}

Instance &Device::instance() const {
    return platform_.instance();
}

const Speed &Device::maintenance_speed(const ScopeSpec &scope) const {
    return scope.maintenance ? *scope.maintenance : instance().machine().host_memory;
}

uint32_t Device::export_types() const {
    return spec_.export_handle_types &
           ~(sdk::can_share_pages() ? 0 : sdk::external_bit(PI_EXTERNAL_DMA_BUF_FD));
}

uint32_t Device::import_types() const {
    return spec_.external_handle_types |
           (spec_.host_pointer_import ? sdk::external_bit(PI_EXTERNAL_HOST_POINTER) : 0);
}

void Device::require_alive() const {
    // Once a callback has shown that time, the device is lost for every call of the program.
    if (instance().timeline().known_time() >= spec_.lost_at)
        sdk::fail(PI_ERROR_DEVICE_LOST, spec_.name, ": the machine file loses this device at ",
                  spec_.lost_at, " ns");
}

namespace {

template <class T, auto Value>
void constant(Device &, const InfoWriter &write) {
    write(static_cast<T>(Value));
}
template <bool DeviceSpec::*Member>
void flag(Device &device, const InfoWriter &write) {
    write(uint32_t{device.spec().*Member});
}
[[noreturn]] void absent(const Device &device, const char *field) {
    sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, device.spec().name, " has no ", field,
              " in the machine file");
}
template <class Identity>
void identity(const Device &device, const std::optional<Identity> &value, const char *field,
              const InfoWriter &write) {
    value ? write(*value) : absent(device, field);
}

/// The site of a device's scope 0.
Site first_site(const Device &device) {
    return device.spec().scopes[0].in_host ? host_site : device.site();
}

void write_speed(const Speed &speed, const InfoWriter &write) {
    write(std::array{speed.bandwidth ? speed.bandwidth : UINT64_MAX,
                     static_cast<uint64_t>(std::ceil(speed.latency))});
}

void write_speed(const Device &device, Site from, Site to, const InfoWriter &write) {
    write_speed(device.instance().links().speed(from, to), write);
}

void list_channels(const Device &device, Site from, Site to, const InfoWriter &write) {
    write(device.instance().links().channels(from, to));
}

void write_map_speed(const Device &device, const InfoWriter &write) {
    const ScopeSpec &spec = device.spec().scopes[0];
    if (!(spec.scope.flags & PI_SCOPE_MAPS_IN_PLACE))
        sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, device.spec().name,
                  " does not map scope 0 in place (maps_in_place in the machine file)");
    write_speed(spec.scope.flags & PI_SCOPE_COHERENT ? Speed{} : device.maintenance_speed(spec),
                write);
}

constexpr sdk::InfoRow<Device> info_rows[] = {
    {PI_DEVICE_INFO_TYPE, [](Device &d, const InfoWriter &write) { write(d.spec().type); }},
    {PI_DEVICE_INFO_NAME, [](Device &d, const InfoWriter &write) { write(d.spec().name); }},
    {PI_DEVICE_INFO_VENDOR, [](Device &d, const InfoWriter &write) { write(d.spec().vendor); }},
    {PI_DEVICE_INFO_VERSION, [](Device &d, const InfoWriter &write) { write(d.spec().version); }},
    {PI_DEVICE_INFO_DRIVER_VERSION,
     [](Device &, const InfoWriter &write) { write(this_plugin.version); }},
    {PI_DEVICE_INFO_PLATFORM,
     [](Device &d, const InfoWriter &write) { write(d.platform().handle()); }},
    {PI_DEVICE_INFO_PARENT, [](Device &, const InfoWriter &write) { write(pi_device{nullptr}); }},
    {PI_DEVICE_INFO_REFERENCE_COUNT,
     [](Device &d, const InfoWriter &write) { write(d.reference_count()); }},
    {PI_DEVICE_INFO_UUID,
     [](Device &d, const InfoWriter &write) { identity(d, d.spec().uuid, "uuid", write); }},
    {PI_DEVICE_INFO_LUID,
     [](Device &d, const InfoWriter &write) { identity(d, d.spec().luid, "luid", write); }},
    {PI_DEVICE_INFO_PCI_ADDRESS,
     [](Device &d, const InfoWriter &write) {
         d.spec().pci_address.empty() ? absent(d, "pci_address") : write(d.spec().pci_address);
     }},
    {PI_DEVICE_INFO_NUMA_NODE,
     [](Device &d, const InfoWriter &write) {
         identity(d, d.spec().numa_node, "numa_node", write);
     }},
    {PI_DEVICE_INFO_COMPUTE_UNITS,
     [](Device &d, const InfoWriter &write) { write(d.spec().compute_units); }},
    {PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE, constant<uint64_t, max_work_group_size>},
    {PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES,
     [](Device &, const InfoWriter &write) {
         write(std::array{max_work_group_size, max_work_group_size, max_work_group_size});
     }},
    {PI_DEVICE_INFO_LOCAL_MEMORY_SIZE, constant<uint64_t, local_memory_size>},
    {PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.spec().scopes[0].scope.capacity); }},
    {PI_DEVICE_INFO_MAX_ALLOCATION_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.spec().scopes[0].scope.max_allocation); }},
    {PI_DEVICE_INFO_ADDRESS_BITS, constant<uint32_t, sizeof(void *) * 8>},
    {PI_DEVICE_INFO_FP16, flag<&DeviceSpec::fp16>},
    {PI_DEVICE_INFO_FP64, flag<&DeviceSpec::fp64>},
    {PI_DEVICE_INFO_IMAGES, constant<uint32_t, 0>},
    {PI_DEVICE_INFO_SUB_GROUP_SIZES, constant<uint32_t, 1>},
    {PI_DEVICE_INFO_BUFFER_OFFSET_MODE,
     [](Device &d, const InfoWriter &write) { write(d.spec().offset_mode); }},
    {PI_DEVICE_INFO_HOST_POINTER_IMPORT, flag<&DeviceSpec::host_pointer_import>},
    {PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT,
     [](Device &d, const InfoWriter &write) { write(d.spec().host_pointer_alignment); }},
    {PI_DEVICE_INFO_INTEGRATED, flag<&DeviceSpec::integrated>},
    {PI_DEVICE_INFO_USM_CAPABILITIES, constant<uint32_t, 0>},
    {PI_DEVICE_INFO_PROGRAM_FORMATS, constant<uint32_t, 1 << PI_PROGRAM_FORMAT_NATIVE_TABLE |
                                                            1 << PI_PROGRAM_FORMAT_NATIVE_LIBRARY>},
    {PI_DEVICE_INFO_QUEUE_FLAGS,
     [](Device &d, const InfoWriter &write) {
         write(uint64_t{PI_QUEUE_PROFILING} |
               (d.spec().out_of_order ? uint64_t{PI_QUEUE_OUT_OF_ORDER} : 0));
     }},
    {PI_DEVICE_INFO_TIMER_RESOLUTION, constant<uint64_t, 1>},
    {PI_DEVICE_INFO_PARTITION_KINDS, constant<uint32_t, 0>},
    {PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES,
     [](Device &d, const InfoWriter &write) { write(d.import_types()); }},
    {PI_DEVICE_INFO_EXPORT_HANDLE_TYPES,
     [](Device &d, const InfoWriter &write) { write(d.export_types()); }},
    {PI_DEVICE_INFO_CAPABILITIES,
     [](Device &d, const InfoWriter &write) {
         uint64_t capabilities = this_plugin.capabilities;
         if (!d.import_types())
             capabilities &= ~uint64_t{PI_CAPABILITY_MEM_IMPORT};
         if (!d.export_types())
             capabilities &= ~uint64_t{PI_CAPABILITY_MEM_EXPORT};
         write(capabilities);
     }},
    {PI_DEVICE_INFO_LAUNCH_FEATURES,
     constant<uint32_t, PI_LAUNCH_FEATURE_GLOBAL_OFFSET | PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS>},
    {PI_DEVICE_INFO_HOST_READ_SPEED,
     [](Device &d, const InfoWriter &write) { write_speed(d, first_site(d), host_site, write); }},
    {PI_DEVICE_INFO_HOST_WRITE_SPEED,
     [](Device &d, const InfoWriter &write) { write_speed(d, host_site, first_site(d), write); }},
    {PI_DEVICE_INFO_MAP_SPEED,
     [](Device &d, const InfoWriter &write) { write_map_speed(d, write); }},
    // the host's work takes no virtual time
    {PI_DEVICE_INFO_CALLBACK_LATENCY, constant<uint64_t, 0>},
    {PI_DEVICE_INFO_HOST_READ_CHANNELS,
     [](Device &d, const InfoWriter &write) { list_channels(d, first_site(d), host_site, write); }},
    {PI_DEVICE_INFO_HOST_WRITE_CHANNELS,
     [](Device &d, const InfoWriter &write) { list_channels(d, host_site, first_site(d), write); }},
    {PI_DEVICE_INFO_FREE_MEMORY,
     [](Device &d, const InfoWriter &write) { write(d.scope(0).available()); }},
    {PI_DEVICE_INFO_IL_VERSIONS, [](Device &, const InfoWriter &write) { write(""); }},
    {PI_DEVICE_INFO_PARTITION_KIND, constant<pi_partition_kind, 0>},
    {PI_DEVICE_INFO_MAX_SUB_DEVICES, constant<uint32_t, 0>},
};

} // namespace

namespace entries {

pi_result PI_CALL piDevicesGet(pi_platform platform, pi_device_type types, uint32_t capacity,
                               pi_device *out_devices, uint32_t *out_count) {
    return sdk::call<Platform>(platform, [&](Platform &self) {
        std::vector<pi_device> handles;
        for (const auto &device : self.devices())
            if (pi_sdk_asks_for(types, device->spec().type))
                handles.push_back(device->handle());
        sdk::write_list<pi_device>(handles, capacity, out_devices, out_count);
    });
}

pi_result PI_CALL piDeviceGetInfo(pi_device device, pi_device_info name, uint64_t size, void *value,
                                  uint64_t *out_size) {
    return sdk::call<Device>(device, [&](Device &self) {
        sdk::answer_info(self, info_rows, name, size, value, out_size);
    });
}

pi_result PI_CALL piDeviceRetain(pi_device device) {
    return sdk::call<Device>(device, [](Device &) {}); // all are root devices
}

pi_result PI_CALL piDeviceRelease(pi_device device) {
    return sdk::call<Device>(device, [](Device &) {});
}

pi_result PI_CALL piDeviceGetGlobalTimestamps(pi_device device, uint64_t *out_device_time,
                                              uint64_t *out_host_time) {
    return sdk::call<Device>(device, [&](Device &self) {
        const uint64_t device_time = self.instance().timeline().now(), host_time = sdk::now();
        if (out_device_time)
            *out_device_time = device_time;
        if (out_host_time)
            *out_host_time = host_time;
    });
}

pi_result PI_CALL piDeviceGetMemoryScopes(pi_device device, uint32_t capacity,
                                          pi_memory_scope *out_scopes, uint32_t *out_count) {
    return sdk::call<Device>(device, [&](Device &self) {
        std::vector<pi_memory_scope> scopes;
        for (const ScopeSpec &spec : self.spec().scopes)
            scopes.push_back(spec.scope);
        sdk::write_list<pi_memory_scope>(scopes, capacity, out_scopes, out_count);
    });
}

} // namespace entries

} // namespace pi::sim
